"""The rows of a ledger: two places' score parts or, for a model that only weighs evidence, what its clues add up to.

Either way the rows of a place add up to its total: parts are those of the paper's model, and where they would leave
nearly every point in one row the rows are those that sentences speak of.
"""

from typing import Literal, NamedTuple

from analysis.explain.net_rows import net_rows
from analysis.explain.types import ScoreDecomposition
from analysis.figures.case_layout import Compared, part_is_active, shown_parts
from analysis.glossary import TERMS
from analysis.records.score_rows import ROW_LABELS

Kind = Literal["parts", "clues"]
Side = Literal["a", "b"]


class LedgerRow(NamedTuple):
    """One row of both places, in score points; ``difference`` is A minus B."""

    kind: Kind
    key: str
    a: float
    b: float
    difference: float
    is_active: bool

    def name(self) -> str:
        """What the row is called."""
        return TERMS[self.key].word if self.kind == "parts" else ROW_LABELS[self.key]


class Step(NamedTuple):
    """One bar of a place, in score points."""

    key: str
    start: float
    value: float

    @property
    def ends(self) -> tuple[float, float]:
        """Where the bar begins and where it ends."""
        return self.start, self.start + self.value


def ledger(explanation: Compared) -> list[LedgerRow]:
    """The rows from top to bottom; rows of clues that are 0 for both places are left out."""
    contrast = explanation.contrast
    if not explanation.weighs_evidence_alone:
        return [
            LedgerRow(
                "parts",
                part,
                _points(contrast.a, part),
                _points(contrast.b, part),
                contrast.parts[part],
                part_is_active(part, explanation),
            )
            for part in shown_parts(explanation)
        ]
    a, b = net_rows(contrast.a), net_rows(contrast.b)
    return [
        LedgerRow("clues", row, a[row], b[row], a[row] - b[row], True) for row in a if a[row] != 0.0 or b[row] != 0.0
    ]


def _points(entry: ScoreDecomposition, part: str) -> float:
    """What a part adds; the clip takes away."""
    value = float(getattr(entry, part))
    return -value if part == "clip_loss" else value


def steps(rows: list[LedgerRow], side: Side, total: float) -> list[Step]:
    """The bars of one place from top to bottom: each begins where the one before ended, the total at 0.

    >>> rows = [LedgerRow("parts", "core", 2.0, 1.0, 1.0, True), LedgerRow("parts", "count", -0.5, 0.0, -0.5, True)]
    >>> [(step.start, step.value) for step in steps(rows, "a", 1.5)]
    [(0.0, 2.0), (2.0, -0.5), (0.0, 1.5)]
    """
    found, level = [], 0.0
    for row in rows:
        value = row.a if side == "a" else row.b
        found.append(Step(row.key, level, value))
        level += value
    return [*found, Step("total", 0.0, total)]
