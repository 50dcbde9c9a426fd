"""Causes: every removal against brute force, what "recovered" means on a table done by hand, a table made in pieces."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.records.case_filters import filter_cases
from analysis.records.causes import causes_of, count_causes, obstacles_of, recovered_by, removal_table
from analysis.records.removals import COLUMNS, describe_removals, removed_totals
from analysis.records.score_rows import ROWS, SOURCES
from recap.errors import ConfigError
from recap.evaluation.ranks import rank_of
from recap.evidence.config import EvidenceConfig, HabitsConfig, SurroundingsConfig, WeighingConfig
from recap.model.config import PriorConfig
from recap.model.recap import Recap
from recap.predictor import Predictor
from tests.analysis.planted import small_predictor

PAPER_SOURCES = {"graph_token", "two_hops", "own_revisits", "core", "correction", "clip"}
HABITS = ["visits_at_hour", "visits_on_day", "next_at_hour"]
RECENCY = ["recency_0.25_days", "recency_14_days"]
PLACE = ["known_popularity", "known_distance"]
STEPS = ["own_transitions", "own_pairs", "others_transitions"]
FIRST = ["popularity", "distance", "others_two_hop", "known", "stay", "once", "recent_visits"]
NAMES = [*FIRST, *HABITS, *RECENCY, *STEPS, *PLACE]
VISITS = ["known", "stay", "once", "recent_visits", *RECENCY, *PLACE]
GONE = {
    "two_hop_addends": ["others_two_hop"],
    "two_hops": ["others_two_hop"],
    "own_revisits": VISITS + HABITS,
    "hour_and_weekday": HABITS,
    "own_transitions": ["own_transitions", "own_pairs"],
    "others_transitions": ["others_transitions"],
    "distance": ["distance", "known_distance"],
    "popularity": ["popularity", "known_popularity"],
}
"""Evidence terms of each source, spelled out here once more."""
NEAR = [f"within_{km}_km" for km in ("0.1", "0.5", "2", "8")]
OFTEN = ["visits_1_days", "visits_ever", "recency_3_days", "overdue", "underdue"]
KNOWN_NEAR = [*(f"known_{name}" for name in NEAR), "known_own_category"]
HOURS = [
    *("visits_close_to_hour", "visits_about_hour", "visits_on_weekday", "visits_first_of_day"),
    *("visits_0_to_2_hours_later", "visits_2_to_5_hours_later", "visits_5_to_9_hours_later"),
]
NEW_GONE = {
    "hour_and_weekday": HOURS,
    "distance": [*NEAR, *KNOWN_NEAR[:-1]],
    "popularity": ["visitors_alike"],
    "own_revisits": ["own_category", *OFTEN, *KNOWN_NEAR, *HOURS],
    "core": ["together"],
}
OFF = {"graph_token": "off:graph_token", "two_hops": "off:graph_token", "own_revisits": "off:prior"}


@cache
def predictor(kind: str) -> Predictor:
    """The paper's RECAP, one with evidence, or one whose state weighs it; shaken weights, and a clip that binds."""
    config = EvidenceConfig()
    if kind == "weighed":
        habits = HabitsConfig(decay_days=(1.0,), recency_days=(3.0,), hours=True)
        surroundings = SurroundingsConfig(own_category=True, known_too=True)
        config = EvidenceConfig(habits=habits, surroundings=surroundings, weighing=WeighingConfig(network=2))
    evidence = {} if kind == "paper" else {"evidence": config}
    return small_predictor(prior=PriorConfig(max_prior=0.5), **evidence)


def silenced(base: Predictor, source: str) -> Predictor:
    """The same model with weights set to zero by hand."""
    model = Recap.for_dataset(base.model.config, base.dataset, base.graph, torch.float64)
    model.load_state_dict(base.model.state_dict())
    with torch.no_grad():
        if model.evidence is not None:
            names = list(model.evidence.names)
            assert names[: len(NAMES)] == NAMES
            for name in [*GONE.get(source, []), *NEW_GONE.get(source, [])]:
                for weight in model.evidence.parameters() if name in names else ():
                    if weight.shape[-1] == len(names):  # not the network's
                        weight[..., names.index(name)] = 0.0
    return Predictor(base.checkpoint, base.dataset, model)


def brute_force(base: Predictor, source: str, number: int) -> torch.Tensor:
    """Totals of one case, scored alone by a model of which the source was taken away."""
    edits = parse_edits(OFF.get(source, "off:correction" if source == "correction" else ""))
    edited_case = build_edited_case(silenced(base, source), number, edits)
    total_P = edited_case.predictor.score_counterfactuals([edited_case.variant])[0]
    if source == "core":
        batch, changes = edited_case.predictor.pack([edited_case.variant])
        total_P = total_P - edited_case.predictor.core_scores(batch, changes)[1][0]
    if source == "clip":  # the model's clip cannot be switched off: what it takes is given back, gate and all
        batch = base.batch([edited_case.row])
        revisit = base.revisit_parts(batch, base.core_scores(batch)[0])
        assert revisit is not None and revisit.gate_C is not None and base.model.calibration is not None
        factor_C = 1 + float(base.model.calibration.scale) * revisit.gate_C
        total_P = total_P.index_add(0, revisit.candidates.poi_C, factor_C * revisit.terms.clip_loss_C)
    return total_P


@pytest.mark.parametrize("kind", ["paper", "evidence", "weighed"])
def test_every_removal_equals_brute_force(kind: str) -> None:
    """All places' totals without each source, case by case to 1e-9; sources the paper's model lacks are absent."""
    base = predictor(kind)
    numbers = list(range(0, len(base.cases), 3))
    chosen = base.cases.iloc[numbers]
    totals = removed_totals(base, base.batch(chosen["row"].tolist()))
    assert set(totals) == (PAPER_SOURCES if kind == "paper" else set(SOURCES))
    described = describe_removals(base, chosen)
    for at, number in enumerate(numbers):
        for source, total_BP in totals.items():
            expected_P = brute_force(base, source, number)
            assert torch.allclose(total_BP[at], expected_P, atol=1e-9, rtol=0), (source, number)
            rank = rank_of(total_BP[at], int(chosen["target"].iloc[at]))
            assert described[f"without_{source}"].iloc[at] == rank
    for source in set(SOURCES) - set(totals):
        assert described[f"without_{source}"].isna().all()
    total_BP = base.score(base.batch(chosen["row"].tolist())).total
    for source, without_BP in totals.items():
        assert not torch.allclose(without_BP, total_BP, atol=1e-6), f"{source} moves nothing, and tests nothing"


@pytest.mark.parametrize("kind", ["paper", "evidence", "weighed"])
def test_rows_add_up_and_ranks_are_the_records(kind: str) -> None:
    """Centred points of all rows add up to the centred total; the rank is that of the case scored alone."""
    base = predictor(kind)
    described = describe_removals(base, base.cases)
    assert list(described) == [*COLUMNS, "points_graph_token"]
    total = described[[f"points_{row}" for row in ROWS]].fillna(0.0).sum(axis=1)
    for number in range(0, len(base.cases), 5):
        edited_case = build_edited_case(base, number)
        total_P = edited_case.total_P
        assert total[number] == pytest.approx(float(total_P[edited_case.target] - total_P.mean()), abs=1e-9)
        assert described["rank"][number] == rank_of(total_P, edited_case.target)
        without = replace(edited_case.variant, off=frozenset({"graph_token"}))
        off_P = base.score_counterfactuals([without])[0]
        token = float(total_P.log_softmax(0)[edited_case.target] - off_P.log_softmax(0)[edited_case.target])
        assert described["points_graph_token"][number] == pytest.approx(token, abs=1e-9)


TABLE = pd.DataFrame(
    {
        "case": [0, 1, 2, 3],
        "rank": [3.0, 5.0, 5.5, 9.0],
        **{f"without_{source}": [np.nan] * 4 for source in SOURCES},
        "without_two_hops": [6.0, 5.0, 9.0, 4.0],
        "without_core": [2.0, 5.5, 1.0, 10.0],
    }
)


def test_recovered_means_found_with_and_lost_without() -> None:
    """At K = 5: case 0 needs two hops, case 1 the core, case 2 is missed because of the core, case 3 of two hops."""
    causes, obstacles = causes_of(TABLE, 5), obstacles_of(TABLE, 5)
    assert causes["two_hops"].tolist() == [True, False, False, False]
    assert causes["core"].tolist() == [False, True, False, False]
    assert obstacles["two_hops"].tolist() == [False, False, False, True]
    assert obstacles["core"].tolist() == [False, False, True, False]
    assert not causes["distance"].any() and not obstacles["distance"].any()
    assert recovered_by(TABLE, "two_hops", 5).tolist() == causes["two_hops"].tolist()
    counts: Any = count_causes(TABLE, 5).set_index("source")
    assert counts.loc["core"].tolist() == [True, 1, 1] and counts.loc["distance"].tolist() == [False, 0, 0]
    assert causes_of(TABLE, 9)["core"].tolist() == [False, False, False, True]
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        causes_of(TABLE, 0)
    with pytest.raises(ConfigError, match="unknown source of evidence 'magic'"):
        recovered_by(TABLE, "magic", 5)


def test_the_table_goes_on_where_it_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off after two pieces, the second call makes the rest; the whole equals one made at once."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    monkeypatch.setattr("analysis.records.table_cache.ROWS_PER_PIECE", 10)
    base = predictor("paper")
    rows, told = len(base.cases), list[int]()

    def stop(done: int, total: int) -> None:
        told.append(done)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        removal_table("d" * 64, "c" * 64, lambda: base, rows=rows, progress=stop)
    assert len(list(tmp_path.rglob("*.pieces/*.parquet"))) == 2
    opened = []

    def reopen() -> Predictor:
        opened.append(1)
        return base

    whole = removal_table("d" * 64, "c" * 64, reopen, rows=rows)
    assert opened and not list(tmp_path.rglob("*.pieces"))
    pd.testing.assert_frame_equal(whole, describe_removals(base, base.cases), atol=1e-12, rtol=0)

    def closed() -> Predictor:
        raise AssertionError("a kept table needs no model")

    assert removal_table("d" * 64, "c" * 64, closed, rows=rows).equals(whole)


def test_filters_are_causes_where_there_are_removals() -> None:
    """With removals ``hops`` are the cases lost without two hops, whoever was there before; without, what coincides."""
    records = pd.DataFrame(
        {
            "case": [0, 1, 2, 3],
            "rank": TABLE["rank"],
            "transition_count": [0, 0, 0, 0],
            "in_history": [True, False, False, False],
            "within_two_hops": [True, True, True, True],
            "num_better": [2, 4, 5, 8],
            "num_tied": [1, 1, 1, 1],
        }
    )
    markov = records.assign(rank=50.0, num_better=49)
    assert filter_cases(records, markov, ["hops"], k=5).tolist() == [1]
    assert filter_cases(records, markov, ["hops"], k=5, removals=TABLE).tolist() == [0]
    assert filter_cases(records, markov, ["history"], k=5).tolist() == [0]
    assert filter_cases(records, markov, ["history"], k=5, removals=TABLE).tolist() == []
