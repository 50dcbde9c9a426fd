"""All test cases in one table."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.glossary import TERMS
from analysis.long_tail.misses import HIT, label_misses
from analysis.records.ablations import ABLATION_LABELS, GROUP_NAMES
from analysis.records.causes import causes_of
from analysis.workspace import Workspace
from recap import columns as c

HOUR: Final = "hour"
USER_NAME: Final = "user_name"
FROM: Final = "from"
TO: Final = "to"
REASON: Final = "reason"
CAUSE_NAMES: Final = "causes"
TRANSITION: Final = "transition"
REFERENCE_RANK: Final = "reference_rank"
WHY: Final = "why"
KNOWN_BEFORE: Final = (c.CASE, c.USER, USER_NAME, HOUR, FROM)
"""Columns that do not depend on the truth."""
NO_REASON: Final = ""


def case_table(
    opened: Workspace, records: pd.DataFrame, described: pd.DataFrame | None = None, k: int = 20
) -> pd.DataFrame:
    """One row per test case, in records order.

    Args:
        described: from `analysis.long_tail.misses.describe_misses`; None for a baseline.
        k: a case is missed where its rank is above.

    Returns:
        ``case`` (int), ``rank`` (float, mean over ties), ``transition_count, destination_count`` (int, in
        training), ``user`` (int), ``user_name``, ``hour`` (int, 0 to 23, local time of the check-in before),
        ``from, to`` (labels of source and target), ``category`` (of the target), ``reason`` (a miss label of
        `analysis.long_tail.misses`, or `NO_REASON`), ``causes`` (tuple of the `analysis.records.ablations.ABLATIONS`
        that lose the case at k).

    Raises:
        ConfigError: k is below 1.
    """
    cases, labels = opened.cases, pd.Series(opened.labels)
    category = opened.dataset.pois[c.CATEGORY].astype(str)
    table = pd.DataFrame(
        {
            c.CASE: cases[c.CASE].to_numpy(),
            c.RANK: records[c.RANK].to_numpy(float),
            c.TRANSITION_COUNT: cases[c.TRANSITION_COUNT].to_numpy(),
            c.DESTINATION_COUNT: cases[c.DESTINATION_COUNT].to_numpy(),
            c.USER: cases[c.USER].to_numpy(),
            USER_NAME: cases[c.USER].map(opened.user_name).to_numpy(),
            HOUR: opened.dataset.local_time.iloc[cases[c.ROW].to_numpy()].dt.hour.to_numpy(),
            FROM: labels.iloc[cases[c.SOURCE].to_numpy()].to_numpy(),
            TO: labels.iloc[cases[c.TARGET].to_numpy()].to_numpy(),
            c.CATEGORY: category.iloc[cases[c.TARGET].to_numpy()].to_numpy(),
            REASON: NO_REASON,
            CAUSE_NAMES: [()] * len(cases),
        }
    )
    if described is None:
        return table
    reasons = label_misses(described, k).astype(str)
    causes = causes_of(described, k)
    names = causes.columns.to_numpy()
    table[REASON] = reasons.where(reasons != HIT, NO_REASON).to_numpy()
    table[CAUSE_NAMES] = [tuple(str(name) for name in names[row]) for row in causes.to_numpy(bool)]
    return table


def listed_table(table: pd.DataFrame, reference: pd.Series, k: int) -> pd.DataFrame:
    """A case table with two models' ranks, first the cases that only the first model finds.

    Args:
        reference: the second model's rank of each case.
        k: a case is missed where its rank is above.

    Returns:
        The columns of the table with ``transition`` (from → to), ``reference_rank`` and ``why`` (feature groups that a
        found case needs, or the kind of a miss).
    """
    why = [
        _why(rank > k, reason, causes)
        for rank, reason, causes in zip(table[c.RANK], table[REASON], table[CAUSE_NAMES], strict=True)
    ]
    shown = table.copy()
    shown[TRANSITION] = table[FROM] + " → " + table[TO]
    shown[REFERENCE_RANK], shown[WHY] = reference.to_numpy(float), why
    mine, theirs = (shown[name].to_numpy() for name in (c.RANK, REFERENCE_RANK))
    return shown.iloc[np.lexsort([mine - theirs, (mine > k).astype(int) - (theirs > k)])]


def _why(is_missed: bool, reason: str, causes: tuple[str, ...]) -> str:
    if is_missed:
        return f"missed, {TERMS[reason].word.lower()}" if reason else "missed"
    groups = [ABLATION_LABELS[cause] for cause in causes if cause in GROUP_NAMES]
    return f"needs {', '.join(groups)}" if groups else ""
