"""Trained checkpoints beside tries of several seeds, on validation: is a try above them by more than chance?

    python -m benchmarks.tries_beside DATASET OUT TRY ... --checkpoints FOLDER ... [--seeds 5]

``OUT`` is the folder of `tries.py`, which must have run. Each case's values are averaged over the checkpoints, and over
the seeds of a try; differences (checkpoints less try) with 95 % intervals over users, one line for each try and group.
A try that was the best of many at one seed is seldom as good at others.
"""

import argparse
from pathlib import Path
from typing import Final

import numpy as np
import torch

from benchmarks.case_values import METRICS, Values, difference, mean, values_of
from benchmarks.tries import Bench, fitting, values
from benchmarks.tries_models import better_of, fit, scores
from benchmarks.tries_named import TRIES
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.graph import TransitionGraph
from recap.history import CheckinTensors

GROUPS: Final = ("all", "head", "tail", "last", "new")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("tries", nargs="+", choices=[name for name, it in TRIES.items() if "features" in it])
    parser.add_argument("--checkpoints", type=Path, nargs="+", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    dataset = Dataset.load(options.dataset)
    bench = Bench(dataset, options.out)
    ours = mean([of_checkpoint(dataset, folder, bench) for folder in options.checkpoints])
    print("checkpoints", told(bench, ours), flush=True)
    for name in options.tries:
        his = of_try(bench, name, options.seeds)
        print(name, told(bench, his), flush=True)
        for group in GROUPS:
            print(f"  {name}, {group}:", beside(bench, ours, his, group), flush=True)


def of_checkpoint(dataset: Dataset, folder: Path, bench: Bench) -> Values:
    """Each validation case's values under a checkpoint."""
    graph = TransitionGraph.from_dataset(dataset)
    cases = describe_cases(dataset, graph, c.VAL)
    if not np.array_equal(cases[c.ROW].to_numpy(), bench.val.row_N):
        raise SystemExit("the tries' cases are those of another dataset; make them anew in another folder")
    scorer = Checkpoint.load(folder).scorer(dataset, graph)
    return values_of(scorer, cases, CheckinTensors.from_dataset(dataset))


def of_try(bench: Bench, name: str, seeds: int) -> Values:
    """Each validation case's values under a try, averaged over its seeds; kept beside the tries' cases."""
    kept = bench.out / f"seeds_{name}_{seeds}.npz"
    if not kept.exists():
        settings = TRIES[name]
        data, val = bench.arrays(settings)
        found = []
        for seed in range(seeds):
            model = fit(settings["kind"], data, seed=seed, **fitting(settings))
            found.append(values(better_of(bench.val, scores(model, val)[0].numpy())))
        np.savez(kept, **mean(found))  # type: ignore[arg-type]
    return dict(np.load(kept))


def told(bench: Bench, mine: Values) -> str:
    """Means of every group."""
    cells = [
        f"{group} " + " ".join(f"{metric} {mine[metric][bench.groups[group]].mean():.4f}" for metric in METRICS)
        for group in GROUPS
    ]
    return " | ".join(cells)


def beside(bench: Bench, mine: Values, his: Values, group: str) -> str:
    """Differences with intervals over users."""
    mask, cells = bench.groups[group], []
    for metric in METRICS:
        found, low, high = difference(bench.bootstrap, mine[metric] - his[metric], mask)
        cells.append(f"{metric} {found:+.4f} [{low:+.4f}, {high:+.4f}]")
    return " | ".join(cells)


if __name__ == "__main__":
    main()
