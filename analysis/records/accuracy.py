"""Accuracy of cases: one value per case and metric, and the words that name metrics."""

from typing import Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.errors import ConfigError
from recap.evaluation.metrics import METRICS, hit_rate, ndcg

METRIC_LABELS: Final = {
    "hr1": "HR@1",
    "hr5": "HR@5",
    "hr10": "HR@10",
    "hr20": "HR@20",
    "ndcg20": "NDCG@20",
    "mrr": "MRR",
}

CHOSEN_METRICS: Final = ("hr1", "hr5", "hr20", "ndcg20", "mrr")
"""Every choice of a metric offers these."""

CLEAR_SHARE: Final = 0.5
"""A first choice is clear if it has at least this share of the listed places' probability."""
_HUNDRED: Final = 100
"""With fewer cases, sentences count them and do not say "of 100"."""


def metric_values(records: pd.DataFrame, metric: str) -> np.ndarray:
    """The metric of every case, in expectation over tied orders.

    ConfigError: unknown metric, or imported lists are too short for it.
    """
    if metric not in METRICS:
        raise ConfigError(f"unknown metric {metric!r}; choose one of {', '.join(METRICS)}")
    if not is_known(records, metric):
        raise ConfigError(
            f"{METRIC_LABELS[metric]} is not known of these imported predictions: their shortest list has "
            f"{shortest_list(records)} places; choose a smaller K"
        )
    if metric == "mrr":
        return records[c.RECIPROCAL_RANK].to_numpy(np.float64)
    better, tied = records[c.NUM_BETTER].to_numpy(np.int64), records[c.NUM_TIED].to_numpy(np.int64)
    if metric == "ndcg20":
        return ndcg(better, tied, 20)
    return hit_rate(better, tied, int(metric.removeprefix("hr")))


def fitting_metric(places_known: int) -> str:
    """The hit rate of the longest list of 20, 5 or 1 places that has at most half of the places a user knows.

    >>> " ".join(fitting_metric(known) for known in (40, 39, 10, 9, 0))
    'hr20 hr5 hr5 hr1 hr1'
    """
    return next((f"hr{k}" for k in (20, 5) if places_known >= 2 * k), "hr1")


def shortest_list(records: pd.DataFrame) -> int | None:
    """Places in the shortest list of imported predictions; None if every place is ranked."""
    if c.LISTED not in records:
        return None
    listed = records[c.LISTED].to_numpy(np.int64)
    return int(listed[listed > 0].min()) if (listed > 0).any() else 0


def is_known(records: pd.DataFrame, metric: str) -> bool:
    """Whether imported lists are long enough for a metric; for MRR, short ones give a lower bound."""
    shortest = shortest_list(records)
    return shortest is None or metric == "mrr" or int(metric.removeprefix("hr").removeprefix("ndcg")) <= shortest


def is_lower_bound(records: pd.DataFrame, metric: str) -> bool:
    """Whether a metric is a lower bound: MRR, where an imported list lacks the true place."""
    return metric == "mrr" and c.IN_LIST in records and not bool(records[c.IN_LIST].all())


def bounded(label: str, records: pd.DataFrame, metric: str) -> str:
    """A model's label over its accuracy in a table; it says where that is a lower bound."""
    return f"{label} (at least)" if is_lower_bound(records, metric) else label


def is_hit(records: pd.DataFrame, k: int) -> np.ndarray:
    """Whether the target is more likely than not among the first k: where `hit_rate` is above 1/2, which is where the
    mean rank is at most k.
    """
    return records[c.RANK].to_numpy(np.float64) <= k


def listed_share(records: pd.DataFrame) -> np.ndarray:
    """Each case's first place as a share of the listed places' probability; NaN without a list.

    >>> listed_share(pd.DataFrame({"top_scores": [[np.log(3.0), 0.0]]})).round(2).tolist()
    [0.75]
    """
    if records.empty or c.TOP_SCORES not in records:
        return np.full(len(records), np.nan)
    scores = np.stack([np.asarray(row, dtype=np.float64) for row in records[c.TOP_SCORES]])
    return 1 / np.exp(scores - scores[:, :1]).sum(axis=1)


def finds(value: float, metric: str, cases: int) -> str:
    """Subject and verb of a sentence on accuracy over a number of cases.

    >>> finds(0.943, "hr20", 500), finds(0.003, "hr1", 500), finds(0, "hr1", 500), finds(0.4892, "mrr", 500)
    ('finds 94 of 100', 'finds almost none of the', 'finds none of the', 'reaches MRR 0.489 on')
    """
    if metric.startswith("hr"):
        return f"finds {found_of(value, cases)}" if value >= 0.005 else f"finds {_few(value)} of the"
    return f"reaches {METRIC_LABELS[metric]} {value:.3f} on"


def finds_and(
    subject: str, known: tuple[float, int], new: tuple[float, int], metric: str, *, short: bool = False
) -> str:
    """A sentence on the accuracy and number of rare transitions to known and to new places; a short one says
    "of 100" once. With fewer than 100 cases, new places have a sentence of their own.

    >>> finds_and("RECAP", (0.943, 800), (0.031, 300), "hr20")
    'RECAP finds 94 of 100 rare transitions to places a user knows, but only 3 of 100 to new places.'
    >>> finds_and("Markov", (0.3, 800), (0.29, 300), "mrr")
    'Markov reaches MRR 0.300 on rare transitions to places a user knows, and 0.290 on those to new places.'
    >>> finds_and("RECAP", (0.943, 800), (0.111, 9), "hr20")
    'RECAP finds 94 of 100 rare transitions to places a user knows. New places: 1 of 9.'
    """
    is_hit = metric.startswith("hr")
    start = f"{subject} {finds(known[0], metric, known[1])} rare transitions to places"
    if is_hit and not are_hundreds(known[1], new[1]):
        return f"{start} a user knows. New places: {found_of(*new)}."
    joint = "but only" if new[0] < known[0] / 2 else "and"
    second = f"{new[0]:.3f} on those"
    if is_hit:
        second = f"{100 * new[0]:.0f}" if short else found_of(*new)
    if is_hit and new[0] < 0.005:
        joint, second = "but", _few(new[0])
    return f"{start} a user knows, {joint} {second} to new places."


def are_hundreds(*cases: int) -> bool:
    """Whether all these numbers of cases are large enough to say "of 100"."""
    return min(cases) >= _HUNDRED


def found_of(share: float, cases: int) -> str:
    """How many are found out of 100, or out of all cases if there are fewer.

    >>> found_of(0.943, 500), found_of(1.0, 8)
    ('94 of 100', '8 of 8')
    """
    whole = min(cases, _HUNDRED)
    return f"{whole * share:.0f} of {whole}"


def simple_fraction(share: float, cases: int) -> str:
    """The simplest fraction within .02 of a share, else hundredths; of the cases where they are fewer.

    >>> simple_fraction(0.66, 500), simple_fraction(0.5, 8), simple_fraction(0.43, 500), simple_fraction(0.85, 27)
    ('Two of three', 'One of two', '43 of 100', '23 of 27')
    """
    words = {1: "One", 2: "Two", 3: "Three", 4: "Four", 5: "five"}
    for whole in (2, 3, 4, 5):
        part = round(share * whole)
        if 0 < part < whole and abs(share - part / whole) <= 0.02:
            return f"{words[part]} of {words[whole].lower()}"
    return found_of(share, cases)


def guesses(metric: str) -> str:
    """Among how many first places a hit rate looks; empty for other metrics.

    >>> guesses("hr20"), guesses("hr1"), guesses("mrr")
    ('within 20 guesses', 'with one guess', '')
    """
    if not metric.startswith("hr"):
        return ""
    return "with one guess" if metric == "hr1" else f"within {metric.removeprefix('hr')} guesses"


def _few(share: float) -> str:
    return "almost none" if share > 0 else "none"
