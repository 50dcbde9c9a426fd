"""Every preset and published model on a GPU: seconds per epoch, memory, equality with the CPU, resume on the CPU.

    python benchmarks/gpu.py [DATASET] [--full] [--cpu-run paper=CHECKPOINT] [--out gpu.json] [--device auto]

Prints one JSON object; with a card and New York in about ten minutes. Every configuration trains for some seconds from
its last epoch's stage on, where every part acts; an epoch is extrapolated from its steps and says so. Equality: scores
of test cases in float32 without TF32 within 1e-5 max(1, |score|) of the processor's, ranks in float64 equal. `paper`
(130 epochs) and the default are trained whole; `--cpu-run` names the same training from a processor,
whose test metrics then stand beside. `--full` trains every other one too. Without a DATASET a synthetic city is made;
without a card all of it runs small on the processor (five steps of each, whole trainings cut to four epochs, scores
compared with themselves), and what needs a card says "not measured".
"""

import argparse
import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

from recap import columns as c
from recap.checkpoint import WEIGHTS, Checkpoint, CheckpointManifest, EpochResult, library_versions
from recap.data.cleaning import DataConfig
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.errors import ConfigError, RecapError
from recap.evaluation.cases import describe_cases
from recap.evaluation.scoring import rank_cases
from recap.history.tensors import CaseBatch
from recap.machine.device import choose_device
from recap.presets import DEFAULT_PRESET, training_preset
from recap.published.configs import PUBLISHED
from recap.storage.tensors import save_tensors
from recap.synthetic.city import build_demo_city
from recap.training.loop import TrainingLoop
from recap.training.run import build_trainer, train
from recap.training_config import AnyTraining, TrainConfig

PRESETS: Final = ("paper", DEFAULT_PRESET)
WHOLE: Final = ("paper", DEFAULT_PRESET)
NOT_MEASURED: Final = "not measured"
TOLERANCE: Final = 1e-5
WARM_UP_STEPS: Final = 3
FASTEST: Final = {"precision": "bf16", "compile": True}
METRICS: Final = ("n", "hr1", "hr20", "ndcg20", "mrr")


def new_trainer(dataset: Dataset, config: AnyTraining, folder: str, device: torch.device) -> TrainingLoop:
    """A training at the start of its last epoch, with fresh weights."""
    trainer = build_trainer(dataset, config, Path(tempfile.mkdtemp(dir=folder)), device)
    trainer.begin()
    trainer.begin_epoch(config.epochs)
    return trainer


def time_steps(trainer: TrainingLoop, seconds: float) -> tuple[float, int]:
    """Wall seconds of a step and the number of steps timed, as many as fit into the time, at most an epoch."""

    def wait() -> None:
        if trainer.device.type == "cuda":
            torch.cuda.synchronize(trainer.device)

    for step in range(WARM_UP_STEPS):
        trainer.take_step(step)
    wait()
    started, steps = time.perf_counter(), 0
    while steps < trainer.steps_per_epoch and (steps < 2 or time.perf_counter() - started < seconds):
        trainer.take_step(WARM_UP_STEPS + steps)
        steps += 1
        if steps % 10 == 0:  # a GPU works while the next ones are queued
            wait()
    wait()
    return (time.perf_counter() - started) / steps, steps


def measure_epoch(trainer: TrainingLoop, seconds: float) -> dict[str, Any]:
    """Seconds of an epoch, extrapolated from timed steps, and the card's memory."""
    device, total = trainer.device, trainer.steps_per_epoch
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    a_step, steps = time_steps(trainer, seconds)
    card = device.type == "cuda"
    return {
        "epoch_seconds": round(a_step * total, 3),
        "steps_measured": steps,
        "steps_per_epoch": total,
        "extrapolated": steps < total,
        "allocated_gb": round(torch.cuda.max_memory_allocated(device) / 1e9, 3) if card else NOT_MEASURED,
        "reserved_gb": round(torch.cuda.max_memory_reserved(device) / 1e9, 3) if card else NOT_MEASURED,
    }


def measure_equality(dataset: Dataset, config: AnyTraining, on_card: TrainingLoop, folder: str, cases: int) -> Any:
    """Compare scores and float64 ranks of card and processor with the same weights. Without a card the processor is
    compared with itself.
    """
    on_processor = new_trainer(dataset, config, folder, torch.device("cpu"))
    weights = {name: tensor.cpu() for name, tensor in on_card.model.state_dict().items()}
    on_processor.model.load_state_dict(weights)
    described = describe_cases(dataset, on_card.graph, c.TEST, most=cases)
    row_N = torch.tensor(described[c.ROW].to_numpy())
    totals, ranks = [], []
    for trainer in (on_processor, on_card):
        scorer = trainer.scorer(config.epochs)
        batch = CaseBatch(trainer.checkins, row_N.to(trainer.device))
        histories = batch.histories(target_time=scorer.reads_target_time)
        totals.append(scorer.score(histories).total.double().cpu())
        save_tensors(weights, trainer.folder / WEIGHTS)
        epoch = EpochResult(epoch=config.epochs, stage=trainer.stage(config.epochs), val={})
        exact = Checkpoint(trainer.folder, CheckpointManifest.of(dataset, config, epoch, epoch), hash="")
        ranked = rank_cases(exact.scorer(dataset, trainer.graph, trainer.device), described, trainer.checkins)
        ranks.append(ranked[[c.NUM_BETTER, c.NUM_TIED]].to_numpy())
    off = float(((totals[0] - totals[1]).abs() / totals[0].abs().clamp_min(1.0)).max())
    return {
        "of": f"{on_card.device.type} and cpu",
        "cases": len(described),
        "largest_relative_difference": off,
        "scores_equal": off <= TOLERANCE,
        "ranks_differ": int((ranks[0] != ranks[1]).any(1).sum()),
    }


def measure(dataset: Dataset, name: str, device: torch.device, seconds: float, cases: int) -> dict[str, Any]:
    """Speed, memory and equality of one configuration."""
    config = training_preset(name)
    ways: dict[str, dict[str, Any]] = {"as it is": {}}
    if isinstance(config, TrainConfig):
        ways["bf16"] = {"precision": "bf16"}
        if device.type == "cuda":
            ways["bf16, compiled"] = FASTEST
    found: dict[str, Any] = {"ways": {}, "cpu_epoch_seconds": NOT_MEASURED}
    with tempfile.TemporaryDirectory() as folder:
        for way, changes in ways.items():
            try:
                trainer = new_trainer(dataset, config.parse(config.model_dump() | changes), folder, device)
                found["ways"][way] = measure_epoch(trainer, seconds)
                if not changes:
                    found["equality"] = measure_equality(dataset, config, trainer, folder, cases)
                    if device.type == "cuda":
                        on_cpu = new_trainer(dataset, config, folder, torch.device("cpu"))
                        found["cpu_epoch_seconds"] = measure_epoch(on_cpu, seconds)["epoch_seconds"]
            except (RecapError, RuntimeError) as error:  # one that does not fit must not end the others
                found["ways"][way] = {"error": str(error).splitlines()[0]}
            finally:
                trainer = None  # type: ignore[assignment]  # its memory belongs to the next one
                if device.type == "cuda":
                    torch.cuda.empty_cache()
    return found


def train_whole(
    dataset: Dataset, name: str, device: torch.device, cpu_runs: Mapping[str, Path], epochs: int | None
) -> dict[str, Any]:
    """A whole training in the fastest way, with test metrics next to a processor's."""
    config = training_preset(name)
    if isinstance(config, TrainConfig) and device.type == "cuda":
        config = config.parse(config.model_dump() | FASTEST)
    if epochs is not None:
        config = config.with_epochs(min(epochs, config.epochs))
    with tempfile.TemporaryDirectory() as folder:
        try:
            checkpoint = train(dataset, config, Path(folder) / "out", device=device)
        except (RecapError, RuntimeError) as error:
            return {"error": str(error).splitlines()[0]}
        assert checkpoint is not None
        summary = checkpoint.read_summary()
    found = {
        "epochs": config.epochs,
        "best_epoch": summary["best_epoch"],
        "seconds": round(summary["seconds"], 1),
        "test_seconds": round(summary["test_seconds"], 1),
        "reserved_gb": round(summary["reserved_gpu_bytes"] / 1e9, 3) if device.type == "cuda" else NOT_MEASURED,
        "test": {group: {key: summary["test"][group][key] for key in METRICS} for group in ("all", "tail")},
        "test_on_a_processor": NOT_MEASURED,
    }
    if name in cpu_runs:
        beside = Checkpoint.load(cpu_runs[name])
        if beside.manifest.dataset_hash != dataset.hash:
            raise ConfigError(f"{cpu_runs[name]} was trained on another dataset")
        other = beside.read_summary()["test"]
        found["test_on_a_processor"] = {g: {key: other[g][key] for key in METRICS} for g in ("all", "tail")}
    return found


def resume_on_cpu(dataset: Dataset, name: str, device: torch.device) -> dict[str, Any]:
    """A training that stops after its first epoch on the device and ends on the processor."""
    config = training_preset(name).with_epochs(4)
    finished: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        train(
            dataset,
            config,
            out,
            device=device,
            stop=lambda: bool(finished),
            after_epoch=lambda _, epoch: finished.append(epoch),
        )
        checkpoint = train(dataset, config, out, device=torch.device("cpu"), resume=True)
        assert checkpoint is not None
        mrr = checkpoint.read_summary()["test"]["all"]["mrr"]
    return {"of": f"{device.type} to cpu", "stopped_after": len(finished), "epochs": config.epochs, "mrr": mrr}


def small_city(people: int) -> Dataset:
    return prepare_dataset(build_demo_city(people=people), DataConfig(), name="city", source_format="synthetic")


def hardware(device: torch.device) -> dict[str, Any]:
    if device.type != "cuda":
        return {"card": NOT_MEASURED, "threads": torch.get_num_threads()}
    properties = torch.cuda.get_device_properties(device)
    return {
        "card": properties.name,
        "memory_gb": round(properties.total_memory / 1e9, 1),
        "capability": f"{properties.major}.{properties.minor}",
        "cuda": torch.version.cuda,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, nargs="?")
    parser.add_argument("--device", default="auto")
    parser.add_argument(
        "--full", action="store_true", help="train every preset and published model whole, not two of them"
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these presets and published models")
    parser.add_argument("--seconds", type=float, default=6.0, help="for the steps of one way of one configuration")
    parser.add_argument("--cases", type=int, default=512, help="test cases whose scores are compared")
    parser.add_argument("--cpu-run", nargs="+", default=[], metavar="NAME=CHECKPOINT")
    parser.add_argument("--people", type=int, default=None, help="of the synthetic city")
    parser.add_argument("--out", type=Path, help="also write the JSON there")
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    is_card = device.type == "cuda"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    cpu_runs = {name: Path(path) for name, _, path in (text.partition("=") for text in arguments.cpu_run)}
    dataset = Dataset.load(arguments.dataset) if arguments.dataset else small_city(arguments.people or 60)
    names = arguments.only or [*PRESETS, *PUBLISHED]
    started = time.perf_counter()
    seconds = arguments.seconds if is_card else 0.0
    found: dict[str, Any] = {
        "benchmark": "gpu",
        **hardware(device),
        "dataset": dataset.manifest.name,
        "dataset_hash": dataset.hash,
        "places": dataset.num_pois,
        "train_cases": len(dataset.cases(c.TRAIN)),
        "configurations": {name: measure(dataset, name, device, seconds, arguments.cases) for name in names},
    }
    whole = names if arguments.full else [name for name in WHOLE if name in names]
    found["resumed"] = {name: resume_on_cpu(dataset, name, device) for name in whole}
    # On a processor, use the fewest epochs in which every part acts.
    epochs = None if is_card else 4
    found["whole_trainings"] = {name: train_whole(dataset, name, device, cpu_runs, epochs) for name in whole}
    if not is_card:
        found["whole_trainings_are"] = "cut to 4 epochs, to show that the script runs; on a card: " + NOT_MEASURED
    found |= {"seconds": round(time.perf_counter() - started, 1), "versions": library_versions()}
    text = json.dumps(found)
    print(text, flush=True)
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
