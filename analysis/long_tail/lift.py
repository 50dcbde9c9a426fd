"""How much more often evidence holds for the truth than for rivals it could be confused with.

For case i with source s_i, target y_i and evidence E_i (a yes or no for every place d),

    lift = mean_i E_i(y_i) / mean_i sum_d w_i(d) E_i(d),    w_i(d) = [m(s_i, d) <= eta] v_i(d) / sum of the same over d.

m counts training transitions and eta is the group's own limit: 0 for unseen steps, `TAIL_MAX_COUNT` for the tail, none
for all. So rivals come from the same group as the truth. A rival that is a frequent step would hold evidence that the
truth, chosen for being rare, can not hold, and the lift would fall below 1 by selection alone. The truth is among its
rivals. The control says what v, and so the chance that draws a rival, knows:

- ``uniform``: nothing, every rival is alike;
- ``popularity``: the rival's training check-ins;
- ``distance``: those times how strongly training steps prefer that distance from the source;
- ``own_visits``: the user's own earlier visits to it, over the cases whose target is among them;
- ``unvisited``: as ``distance``, but 0 for places the user has been to, the source included, over the cases whose
  target is none of these. The question that paths could win: where habit says nothing, does a path?

Nothing is drawn but the cases (where there are more than `MAX_CASES` to a question) and the users of the bootstrap,
both by the seed.

Shape suffixes: B cases of a block, N cases, P places.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from analysis.records.bootstrap import SAMPLES, UserBootstrap, interval
from analysis.records.loaded_dataset import LoadedDataset
from recap import columns as c
from recap.geodesy import EARTH_RADIUS_KM, distance_km, unit_vectors
from recap.graph import TAIL_MAX_COUNT

EVIDENCE: Final = ("revisit", "two_hops", "two_steps", "own_step")
EVIDENCE_LABELS: Final = {
    "revisit": "Visited before",
    "two_hops": "Within two hops",
    "two_steps": "Exactly two steps",
    "own_step": "Own earlier step",
}
CONTROLS: Final = ("uniform", "popularity", "distance", "own_visits", "unvisited")
CONTROL_LABELS: Final = {
    "uniform": "any rival",
    "popularity": "given popularity",
    "distance": "given popularity and distance",
    "own_visits": "given own visits",
    "unvisited": "new places, given popularity and distance",
}
_ETA: Final = {"all": np.iinfo(np.int64).max, "tail": TAIL_MAX_COUNT, "unseen": 0}
MAX_CASES: Final = 1500
_DISTANCE_EDGES_KM: Final = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_CASES_PER_BLOCK: Final = 128


def evidence_lift(
    opened: LoadedDataset, *, group: str = "unseen", max_cases: int = MAX_CASES, samples: int = SAMPLES, seed: int = 0
) -> pd.DataFrame:
    """The lift of each evidence under each control; the module says what they are.

    Args:
        group: ``all``, ``tail`` or ``unseen`` test cases.
        max_cases: at most this many cases to a question, drawn by the seed where there are more: of the group's cases,
            and for ``unvisited`` of those with a target new to the user.
        samples, seed: of the user bootstrap and of the draw.

    Returns:
        One row per evidence and control: ``evidence, control, n`` (cases with a rival to draw), ``observed`` (share of
        truths with the evidence), ``chance`` (expected share of rivals), ``lift, lower, upper`` (95 % over users; NaN
        where chance is 0 or the control implies the evidence).
    """
    rows, asked = _choose_cases(opened, group, max_cases, seed)
    table = opened.cases.iloc[rows]
    truth = {name: np.zeros(len(table)) for name in EVIDENCE}
    chance = {(name, control): np.zeros(len(table)) for name in EVIDENCE for control in CONTROLS}
    start = 0
    for evidence, weights in _blocks(opened, table, _ETA[group]):
        size = len(next(iter(evidence.values())))
        block = slice(start, start + size)
        target_B = table[c.TARGET].to_numpy(np.int64)[block]
        for control, weight_BP in weights.items():
            asked[control][block] &= weight_BP.any(axis=1)
        for name, holds_BP in evidence.items():
            truth[name][block] = holds_BP[np.arange(size), target_B]
            for control, weight_BP in weights.items():
                chance[name, control][block] = np.einsum("bp,bp->b", weight_BP, holds_BP)
        start += size
    asked["own_visits"] &= truth["revisit"] > 0
    bootstrap = UserBootstrap(table[c.USER].to_numpy(), samples, seed)
    result = []
    for name in EVIDENCE:
        for control in CONTROLS:
            included = asked[control]
            groups = np.where(included, 0, -1)
            observed = float(truth[name][included].mean()) if included.any() else np.nan
            expected = float(chance[name, control][included].mean()) if included.any() else np.nan
            drawn, by_chance = (bootstrap.means(values, groups, 1) for values in (truth[name], chance[name, control]))
            given = control == "own_visits" and name == "revisit"
            known = expected > 0 and not given
            ratios = np.divide(drawn, by_chance, out=np.full_like(drawn, np.nan), where=by_chance > 0)
            lower, upper = interval(ratios) if known else (np.array([np.nan]), np.array([np.nan]))
            result.append(
                {
                    "evidence": name,
                    "control": control,
                    "n": int(included.sum()),
                    "observed": observed,
                    "chance": expected,
                    "lift": observed / expected if known else np.nan,
                    "lower": float(lower[0]),
                    "upper": float(upper[0]),
                }
            )
    return pd.DataFrame(result)


def _choose_cases(
    opened: LoadedDataset, group: str, max_cases: int, seed: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The case numbers to look at, ascending, and which of them each control asks about: bool (N,) by control."""
    cases = opened.cases
    of_group = np.flatnonzero(cases[c.TRANSITION_COUNT].to_numpy(np.int64) <= _ETA[group])
    new = ~cases[c.IN_HISTORY].to_numpy(bool) & (cases[c.SOURCE] != cases[c.TARGET]).to_numpy(bool)
    drawn = {
        control: _draw(of_group[new[of_group]] if control == "unvisited" else of_group, max_cases, seed)
        for control in CONTROLS
    }
    rows = np.unique(np.concatenate(list(drawn.values())))
    return rows, {control: np.isin(rows, some) for control, some in drawn.items()}


def _draw(rows: np.ndarray, most: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False)) if len(rows) > most else rows


def _blocks(
    opened: LoadedDataset, table: pd.DataFrame, eta: int
) -> Iterator[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """Evidence and chance of every place, a block of cases at a time: float64 arrays (B, P)."""
    popularity_P = opened.dataset.pois[c.TRAIN_CHECKINS].to_numpy(np.float64)
    preference = _distance_preference(opened, popularity_P)
    adjacency = opened.graph.adjacency
    for start in range(0, len(table), _CASES_PER_BLOCK):
        block = table.iloc[start : start + _CASES_PER_BLOCK]
        source_B = block[c.SOURCE].to_numpy(np.int64)
        visits_BP, own_BP = _own_past(opened, block)
        reach = next(iter(opened.graph.reach_blocks(source_B, 2)))[1][1]
        two_BP = (adjacency[source_B] @ adjacency).toarray() > 0
        km_BP = distance_km(
            opened.latitude[source_B, None], opened.longitude[source_B, None], opened.latitude, opened.longitude
        )
        near_BP = preference[np.searchsorted(_DISTANCE_EDGES_KM, km_BP)]
        new_BP = visits_BP == 0
        new_BP[np.arange(len(block)), source_B] = False
        evidence = {"revisit": visits_BP > 0, "two_hops": reach, "two_steps": two_BP, "own_step": own_BP > 0}
        weights = {
            "uniform": np.ones_like(visits_BP),
            "popularity": np.broadcast_to(popularity_P, visits_BP.shape),
            "distance": popularity_P * near_BP,
            "own_visits": visits_BP,
            "unvisited": popularity_P * near_BP * new_BP,
        }
        same_group_BP = opened.graph.counts[source_B].toarray() <= eta
        yield (
            {name: value.astype(np.float64) for name, value in evidence.items()},
            {name: _normalise(value * same_group_BP) for name, value in weights.items()},
        )


def _own_past(opened: LoadedDataset, block: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Each user's earlier visits, and earlier steps from the same source, to every place."""
    poi, trajectory = opened.visits.poi_T, opened.dataset.checkins[c.TRAJECTORY].to_numpy(np.int64)
    visits = np.zeros((len(block), opened.dataset.num_pois))
    steps = np.zeros_like(visits)
    for i, (row, source) in enumerate(zip(block[c.ROW].tolist(), block[c.SOURCE].tolist(), strict=True)):
        first = int(opened.visits.first_T[row])
        visits[i] = np.bincount(poi[first:row], minlength=visits.shape[1])
        left = first + np.flatnonzero(poi[first:row] == source)
        left = left[trajectory[left] == trajectory[left + 1]]
        steps[i] = np.bincount(poi[left + 1], minlength=visits.shape[1])
    return visits, steps


def _distance_preference(opened: LoadedDataset, popularity_P: np.ndarray) -> np.ndarray:
    """Per distance bin: training steps over what popularity alone would give; 1 where nothing is expected."""
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
    # Every pair of places: chords by one product of unit vectors instead of arcs, which takes a third of the time.
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
