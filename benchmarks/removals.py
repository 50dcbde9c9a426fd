"""What each part of the recommended preset is worth where it was chosen: removals on validation, with intervals.

    python -m benchmarks.removals DATASET OUT [--experiment weighed] [--whole weighed] [--split val] [--arms NAME ...]

``OUT`` is the folder of `recap experiment run`, which must have trained the arms; an arm is left out where none of its
seeds is there. Prints a Markdown table: the whole model's values less each arm's, a case's values averaged over the
seeds that are there, 95 % intervals over users; beside it every seed's MRR, since seeds differ too. ``new`` are targets
that the user never visited. With ``--split test`` the same on test, where nothing is chosen. Values that were ranked
once are kept in ``OUT/removals``.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import torch

from analysis.experiments.results import training_digest
from analysis.experiments.spec import Arm, ExperimentSpec, load_spec
from analysis.records.bootstrap import UserBootstrap
from benchmarks.case_values import Values, difference, mean, values_of
from recap import columns as c
from recap.baselines.building import build_baseline
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.graph import TAIL_MAX_COUNT, TransitionGraph
from recap.history import CheckinTensors
from recap.scores import Scorer

COLUMNS: Final = (
    ("all", "hr1", "HR@1"),
    ("all", "hr20", "HR@20"),
    ("all", "ndcg20", "NDCG@20"),
    ("all", "mrr", "MRR"),
    ("head", "mrr", "head MRR"),
    ("tail", "hr20", "tail HR@20"),
    ("tail", "mrr", "tail MRR"),
    ("last", "mrr", "last MRR"),
    ("new", "hr20", "new HR@20"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--experiment", default="weighed")
    parser.add_argument("--whole", default="weighed")
    parser.add_argument("--split", choices=["val", "test"], default="val")
    parser.add_argument("--arms", nargs="*", help="these alone, in place of all")
    options = parser.parse_args()
    torch.set_num_threads(1)
    split = c.VAL if options.split == "val" else c.TEST
    ranked = Ranked(Dataset.load(options.dataset), options.out, load_spec(options.experiment), split)
    whole_arm = next(arm for arm in ranked.spec.arms if arm.name == options.whole)
    whole = ranked.seeds_of(whole_arm)
    print(f"| | {' | '.join(head for _, _, head in COLUMNS)} | MRR by seed |")
    print("|---|" + "---:|" * len(COLUMNS) + "---|")
    print(row(whole_arm, [ranked.cell(mean(whole), group, metric) for group, metric, _ in COLUMNS], whole))
    for arm in ranked.spec.arms:
        is_asked = arm.name != options.whole and (not options.arms or arm.name in options.arms)
        less = ranked.seeds_of(arm) if is_asked else []
        if less:
            cells = [ranked.difference(mean(whole), mean(less), group, metric) for group, metric, _ in COLUMNS]
            print(row(arm, cells, less), flush=True)


class Ranked:
    """A split's cases, and what an arm's trainings make of them."""

    def __init__(self, dataset: Dataset, out: Path, spec: ExperimentSpec, split: int) -> None:
        self.dataset, self.out, self.spec = dataset, out, spec
        self.kept = out / "removals" / ("val" if split == c.VAL else "test")
        self.graph, self.checkins = TransitionGraph.from_dataset(dataset), CheckinTensors.from_dataset(dataset)
        self.cases = describe_cases(dataset, self.graph, split)
        is_tail = self.cases[c.TRANSITION_COUNT].to_numpy() <= TAIL_MAX_COUNT
        self.groups = {
            "all": np.ones(len(self.cases), bool),
            "head": ~is_tail,
            "tail": is_tail,
            "last": np.isin(self.cases[c.ROW].to_numpy(), dataset.cases(split, "trajectory_last")),
            "new": ~self.cases[c.IN_HISTORY].to_numpy(bool) & (self.cases[c.SOURCE] != self.cases[c.TARGET]),
        }
        self.bootstrap = UserBootstrap(self.cases[c.USER].to_numpy())

    def seeds_of(self, arm: Arm, seeds: Sequence[int] | None = None) -> list[Values]:
        """Each case's values under every seed (or those given) of an arm that was trained, or under its baseline."""
        if arm.baseline is not None:
            return [self._values(arm.baseline, partial(build_baseline, arm.baseline, self.dataset, self.graph))]
        found = []
        for seed in seeds or self.spec.seeds:
            digest = training_digest(self.dataset, self.spec.train_config(arm, seed), self.spec.test_points)
            folder = self.out / "trainings" / digest
            if (folder / "summary.json").exists():
                found.append(self._values(digest, partial(self._trained, folder)))
        return found

    def _trained(self, folder: Path) -> Scorer:
        return Checkpoint.load(folder).scorer(self.dataset, self.graph)

    def _values(self, name: str, scorer: Callable[[], Scorer]) -> Values:
        kept = self.kept / f"{name}.npz"
        if not kept.exists():
            found = values_of(scorer(), self.cases, self.checkins)
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(kept, **found)  # type: ignore[arg-type]
        return dict(np.load(kept))

    def cell(self, values: Values, group: str, metric: str) -> str:
        """A group's mean."""
        return short(f"{values[metric][self.groups[group]].mean():.4f}")

    def difference(self, whole: Values, less: Values, group: str, metric: str) -> str:
        """The whole model's mean less an arm's, with its interval over users."""
        found, low, high = difference(self.bootstrap, whole[metric] - less[metric], self.groups[group])
        return short(f"{found:+.4f} [{low:+.4f}, {high:+.4f}]")


def row(arm: Arm, cells: list[str], seeds: list[Values]) -> str:
    """A line of the table."""
    by_seed = ", ".join(short(f"{float(one['mrr'].mean()):.4f}") for one in seeds)
    return f"| {arm.label} | {' | '.join(cells)} | {by_seed} |"


def short(text: str) -> str:
    """Without the zero before the point, and with a minus sign."""
    return text.replace("0.", ".").replace("-.", "−.")


if __name__ == "__main__":
    main()
