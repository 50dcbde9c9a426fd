"""Training speed: steps per second, time of each part of a step, memory, and the ratio to padded candidates.

    python benchmarks/train.py DATASET [--preset nyc] [--set precision=bf16] [--steps 20] [--threads 2] [--device cpu]

Prints one JSON line. Packed and padded steps alternate inside one run, so that their ratio does not depend on how busy
the machine is. Padding is what a straightforward implementation does: every case's candidates are filled up to the
longest row of the histories, and prior and calibration run over all of them.
"""

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from recap.checkpoint import library_versions
from recap.data.dataset import Dataset
from recap.history.tensors import Histories, RevisitCandidates, find_revisit_candidates
from recap.machine.device import choose_device
from recap.model.config import MAX_CANDIDATES, Stage
from recap.model.recap import Recap, RevisitParts
from recap.model.revisit_prior import PriorTerms, revisit_statistics
from recap.presets import train_preset
from recap.training.trainer import Trainer


def padded_revisit(model: Recap, histories: Histories, stage: Stage, state_BD: Tensor) -> RevisitParts | None:
    """The revisit branch with every case padded to the longest row."""
    assert model.prior is not None
    assert model.calibration is not None
    packed = find_revisit_candidates(
        histories,
        recent_window=model.config.recent_window,
        max_candidates=MAX_CANDIDATES,
    )
    size_B = torch.bincount(packed.case_C, minlength=len(histories))
    longest = int(size_B.max())
    slot_C = torch.arange(len(packed.case_C), device=size_B.device) - (size_B.cumsum(0) - size_B)[packed.case_C]
    index_C = packed.case_C * longest + slot_C

    def pad(values_C: Tensor) -> Tensor:
        return values_C.new_zeros(len(histories) * longest).index_copy(0, index_C, values_C)

    case_M = torch.arange(len(histories), device=size_B.device).repeat_interleave(longest)
    padded = RevisitCandidates(
        case_M,
        pad(packed.poi_C),
        pad(packed.last_row_C),
        pad(packed.count_C),
        pad(packed.recency_steps_C),
        pad(packed.in_recent_window_C),
    )
    present_M = pad(torch.ones_like(packed.case_C)).to(state_BD.dtype)
    terms = model.prior(padded)
    prior_M = terms.prior_C * present_M
    gate_M = model.calibration(
        histories,
        padded,
        state_BD=state_BD,
        embedding_CE=model.poi_embedding(padded.poi_C),
        statistics_C3=torch.stack(revisit_statistics(padded, model.prior.log_recency_steps), dim=1),
    )
    masked = PriorTerms(terms.count_C, terms.recency_C, terms.window_C, terms.clip_loss_C, prior_M)
    return RevisitParts(replace(padded), masked, gate_M, model.calibration.scale * gate_M * prior_M)


def timed_parts(model: Recap, totals: dict[str, float], clock: Callable[[], float]) -> Callable[[], None]:
    """Add the forward seconds of the model's parts to ``totals``; returns the undo."""
    restore = []
    for name in ("tokens", "graph_token", "backbone", "core", "prior", "calibration"):
        part = getattr(model, name)
        if part is None:
            continue
        original = part.forward

        def forward(*args: object, _original: Callable = original, _name: str = name, **kwargs: object) -> object:
            started = clock()
            result = _original(*args, **kwargs)
            totals[_name] = totals.get(_name, 0.0) + clock() - started
            return result

        part.forward = forward
        restore.append((part, original))

    def undo() -> None:
        for part, original in restore:
            part.forward = original

    return undo


@contextmanager
def patched_revisit(model: Recap, enabled: bool) -> Iterator[None]:
    if enabled:
        model.revisit = lambda histories, stage, state, *_, **__: padded_revisit(model, histories, stage, state)  # type: ignore
    yield
    if enabled:
        del model.revisit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    device = choose_device(options.device)
    config = train_preset(options.preset).override(options.set)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(Dataset.load(options.dataset), config, Path(folder), device)
    stage = config.curriculum.at(config.epochs)
    order_N = trainer._epoch_order(1)
    batches = [order_N[i * config.batch_size : (i + 1) * config.batch_size] for i in range(options.steps + 2)]

    # On a CPU, one thread's processor time does not depend on other load.
    clock = time.process_time if device.type == "cpu" and options.threads == 1 else time.perf_counter

    def step(index_B: Tensor, *, padded: bool) -> float:
        with patched_revisit(trainer.model, padded):
            if device.type == "cuda":
                torch.cuda.synchronize()
            started = clock()
            trainer._step(index_B, stage)
            if device.type == "cuda":
                torch.cuda.synchronize()
            return clock() - started

    for index_B in batches[:2]:
        step(index_B, padded=False)
        step(index_B, padded=True)
    packed, padded = [], []
    for index_B in batches[2:]:
        packed.append(step(index_B, padded=False))
        padded.append(step(index_B, padded=True))
    parts: dict[str, float] = {}
    undo = timed_parts(trainer.model, parts, clock)
    whole = sum(step(index_B, padded=False) for index_B in batches[2:])
    undo()
    forward = sum(parts.values())
    print(
        json.dumps(
            {
                "benchmark": "train",
                "clock": clock.__name__,
                "preset": options.preset,
                "set": options.set,
                "device": str(device),
                "threads": options.threads,
                "steps": options.steps,
                "batch_size": config.batch_size,
                "steps_per_second": 1 / statistics.median(packed),
                "step_ms_packed": 1000 * statistics.median(packed),
                "step_ms_padded": 1000 * statistics.median(padded),
                "padded_over_packed": statistics.median(slow / fast for slow, fast in zip(padded, packed, strict=True)),
                "forward_share_by_part": {name: seconds / whole for name, seconds in parts.items()},
                "loss_backward_optimiser_share": 1 - forward / whole,
                "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                "reserved_gpu_bytes": torch.cuda.max_memory_reserved(device) if device.type == "cuda" else 0,
                "versions": library_versions(),
            }
        )
    )


if __name__ == "__main__":
    main()
