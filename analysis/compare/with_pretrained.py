"""A trained model against `pretrained` on a dataset's validation cases: which of the two to use."""

from dataclasses import dataclass

import torch

from analysis.compare.paired import compare_means
from recap import columns as c
from recap.baselines import PRETRAINED_LABEL
from recap.checkpoint import Checkpoint
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases, numbered_among
from recap.evaluation.scoring import rank_cases
from recap.evaluation.temperature import most_cases
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.pretrained import PretrainedCheckpoint


@dataclass(frozen=True)
class AgainstPretrained:
    """MRR of a trained model less that of `pretrained`, with its 95 % interval over users.

    Attributes:
        n: validation cases; a sample of a large dataset's.
        users: who have these cases; one user has no interval.
    """

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
        """Which is better, and by how much.

        >>> AgainstPretrained("every_next", 721, 80, -0.0123, -0.021, -0.004).sentence("RECAP")
        'RECAP, pretrained is better than RECAP trained here on 721 validation cases: MRR +0.012 [+0.004, +0.021].'
        >>> AgainstPretrained("every_next", 90, 12, 0.001, -0.02, 0.03).sentence("RECAP")
        'RECAP trained here ties with RECAP, pretrained on 90 validation cases: MRR +0.001 [-0.020, +0.030].'
        >>> AgainstPretrained("every_next", 40, 1, 0.01, 0.01, 0.01).sentence("RECAP")
        'RECAP trained here is ahead of RECAP, pretrained on 40 validation cases of one user: MRR +0.010.'
        """
        first, second = f"{label} trained here", PRETRAINED_LABEL
        difference, low, high = self.difference, self.low, self.high
        if not self.is_better:
            first, second = second, first
            difference, low, high = -difference, -high, -low
        if self.users < 2:
            return f"{first} is ahead of {second} on {self.n:,} validation cases of one user: MRR {difference:+.3f}."
        verb = "is better than" if low > 0 else "ties with"
        interval = f"MRR {difference:+.3f} [{low:+.3f}, {high:+.3f}]"
        return f"{first} {verb} {second} on {self.n:,} validation cases: {interval}."


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
        keep: see `PretrainedCheckpoint`.

    Raises:
        CheckpointError: the package's curves do not fit this version.
    """
    protocol = numbered_among(checkpoint.manifest.train.select_on)
    cases = describe_cases(dataset, graph, c.VAL, protocol, most=most_cases(dataset.num_pois))
    checkins = CheckinTensors.from_dataset(dataset, device)
    sides = [
        [rank_cases(model.scorer(dataset, graph, device), cases, checkins)]
        for model in (checkpoint, PretrainedCheckpoint.of(dataset, keep=keep))
    ]
    row = compare_means(*sides, metrics=["mrr"], groups=["all"]).iloc[0]
    difference, low, high = (float(row[name]) for name in ("difference", "low", "high"))
    return AgainstPretrained(protocol, len(cases), cases[c.USER].nunique(), difference, low, high)
