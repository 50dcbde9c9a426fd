"""How much more often the true next place is within two hops than comparable places.

For case i with source s_i, true place y_i and E_i(d) = 1 where place d is within two hops of s_i,

    lift = mean_i E_i(y_i) / mean_i sum_d w_i(d) E_i(d),    w_i(d) = [m(s_i, d) = 0] v_i(d) / sum of the same over d.

m counts training transitions. Cases are unseen transitions; the compared places, which include the truth, were also
never reached from s_i. A frequent transition would have features that the truth, chosen for being rare, cannot have.
The control determines v:

- ``uniform``: 1 for every place;
- ``own_visits``: the user's earlier visits to it, over the cases whose true place is among them;
- ``unvisited``: its training check-ins times the preference of training transitions for that distance, but 0 for the
  source and places that the user knows; over the cases whose true place is none of these.

At most `MAX_CASES` cases are sampled for each control.

Shape suffixes: B cases of a block, N cases, P places.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from analysis.records.bootstrap import SAMPLES, UserBootstrap, mean_intervals
from analysis.workspace import Workspace
from recap import columns as c
from recap.arithmetic.geodesy import EARTH_RADIUS_KM, distance_km, unit_vectors
from recap.evaluation.cases import is_known_place
from recap.history.statistics import hop_statistics

CONTROLS: Final = ("uniform", "own_visits", "unvisited")
MAX_HOPS: Final = 5
MAX_CASES: Final = 1500
_DISTANCE_EDGES_KM: Final = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_CASES_PER_BLOCK: Final = 128


def kept_hops(opened: Workspace) -> pd.DataFrame:
    """`hop_statistics` of each number of hops, computed once."""
    return opened.kept(
        "hops", lambda: pd.DataFrame(hop_statistics(opened.dataset, opened.graph, MAX_HOPS)), rows=MAX_HOPS
    )


def kept_lift(opened: Workspace) -> pd.DataFrame:
    """`two_hop_lift`, computed once."""
    return opened.kept("two-hop-lift", lambda: two_hop_lift(opened), rows=len(CONTROLS))


def two_hop_lift(
    opened: Workspace, *, max_cases: int = MAX_CASES, samples: int = SAMPLES, seed: int = 0
) -> pd.DataFrame:
    """The lift under each control of this module.

    Args:
        samples, seed: of the user bootstrap; the seed also samples cases.

    Returns:
        One row per control: ``control, n`` (cases with a place to compare), ``observed`` (share of true places within
        two hops), ``chance`` (expected share of the others), ``lift, lower, upper`` (95 % over users; NaN where chance
        is 0).
    """
    rows, asked = _choose_cases(opened, max_cases, seed)
    table = opened.cases.iloc[rows]
    truth = np.zeros(len(table))
    chance = {control: np.zeros(len(table)) for control in CONTROLS}
    start = 0
    for reach_BP, visits_BP, weights in _blocks(opened, table):
        block = slice(start, start + len(reach_BP))
        case_B, target_B = np.arange(len(reach_BP)), table[c.TARGET].to_numpy(np.int64)[block]
        truth[block] = reach_BP[case_B, target_B]
        asked["own_visits"][block] &= visits_BP[case_B, target_B] > 0
        for control, weight_BP in weights.items():
            asked[control][block] &= weight_BP.any(axis=1)
            chance[control][block] = np.einsum("bp,bp->b", weight_BP, reach_BP)
        start += len(reach_BP)
    bootstrap = UserBootstrap(table[c.USER].to_numpy(), samples, seed)
    result = []
    for control in CONTROLS:
        groups = np.where(asked[control], 0, -1)
        observed, expected = (bootstrap.measure(values, groups) for values in (truth, chance[control]))
        ratio_1, ratio_B1 = (
            np.divide(true, by_chance, out=np.full_like(true, np.nan), where=by_chance > 0)
            for true, by_chance in zip(observed[1:], expected[1:], strict=True)
        )
        (lift,) = mean_intervals(ratio_1, np.where(np.isnan(ratio_1), np.nan, ratio_B1))
        facts = (int(observed.n_G[0]), float(observed.value_G[0]), float(expected.value_G[0]))
        result.append((control, *facts, *lift))
    return pd.DataFrame(result, columns=["control", "n", "observed", "chance", "lift", "lower", "upper"])


def _choose_cases(opened: Workspace, max_cases: int, seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Sampled case numbers, ascending, and by control which of them belong to it: bool (N,)."""
    cases = opened.cases
    unseen = np.flatnonzero(cases[c.TRANSITION_COUNT].to_numpy(np.int64) == 0)
    new = ~is_known_place(cases)
    drawn = {
        control: _draw(unseen[new[unseen]] if control == "unvisited" else unseen, max_cases, seed)
        for control in CONTROLS
    }
    rows = np.unique(np.concatenate(list(drawn.values())))
    return rows, {control: np.isin(rows, some) for control, some in drawn.items()}


def _draw(rows: np.ndarray, most: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False)) if len(rows) > most else rows


def _blocks(opened: Workspace, table: pd.DataFrame) -> Iterator[tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]]:
    """Two-hop reach, own visits and weights of every place, in blocks of cases: float64 arrays (B, P)."""
    popularity_P = opened.dataset.pois[c.TRAIN_CHECKINS].to_numpy(np.float64)
    preference = _distance_preference(opened, popularity_P)
    for start in range(0, len(table), _CASES_PER_BLOCK):
        block = table.iloc[start : start + _CASES_PER_BLOCK]
        source_B = block[c.SOURCE].to_numpy(np.int64)
        visits_BP = _own_visits(opened, block)
        reach_BP = next(iter(opened.graph.reach_blocks(source_B, 2)))[1][1].astype(np.float64)
        km_BP = distance_km(
            opened.latitude[source_B, None], opened.longitude[source_B, None], opened.latitude, opened.longitude
        )
        near_BP = preference[np.searchsorted(_DISTANCE_EDGES_KM, km_BP)]
        new_BP = visits_BP == 0
        new_BP[np.arange(len(block)), source_B] = False
        weights = {
            "uniform": np.ones_like(visits_BP),
            "own_visits": visits_BP,
            "unvisited": popularity_P * near_BP * new_BP,
        }
        unseen_BP = opened.graph.counts[source_B].toarray() == 0
        yield reach_BP, visits_BP, {name: _normalise(value * unseen_BP) for name, value in weights.items()}


def _own_visits(opened: Workspace, block: pd.DataFrame) -> np.ndarray:
    visits = np.zeros((len(block), opened.dataset.num_pois))
    for i, row in enumerate(block[c.ROW].tolist()):
        first = int(opened.visits.first_T[row])
        visits[i] = np.bincount(opened.visits.poi_T[first:row], minlength=visits.shape[1])
    return visits


def _distance_preference(opened: Workspace, popularity_P: np.ndarray) -> np.ndarray:
    """Training transitions per distance bin, divided by what popularity alone would give; 1 if nothing is expected."""
    counts = opened.graph.counts.tocoo()
    bins = len(_DISTANCE_EDGES_KM) + 1
    km = distance_km(
        opened.latitude[counts.row],
        opened.longitude[counts.row],
        opened.latitude[counts.col],
        opened.longitude[counts.col],
    )
    observed = np.bincount(np.searchsorted(_DISTANCE_EDGES_KM, km), weights=counts.data, minlength=bins)
    leaving_P = opened.graph.counts.sum(axis=1)
    share_P = popularity_P / max(popularity_P.sum(), 1.0)
    expected = np.zeros(bins)
    # For all pairs of places, chords from one product of unit vectors take a third of the time of arcs.
    vectors_P3 = unit_vectors(opened.latitude, opened.longitude)
    edges = 2 * np.sin(np.array(_DISTANCE_EDGES_KM) / EARTH_RADIUS_KM / 2) ** 2
    sources = np.flatnonzero(leaving_P)
    for start in range(0, len(sources), _CASES_PER_BLOCK):
        block = sources[start : start + _CASES_PER_BLOCK]
        which = np.searchsorted(edges, 1 - vectors_P3[block] @ vectors_P3.T)
        weights = leaving_P[block, None] * share_P
        expected += np.bincount(which.ravel(), weights=weights.ravel(), minlength=bins)
    return np.divide(observed, expected, out=np.ones(bins), where=expected > 0)


def _normalise(weights_BP: np.ndarray) -> np.ndarray:
    total = weights_BP.sum(axis=1, keepdims=True)
    return np.divide(weights_BP, total, out=np.zeros_like(weights_BP, dtype=np.float64), where=total > 0)
