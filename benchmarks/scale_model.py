"""What a training step, a whole epoch, and an exact ranking cost on a prepared dataset; `benchmarks/scale.py` runs it.

    python benchmarks/scale_model.py train DATASET [--steps 100] [--precision bf16] [--epoch-cases 1_000_000]
    python benchmarks/scale_model.py rank DATASET [--cases 10_000] [--of-cases 500]
    python benchmarks/scale_model.py epoch DATASET [--cases 10_000] [--epoch-cases 1_000_000] [--folder DIR]

`train` takes RECAP in the paper's sizes with every part on, a sampled softmax, batches of 512; after a warm-up it times
steps and extrapolates an epoch from their mean. `rank` ranks test cases among all places in float64, by a model as it
is before its first step (the cost is the same), and extrapolates to the cases asked for. `epoch` extrapolates nothing:
a training of one epoch with every part on, states saved and some cases validated as always (its minutes hold both), and
then all test cases that are asked for ranked in float64 by what it has learned. It tells on stderr where it is; with
--folder a stopped one goes on. Each prints one JSON line.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from recap import columns as c
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import metrics_of
from recap.evaluation.scoring import rank_cases
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.model.config import Stage
from recap.model.recap import Recap, RecapScorer
from recap.presets import nyc_tuned
from recap.storage.tensors import load_tensors
from recap.training.loop import BEST, StepReport
from recap.training.state import STATE_FILE
from recap.training.trainer import Trainer
from recap.training_config import SampledSoftmax, TrainConfig

WARM_UP_STEPS = 10
VALIDATION_CASES = 512
METRICS = ("n", "hr1", "hr20", "mrr")


class Clock:
    """Wall and processor seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Wall and processor seconds."""
        return time.perf_counter() - self._wall, time.process_time() - self._processor


def peak_gb() -> float:
    """The most resident memory of this process so far."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20), 2)


def sampled_config(dataset: Dataset, precision: str, epoch_cases: int, validation_cases: int) -> TrainConfig:
    """RECAP in the paper's sizes with a sampled softmax, on so many of the latest training cases."""
    changes = {
        "label_smoothing": 0.0,
        "sampled_softmax": SampledSoftmax().model_dump(),
        "latest_share": min(1.0, epoch_cases / len(dataset.cases(c.TRAIN))),
        "validation_cases": validation_cases,
        "test_cases": 10_000,
        "precision": precision,
    }
    return TrainConfig.parse(nyc_tuned().model_dump() | changes)


def measure_training(dataset: Dataset, steps: int, precision: str, epoch_cases: int) -> dict[str, Any]:
    """Seconds of building a trainer and of a step with everything on, and what an epoch of so many cases would take."""
    config = sampled_config(dataset, precision, epoch_cases, 10_000)
    building = Clock()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(dataset, config, Path(folder), torch.device("cpu"))
        built, built_processor = building.read()
        trainer._begin_epoch(config.epochs)  # its last epoch: every part acts
        size = config.batch_size

        def take(first: int, count: int) -> None:
            for step in range(first, first + count):
                start = step * size % max(1, trainer.num_examples - size)
                trainer._learn(slice(start, start + size))

        take(0, WARM_UP_STEPS)
        clock = Clock()
        take(WARM_UP_STEPS, steps)
        wall, processor = (seconds / steps for seconds in clock.read())
    steps_per_epoch = -(-epoch_cases // size)
    return {
        "build_seconds": round(built, 1),
        "build_cpu_seconds": round(built_processor, 1),
        "train_cases": trainer.num_examples,
        "transitions": trainer.graph.num_transitions,
        "precision": precision,
        "steps": steps,
        "step_seconds": round(wall, 3),
        "step_cpu_seconds": round(processor, 3),
        "epoch_cases": epoch_cases,
        "epoch_minutes_extrapolated": round(wall * steps_per_epoch / 60, 1),
        "epoch_cpu_minutes_extrapolated": round(processor * steps_per_epoch / 60, 1),
    }


def measure_ranking(dataset: Dataset, cases: int, of_cases: int) -> dict[str, Any]:
    """Seconds of ranking test cases exactly in float64, after the scorer has propagated its embeddings."""
    building = Clock()
    graph = TransitionGraph.from_dataset(dataset)
    model = Recap.for_dataset(nyc_tuned().model, dataset, graph, torch.float64)
    scorer = RecapScorer(model, Stage())
    checkins = CheckinTensors.from_dataset(dataset)
    drawn = describe_cases(dataset, graph, c.TEST, most=of_cases)
    built, built_processor = building.read()
    clock = Clock()
    ranked = rank_cases(scorer, drawn, checkins)
    wall, processor = clock.read()
    return {
        "build_seconds": round(built, 1),
        "build_cpu_seconds": round(built_processor, 1),
        "ranked": len(ranked),
        "rank_seconds": round(wall, 2),
        "rank_cpu_seconds": round(processor, 2),
        "cases": cases,
        "minutes_extrapolated": round(wall * cases / len(ranked) / 60, 2),
        "cpu_minutes_extrapolated": round(processor * cases / len(ranked) / 60, 2),
    }


class Walked:
    """Where an epoch is, on stderr and in a file that a continued one reads: step and processor seconds so far."""

    def __init__(self, folder: Path, step: int) -> None:
        self._file = folder / "steps.txt"
        earlier = [line.split() for line in self._file.read_text().splitlines()] if self._file.exists() else []
        self.processor = max((float(seconds) for at, seconds in earlier if int(at) <= step), default=0.0)
        self._clock = Clock()

    def watch(self, report: StepReport) -> None:
        """After a step."""
        processor = self.processor + self._clock.read()[1]
        with self._file.open("a") as file:
            file.write(f"{report.step} {processor:.2f}\n")
        if report.step % 50 == 0 or report.step == report.steps:
            told = f"{processor:.0f} s of processor, {peak_gb()} GB, loss {report.loss:.3f}"
            print(f"step {report.step} of {report.steps}: {told}", file=sys.stderr, flush=True)


def measure_epoch(
    dataset: Dataset, precision: str, epoch_cases: int, cases: int, folder: Path | None
) -> dict[str, Any]:
    """Seconds and memory of one whole epoch, its states and validation included, and of the exact ranking after it."""
    config = sampled_config(dataset, precision, epoch_cases, VALIDATION_CASES).with_epochs(1)
    building = Clock()
    with tempfile.TemporaryDirectory() as temporary:
        place = folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        trainer = Trainer(dataset, config, place, torch.device("cpu"))
        built, built_processor = building.read()
        if (place / STATE_FILE).is_file():
            trainer.resume()
        walked, clock = Walked(place, trainer.progress.step), Clock()
        trainer.run(walked.watch)
        wall, processor = trainer.progress.seconds, walked.processor + clock.read()[1]
        line, trained_gb = trainer.progress.line, peak_gb()
        assert line is not None
        trainer.let_go()
        kept, _ = load_tensors(place / BEST)
        testing = Clock()
        scorer = trainer.kept_scorer(kept, config.epochs)
        del kept
        drawn = describe_cases(dataset, trainer.graph, c.TEST, most=cases)
        ready, ready_processor = testing.read()
        ranking = Clock()
        metrics = metrics_of(rank_cases(scorer, drawn, trainer.checkins))
        rank, rank_processor = ranking.read()
    return {
        "build_seconds": round(built, 1),
        "build_cpu_seconds": round(built_processor, 1),
        "train_cases": trainer.num_examples,
        "steps": trainer.steps_per_epoch,
        "precision": precision,
        "validation_seconds": round(line["validation_seconds"], 1),
        "epoch_minutes": round(wall / 60, 2),
        "epoch_cpu_minutes": round(processor / 60, 2),
        "loss": {name: round(value, 4) for name, value in line["loss"].items()},
        "epoch_peak_gb": trained_gb,
        "scorer_seconds": round(ready, 1),
        "scorer_cpu_seconds": round(ready_processor, 1),
        "ranked": len(drawn),
        "rank_minutes": round(rank / 60, 2),
        "rank_cpu_minutes": round(rank_processor / 60, 2),
        "test": {name: metrics[name] for name in METRICS},
    }


def main() -> None:
    """Measure one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "rank", "epoch"))
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--precision", choices=("float32", "bf16"), default="bf16")
    parser.add_argument("--epoch-cases", type=int, default=1_000_000)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="keeps an epoch's states; a second call goes on from there")
    parser.add_argument("--of-cases", type=int, default=500, help="how many are ranked to extrapolate from")
    arguments = parser.parse_args()
    dataset = Dataset.load(arguments.dataset)
    if arguments.what == "train":
        found = measure_training(dataset, arguments.steps, arguments.precision, arguments.epoch_cases)
    elif arguments.what == "epoch":
        found = measure_epoch(dataset, arguments.precision, arguments.epoch_cases, arguments.cases, arguments.folder)
    else:
        found = measure_ranking(dataset, arguments.cases, arguments.of_cases)
    sizes = {"places": dataset.num_pois, "users": dataset.num_users, "checkins": len(dataset.checkins)}
    print(json.dumps(sizes | found | {"peak_gb": peak_gb(), "threads": torch.get_num_threads()}), flush=True)


if __name__ == "__main__":
    main()
