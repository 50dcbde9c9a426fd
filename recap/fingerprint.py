"""The few numbers that tell one split of a city's check-ins from another, as far as papers print them.

Accuracies of two papers can be compared only over the same cases. These numbers depend on every choice of a protocol
(gaps, merging, what is shared out, what is removed and when), and a paper's tables give most of them away.
"""

from typing import Final, TypedDict

import numpy as np

from recap import columns as c
from recap.data.dataset import Dataset
from recap.graph import TAIL_MAX_COUNT, TransitionGraph
from recap.visits import Visits

SAMPLE_SEED: Final = 0


class UnseenReach(TypedDict):
    """How far N hops reach from the sources of unseen pairs, see `unseen_reach`."""

    pairs: int
    sources: int
    candidates: float
    coverage: float
    snr_x1000: float


def unseen_reach(
    dataset: Dataset, graph: TransitionGraph, max_hops: int, max_sources: int | None = None
) -> list[UnseenReach]:
    """The N-hop candidate sets as the paper counts them (App. C.2): pairs of trajectory_last cases, M_N over sources.

    `recap.dataset_statistics.hop_statistics` has the pairs of all steps and sums the candidates over pairs instead.

    Args:
        max_sources: at most so many sources, drawn with a fixed seed, are walked from; for graphs too large for all.

    Returns:
        One entry for each N = 1..max_hops: unseen ``pairs``, each once, their distinct ``sources``, mean ``candidates``
        |C_N(s)| of a source, ``coverage`` of the pairs and ``snr_x1000``.
    """
    source, target = distinct_pairs(dataset, dataset.cases(c.TEST, "trajectory_last"))
    unseen = graph.count(source, target) == 0
    source, target = source[unseen], target[unseen]
    sources = np.unique(source)
    walked = sources
    if max_sources is not None and len(sources) > max_sources:
        walked = np.sort(np.random.default_rng(SAMPLE_SEED).choice(sources, max_sources, replace=False))
    reached = np.isin(source, walked)
    hops, sizes = graph.explore(walked, source[reached], target[reached], max_hops)
    rows: list[UnseenReach] = []
    for n in range(1, max_hops + 1):
        covered = (hops > 0) & (hops <= n)
        signal, candidates = int(covered.sum()), int(sizes[n - 1].sum())
        rows.append(
            {
                "pairs": len(source),
                "sources": len(sources),
                "candidates": mean(sizes[n - 1]),
                "coverage": mean(covered),
                "snr_x1000": 1000 * signal / (candidates - signal) if candidates > signal else 0.0,
            }
        )
    return rows


def fingerprint(dataset: Dataset, graph: TransitionGraph, max_sources: int | None = None) -> dict[str, float | int]:
    """What identifies a split: its test cases and what lies around those that training never saw.

    The graph's numbers are on the paper's definition, see `unseen_reach`.

    Args:
        max_sources: at most so many sources, drawn with a fixed seed, are walked from; for graphs too large for all.

    Returns:
        ``cases, head, tail`` (trajectory_last cases; head: seen more than once in training), ``steps`` (every_step
        cases), ``checkins``, ``merged_checkins`` (rows left after merging, before removals), ``unseen_pairs,
        unseen_sources, mean_degree`` (|C_1| of a source), ``two_hop_candidates`` (|C_2|), ``two_hop_coverage`` (of
        the pairs), ``two_hop_snr_x1000``, ``unique_tail_share`` (of the distinct pairs of all steps) and
        ``tail_in_history`` (tail trajectory_last cases whose target the user has been to).
    """
    poi = dataset.checkins[c.POI].to_numpy(np.int64)
    every, last = dataset.cases(c.TEST), dataset.cases(c.TEST, "trajectory_last")
    tail = graph.count(poi[last], poi[last + 1]) <= TAIL_MAX_COUNT
    one_hop, two_hops = unseen_reach(dataset, graph, 2, max_sources)
    report = dataset.manifest.report
    return {
        "cases": len(last),
        "head": int((~tail).sum()),
        "tail": int(tail.sum()),
        "steps": len(every),
        "checkins": report.checkins,
        "merged_checkins": report.kept - report.dropped.get("merged", 0),
        "unseen_pairs": two_hops["pairs"],
        "unseen_sources": two_hops["sources"],
        "mean_degree": one_hop["candidates"],
        "two_hop_candidates": two_hops["candidates"],
        "two_hop_coverage": two_hops["coverage"],
        "two_hop_snr_x1000": two_hops["snr_x1000"],
        "unique_tail_share": mean(graph.count(*distinct_pairs(dataset, every)) <= TAIL_MAX_COUNT),
        "tail_in_history": mean(Visits.of(dataset).target_in_history(last)[tail]),
    }


def distinct_pairs(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct (source, target) pairs of the cases at the given rows, sorted."""
    poi = dataset.checkins[c.POI].to_numpy(np.int64)
    keys = np.unique(poi[rows] * dataset.num_pois + poi[rows + 1])
    return keys // dataset.num_pois, keys % dataset.num_pois


def mean(values: np.ndarray) -> float:
    """The mean, 0 over nothing.

    >>> mean(np.array([True, False])), mean(np.array([]))
    (0.5, 0.0)
    """
    return float(values.mean()) if len(values) else 0.0
