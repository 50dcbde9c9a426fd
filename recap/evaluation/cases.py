"""Facts about cases, without a scorer."""

from typing import Final

import numpy as np
import pandas as pd

from recap import columns as c
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.history.graph import TransitionGraph
from recap.history.visits import Visits

_HOUR: Final = pd.Timedelta(hours=1)
_DRAW_SEED: Final = 0
"""One sample for every training and scorer of a dataset, so that they rank the same cases."""


def draw_cases(row_N: np.ndarray, most: int | None) -> np.ndarray:
    """Sample at most this many cases uniformly without replacement, with a fixed seed, in case order.

    >>> draw_cases(np.array([4, 7, 9]), None), draw_cases(np.array([4, 7, 9]), 3)
    (array([4, 7, 9]), array([4, 7, 9]))
    """
    if most is None or len(row_N) <= most:
        return row_N
    return np.sort(np.random.default_rng(_DRAW_SEED).choice(row_N, most, replace=False, shuffle=False))


def numbered_among(protocol: Protocol) -> Protocol:
    """The protocol that numbers the cases: the paper's protocols share the numbers of ``every_step``."""
    return "every_next" if protocol == "every_next" else "every_step"


def describe_cases(
    dataset: Dataset,
    graph: TransitionGraph,
    split: int = c.TEST,
    protocol: Protocol = "every_step",
    *,
    most: int | None = None,
) -> pd.DataFrame:
    """Describe each case, in case order.

    Args:
        most: sample this many cases (`draw_cases`); None takes all.

    Returns:
        ``case`` (number among the split's cases, see `numbered_among`), ``row`` (source row), ``user``, ``position``
        (check-ins of the user before the source), ``time`` (of the source, UTC), ``trajectory, source, target,
        transition_count`` (m_sd), ``destination_count`` (the target's training check-ins), ``in_history`` (y in C_t),
        ``within_two_hops`` (y in C_2(s)), ``two_step_walk`` ((A^2)_sy > 0) and, for every_next, ``gap_hours`` (to the
        target).
    """
    every = dataset.cases(split, numbered_among(protocol))
    row = every if protocol == numbered_among(protocol) else dataset.cases(split, protocol)
    row = draw_cases(row, most)
    visits = Visits.of(dataset)
    poi = dataset.checkins[c.POI].to_numpy(np.int64)
    source, target = poi[row], poi[row + 1]
    count, walk = graph.count(source, target), graph.two_step_probability(source, target) > 0
    time = dataset.checkins[c.TIME].array
    cases = pd.DataFrame(
        {
            c.CASE: np.searchsorted(every, row),
            c.ROW: row,
            c.USER: dataset.checkins[c.USER].to_numpy(np.int64)[row],
            c.POSITION: row - visits.first_T[row],
            c.TIME: time[row],
            c.TRAJECTORY: dataset.checkins[c.TRAJECTORY].to_numpy(np.int64)[row],
            c.SOURCE: source,
            c.TARGET: target,
            c.TRANSITION_COUNT: count,
            c.DESTINATION_COUNT: dataset.pois[c.TRAIN_CHECKINS].to_numpy(np.int64)[target],
            c.IN_HISTORY: visits.target_in_history(row),
            c.WITHIN_TWO_HOPS: (count > 0) | walk,
            c.TWO_STEP_WALK: walk,
        }
    )
    return cases.assign(**{c.GAP_HOURS: (time[row + 1] - time[row]) / _HOUR}) if protocol == "every_next" else cases


def is_known_place(cases: pd.DataFrame) -> np.ndarray:
    """Whether the user has been to each case's target before or is there now, bool (N,); any other is a *new place*.

    >>> walk = pd.DataFrame({c.SOURCE: [4, 4, 4], c.TARGET: [4, 5, 6], c.IN_HISTORY: [False, True, False]})
    >>> is_known_place(walk)
    array([ True,  True, False])
    """
    return (cases[c.IN_HISTORY].astype(bool) | (cases[c.SOURCE] == cases[c.TARGET])).to_numpy()
