"""How much more often evidence holds for the truth than by chance: raw, and with chance told what else is known.

For case i with target y and evidence E (a yes or no for every place), the lift is
mean_i E_i(y) / mean_i sum_d w_i(d) E_i(d), where w_i is the chance that draws a rival place d:

- ``uniform``: every place alike (the raw lift);
- ``popularity``: by training check-ins;
- ``distance``: by training check-ins times how strongly training steps prefer that distance;
- ``own_visits``: by the walker's own earlier visits, over the cases whose target is among them.

Most of the raw lift of two hops is popularity, distance and habit; the table says how much.

Shape suffixes: B cases, P places.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from analysis.records.bootstrap import SAMPLES, UserBootstrap, interval
from analysis.records.loaded_dataset import LoadedDataset
from recap import columns as c
from recap.geodesy import distance_km
from recap.graph import TAIL_MAX_COUNT

EVIDENCE: Final = ("revisit", "two_hops", "two_steps", "own_step")
EVIDENCE_LABELS: Final = {
    "revisit": "Visited before",
    "two_hops": "Within two hops",
    "two_steps": "Exactly two steps",
    "own_step": "Own earlier step",
}
CONTROLS: Final = ("uniform", "popularity", "distance", "own_visits")
CONTROL_LABELS: Final = {
    "uniform": "any place",
    "popularity": "given popularity",
    "distance": "given popularity and distance",
    "own_visits": "given own visits",
}
MAX_CASES: Final = 1500
_DISTANCE_EDGES_KM: Final = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_CASES_PER_BLOCK: Final = 128


def evidence_lift(
    opened: LoadedDataset, *, group: str = "unseen", max_cases: int = MAX_CASES, samples: int = SAMPLES, seed: int = 0
) -> pd.DataFrame:
    """The lift of each evidence under each control.

    Args:
        group: ``all``, ``tail`` or ``unseen`` test cases.
        max_cases: at most this many cases, drawn by the seed where there are more.
        samples, seed: of the user bootstrap and of the draw.

    Returns:
        One row per evidence and control: ``evidence, control, n, observed`` (share of truths with the evidence),
        ``chance`` (expected share of rivals), ``lift, lower, upper`` (95 % over users; NaN where chance is 0 or the
        control implies the evidence).
    """
    rows = _choose_cases(opened, group, max_cases, seed)
    table = opened.cases.iloc[rows]
    truth = {name: np.zeros(len(table)) for name in EVIDENCE}
    chance = {(name, control): np.zeros(len(table)) for name in EVIDENCE for control in CONTROLS}
    start = 0
    for evidence, weights in _blocks(opened, table):
        size = len(next(iter(evidence.values())))
        block = slice(start, start + size)
        target_B = table[c.TARGET].to_numpy(np.int64)[block]
        for name, holds_BP in evidence.items():
            truth[name][block] = holds_BP[np.arange(size), target_B]
            for control, weight_BP in weights.items():
                chance[name, control][block] = np.einsum("bp,bp->b", weight_BP, holds_BP)
        start += size
    visited = truth["revisit"] > 0
    bootstrap = UserBootstrap(table[c.USER].to_numpy(), samples, seed)
    result = []
    for name in EVIDENCE:
        for control in CONTROLS:
            included = visited if control == "own_visits" else np.ones(len(table), dtype=bool)
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


def _choose_cases(opened: LoadedDataset, group: str, max_cases: int, seed: int) -> np.ndarray:
    limit = {"all": np.iinfo(np.int64).max, "tail": TAIL_MAX_COUNT, "unseen": 0}[group]
    rows = np.flatnonzero(opened.cases[c.TRANSITION_COUNT].to_numpy(np.int64) <= limit)
    if len(rows) > max_cases:
        rows = np.sort(np.random.default_rng(seed).choice(rows, max_cases, replace=False))
    return rows


def _blocks(
    opened: LoadedDataset, table: pd.DataFrame
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
        evidence = {"revisit": visits_BP > 0, "two_hops": reach, "two_steps": two_BP, "own_step": own_BP > 0}
        weights = {
            "uniform": np.ones_like(visits_BP),
            "popularity": np.broadcast_to(popularity_P, visits_BP.shape),
            "distance": popularity_P * near_BP,
            "own_visits": visits_BP,
        }
        yield (
            {name: value.astype(np.float64) for name, value in evidence.items()},
            {name: _normalise(value) for name, value in weights.items()},
        )


def _own_past(opened: LoadedDataset, block: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Each walker's earlier visits, and earlier steps from the same source, to every place."""
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
    for source in np.flatnonzero(leaving_P):
        km_P = distance_km(opened.latitude[source], opened.longitude[source], opened.latitude, opened.longitude)
        which = np.searchsorted(_DISTANCE_EDGES_KM, km_P)
        expected += leaving_P[source] * np.bincount(which, weights=share_P, minlength=bins)
    return np.divide(observed, expected, out=np.ones(bins), where=expected > 0)


def _normalise(weights_BP: np.ndarray) -> np.ndarray:
    total = weights_BP.sum(axis=1, keepdims=True)
    return np.divide(weights_BP, total, out=np.zeros_like(weights_BP, dtype=np.float64), where=total > 0)
