"""Statistics of a dataset's transitions: tail shares, hop coverage and SNR."""

from typing import Any, Final

import numpy as np

from recap import columns as c
from recap.data.dataset import Dataset
from recap.history.graph import TAIL_MAX_COUNT, TransitionGraph
from recap.history.visits import Visits

SAMPLE_SEED: Final = 0


def unseen_reach(
    dataset: Dataset, graph: TransitionGraph, num_hops: int, max_sources: int | None = None
) -> dict[str, float]:
    """The N-hop candidate sets as the paper counts them (App. C.2): unseen pairs of trajectory_last cases, M_N over at
    most ``max_sources`` sources. Returns distinct unseen ``pairs``, their ``sources``, mean ``degree`` |C_1(s)| and
    ``candidates`` |C_N(s)| of a source, ``coverage`` of the pairs and ``snr_x1000``.
    """
    source, target = _unseen_pairs(dataset, graph, dataset.cases(c.TEST, "trajectory_last"))
    sources = np.unique(source)
    walked = sources
    if max_sources is not None and len(sources) > max_sources:
        walked = np.sort(np.random.default_rng(SAMPLE_SEED).choice(sources, max_sources, replace=False))
    reached = np.isin(source, walked)
    hops, sizes = graph.explore(walked, source[reached], target[reached], num_hops)
    signal, candidates = int((hops > 0).sum()), int(sizes[-1].sum())
    return {
        "pairs": len(source),
        "sources": len(sources),
        "degree": mean(sizes[0]),
        "candidates": mean(sizes[-1]),
        "coverage": mean(hops > 0),
        "snr_x1000": _ratio(1000 * signal, candidates - signal),
    }


def fingerprint(dataset: Dataset, graph: TransitionGraph, max_sources: int | None = None) -> dict[str, float | int]:
    """Numbers that identify a split, to compare it with a paper's, whose tables give most of them.

    Returns:
        ``cases, head, tail`` (trajectory_last cases; head: seen more than once in training), ``steps`` (every_step
        cases), ``checkins``, ``merged_checkins`` (rows after merging, before any is left out), `unseen_reach` of two
        hops, ``unique_tail_share`` (of the distinct pairs of all steps) and
        ``tail_in_history`` (tail trajectory_last cases whose target is in the history).
    """
    every, last = dataset.cases(c.TEST), dataset.cases(c.TEST, "trajectory_last")
    tail = graph.count(*_pairs(dataset, last)) <= TAIL_MAX_COUNT
    reach = unseen_reach(dataset, graph, 2, max_sources)
    report = dataset.manifest.report
    return {
        "cases": len(last),
        "head": int((~tail).sum()),
        "tail": int(tail.sum()),
        "steps": len(every),
        "checkins": report.checkins,
        "merged_checkins": report.kept - report.dropped.get("merged", 0),
        "unseen_pairs": reach["pairs"],
        "unseen_sources": reach["sources"],
        "mean_degree": reach["degree"],
        "two_hop_candidates": reach["candidates"],
        "two_hop_coverage": reach["coverage"],
        "two_hop_snr_x1000": reach["snr_x1000"],
        "unique_tail_share": mean(graph.count(*distinct_pairs(dataset, every)) <= TAIL_MAX_COUNT),
        "tail_in_history": mean(Visits.of(dataset).target_in_history(last)[tail]),
    }


def distinct_pairs(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct, sorted (source, target) pairs of cases."""
    source, target = _pairs(dataset, rows)
    keys = np.unique(source * dataset.num_pois + target)
    return keys // dataset.num_pois, keys % dataset.num_pois


def _pairs(dataset: Dataset, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    poi = dataset.checkins[c.POI].to_numpy(np.int64)
    return poi[rows], poi[rows + 1]


def _unseen_pairs(dataset: Dataset, graph: TransitionGraph, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    source, target = distinct_pairs(dataset, rows)
    unseen = graph.count(source, target) == 0
    return source[unseen], target[unseen]


def mean(values: np.ndarray) -> float:
    """The mean; 0 without values.

    >>> mean(np.array([True, False])), mean(np.array([]))
    (0.5, 0.0)
    """
    return float(values.mean()) if len(values) else 0.0


MAX_EDGE_VISITS: Final = 4_000_000_000
"""All paths are counted up to this product of POIs and transitions, within a minute; cities stay below it."""


def hop_statistics(dataset: Dataset, graph: TransitionGraph, max_hops: int = 5) -> list[dict[str, float]]:
    """Coverage, candidates and SNR of the N-hop candidate sets (after App. C.2) for each N = 1..max_hops, over the
    unique unseen pairs of all test steps. ``avg_candidates`` and the M of the SNR run over those pairs' sources with
    multiplicity; the ``_all_pois`` forms run once over every POI. Large graphs are sampled, see `sample_sizes`.
    """
    source, destination = _unseen_pairs(dataset, graph, dataset.cases(c.TEST))
    num_unseen = len(source)
    everywhere = np.arange(graph.num_pois)
    sample = sample_sizes(graph)
    if sample is not None:
        rng = np.random.default_rng(SAMPLE_SEED)
        pairs = np.sort(rng.choice(num_unseen, min(num_unseen, sample["pairs"]), replace=False))
        source, destination = source[pairs], destination[pairs]
        everywhere = np.sort(rng.choice(graph.num_pois, sample["sources"], replace=False))
    sources = np.union1d(source, everywhere)
    hops, sizes = graph.explore(sources, source, destination, max_hops)
    of_pairs, of_pois = np.searchsorted(sources, source), np.searchsorted(sources, everywhere)
    rows: list[dict[str, float]] = []
    for n in range(1, max_hops + 1):
        signal = int(((hops > 0) & (hops <= n)).sum())
        candidates = int(sizes[n - 1, of_pairs].sum())
        average_everywhere = _ratio(int(sizes[n - 1, of_pois].sum()), len(everywhere))
        # Scale a sample's signal to all unseen pairs; without a sample, the factor is 1.
        all_signal = signal * _ratio(num_unseen, len(source))
        rows.append(
            {
                "n": n,
                "coverage": _ratio(signal, len(source)),
                "avg_candidates": _ratio(candidates, len(source)),
                "snr_x1000": 1000 * _ratio(signal, candidates - signal),
                "avg_candidates_all_pois": average_everywhere,
                "snr_x1000_all_pois": 1000 * _ratio(all_signal, average_everywhere * graph.num_pois - all_signal),
            }
        )
    return rows


def sample_sizes(graph: TransitionGraph) -> dict[str, int] | None:
    """How many unseen test ``pairs`` and ``sources`` `hop_statistics` samples; None if it takes all, at a cost of at
    most POIs times transitions.
    """
    if graph.num_pois * graph.num_transitions <= MAX_EDGE_VISITS:
        return None
    affordable = max(200, MAX_EDGE_VISITS // (2 * graph.num_transitions))
    return {"pairs": affordable, "sources": min(graph.num_pois, affordable)}


def tail_shares(dataset: Dataset, graph: TransitionGraph) -> dict[str, float]:
    """Counts and tail shares, over unique test pairs and over test cases."""
    rows = dataset.cases(c.TEST)
    source, destination = distinct_pairs(dataset, rows)
    unique_counts, case_counts = graph.count(source, destination), graph.count(*_pairs(dataset, rows))
    return {
        "transitions": graph.num_transitions,
        "unique_test_pairs": len(source),
        "unseen_unique_test_pairs": int((unique_counts == 0).sum()),
        "unique_tail_share": mean(unique_counts <= TAIL_MAX_COUNT),
        "case_tail_share": mean(case_counts <= TAIL_MAX_COUNT),
        "case_unseen_share": mean(case_counts == 0),
    }


def reach_shares(dataset: Dataset, graph: TransitionGraph) -> dict[str, float]:
    """How often history or two hops reach a test case's target (Fig. 7's cohorts). ``within`` is the candidate set C_2
    (at most two hops), ``two_step`` is a walk of exactly two steps.
    """
    rows = dataset.cases(c.TEST)
    source, target = _pairs(dataset, rows)
    in_history = Visits.of(dataset).target_in_history(rows)
    count, walk = graph.count(source, target), graph.two_step_probability(source, target) > 0
    tail, within = count <= TAIL_MAX_COUNT, (count > 0) | walk
    return {
        "in_history_share": mean(in_history),
        "tail_in_history": mean(in_history[tail]),
        "tail_within_two_hops": mean(within[tail]),
        "tail_within_both": mean((within & in_history)[tail]),
        "tail_two_step_walk": mean(walk[tail]),
        "tail_two_step_both": mean((walk & in_history)[tail]),
    }


def dataset_statistics(dataset: Dataset, max_hops: int = 5) -> dict[str, Any]:
    """The content of `recap stats`; ``hop_sample`` only if `hop_statistics` sampled."""
    graph = TransitionGraph.from_dataset(dataset)
    sample = sample_sizes(graph)
    return {
        "dataset_hash": dataset.hash,
        **tail_shares(dataset, graph),
        **reach_shares(dataset, graph),
        "fingerprint": fingerprint(dataset, graph, sample["sources"] if sample else None),
        "hops": hop_statistics(dataset, graph, max_hops),
        **({} if sample is None else {"hop_sample": sample}),
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
