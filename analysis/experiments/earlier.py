"""Rows of an earlier result, of another machine perhaps, that stand where their training is not at hand."""

from dataclasses import dataclass
from pathlib import Path

from analysis.experiments.costs import Costs
from analysis.experiments.results import ArmComparison, ArmResult, ExperimentResult
from recap.errors import DataError


@dataclass(frozen=True, eq=False)
class EarlierRows:
    """What an earlier result knows; nothing without one.

    A row is of the same dataset and configuration where its digest is, see `training_digest`.
    """

    result: ExperimentResult | None = None

    @classmethod
    def load(cls, path: Path, dataset_hash: str, experiment: str) -> "EarlierRows":
        """Read a result file.

        Raises:
            DataError: no result file, or of another dataset or experiment.
        """
        result = ExperimentResult.load(path)
        if (result.experiment, result.dataset_hash) != (experiment, dataset_hash):
            raise DataError(
                f"{path} holds {result.experiment!r} on dataset {result.dataset_hash[:12]}, expected {experiment!r} on "
                f"{dataset_hash[:12]}: its rows are of other trainings"
            )
        return cls(result)

    def row(self, digest: str) -> ArmResult | None:
        """The row of a training that was measured."""
        return next((row for row in self._rows if row.digest == digest and row.values), None)

    def note(self, arm: str, seed: int) -> str | None:
        """What it says of a training that was not run."""
        rows = (row for row in self._rows if (row.arm, row.seed) == (arm, seed) and not row.values)
        return next((row.note for row in rows), None)

    def comparisons(self, one: str, other: str, rows: tuple[ArmResult, ...]) -> list[ArmComparison]:
        """Those of two arms, if they are of the same trainings as ``rows``, which are of all arms."""
        if self.result is None or any(_digests(rows, arm) != _digests(self._rows, arm) for arm in (one, other)):
            return []
        return [line for line in self.result.comparisons if (line.arm, line.rival) == (one, other)]

    @property
    def costs(self) -> Costs | None:
        """What its arms cost, where that was measured."""
        return None if self.result is None else self.result.costs

    @property
    def _rows(self) -> tuple[ArmResult, ...]:
        return () if self.result is None else self.result.arms


def _digests(rows: tuple[ArmResult, ...], arm: str) -> set[str]:
    return {row.digest for row in rows if row.arm == arm and row.values}
