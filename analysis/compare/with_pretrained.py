"""A trained model against `pretrained` on a dataset's validation cases: which of the two to use."""

from dataclasses import dataclass
from typing import Any

import torch

from analysis.compare.paired import compare_means
from recap import columns as c
from recap.asking.open_model import open_model
from recap.baselines import PRETRAINED, PRETRAINED_LABEL
from recap.checkpoint import Checkpoint
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases, numbered_among
from recap.evaluation.scoring import rank_cases
from recap.evaluation.temperature import most_cases
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors


@dataclass(frozen=True)
class AgainstPretrained:
    """MRR over ``n`` validation cases: a trained model less `pretrained`, with the 95 % interval over users."""

    protocol: Protocol
    n: int
    users: int
    difference: float
    low: float
    high: float

    @property
    def is_better(self) -> bool:
        """Whether to use the trained model."""
        return self.difference >= 0

    def sentence(self, label: str) -> str:
        """Which is better, and by how much; one user has no interval."""
        first, second, ends = f"{label} trained here", PRETRAINED_LABEL, (self.low, self.high)
        if not self.is_better:
            first, second, ends = second, first, (-self.high, -self.low)
        verb = "is better than" if ends[0] > 0 else "ties with"
        interval = f" [{ends[0]:+.3f}, {ends[1]:+.3f}]"
        if self.users < 2:
            verb, interval = "is ahead of", ""
        return f"{first} {verb} {second} on {self.n:,} validation cases: MRR {abs(self.difference):+.3f}{interval}."


def compare_with_pretrained(
    checkpoint: Checkpoint,
    dataset: Dataset,
    graph: TransitionGraph,
    device: torch.device | str = "cpu",
    *,
    keep: bool = True,
) -> AgainstPretrained:
    """Compare over the kind of validation cases that chose the trained model's epoch.

    Args:
        keep: see `open_model`.

    Raises:
        CheckpointError: the package's curves do not fit this version.
    """
    protocol = numbered_among(checkpoint.manifest.train.select_on)
    cases = describe_cases(dataset, graph, c.VAL, protocol, most=most_cases(dataset.num_pois))
    checkins = CheckinTensors.from_dataset(dataset, device)
    asked: dict[str, Any] = {"graph": graph, "checkins": checkins, "device": device, "keep": keep}
    models = [open_model(model, dataset, **asked) for model in (checkpoint, PRETRAINED)]
    sides = [[rank_cases(model.scorer, cases, checkins)] for model in models]
    row = compare_means(*sides, metrics=["mrr"], groups=["all"]).iloc[0]
    difference, low, high = (float(row[name]) for name in ("difference", "low", "high"))
    return AgainstPretrained(protocol, len(cases), cases[c.USER].nunique(), difference, low, high)
