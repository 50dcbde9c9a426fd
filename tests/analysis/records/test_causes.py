"""Ablations: each scored by itself, what "found by" means; kept tables; the first case; what a new place is."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.long_tail.lift import _choose_cases
from analysis.long_tail.misses import describe_misses
from analysis.records.ablations import ABLATIONS, COLUMNS, GROUP_NAMES, ablations_of, describe_ablations, slug
from analysis.records.case_filters import filter_masks
from analysis.records.case_groups import COHORTS, PANELS, cohort_of_cases, panel_of_cases
from analysis.records.case_selection import CaseSelection
from analysis.records.causes import (
    LostHits,
    ablation_worth,
    ablations_key,
    causes_of,
    count_lost_hits,
    found_by,
    obstacles_of,
)
from analysis.records.first_case import SHORTLIST, first_case
from analysis.records.table_cache import TableKey, kept_table, table_in_pieces
from analysis.workspace import Workspace
from recap import columns as c
from recap.asking.counterfactuals import GRAPH_TOKEN, Counterfactual
from recap.asking.predictor import Predictor
from recap.errors import ConfigError
from recap.evaluation.cases import is_known_place
from recap.evaluation.ranks import rank_of
from recap.evaluation.records import write_records
from recap.evaluation.scoring import rank_cases
from recap.model.recap import Interventions
from recap.storage.cache_keys import COMPUTED
from tests.analysis.planted import MODELS, predictor_of, small_predictor
from tests.learn_worlds import DEMO
from tests.worlds import small_city

pytestmark = pytest.mark.usefixtures("home")
PAPER = {"history", "two_hops", "past_visits", "core", "correction", "graph_token"}
KINDS = {
    "paper": PAPER,
    "corrected curves": set(ABLATIONS),
    "curves alone": set(ABLATIONS) - {"core", "correction", "graph_token"},
}
"""What can be left out of the small models."""


@cache
def predictor(kind: str) -> Predictor:
    return small_predictor(**MODELS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_every_rank_is_that_of_the_case_scored_alone(kind: str) -> None:
    """Each ablation equals a counterfactual copy that leaves out the same, several at once to the last digit, and
    contributions add up to the score.
    """
    base = predictor(kind)
    described = describe_ablations(base, base.cases)
    assert list(described) == list(COLUMNS)
    assert {name for name in ABLATIONS if described[f"without_{name}"].notna().all()} == KINDS[kind]
    assert described[[f"without_{name}" for name in set(ABLATIONS) - KINDS[kind]]].isna().all(axis=None)
    groups = {slug(term.group) for term in base.scorer.terms}
    total_N = described[[f"contribution_{name}" for name in groups]].sum(axis=1)
    assert groups <= set(GROUP_NAMES)
    for number in range(0, len(base.cases), 7):
        row, target = int(base.cases["row"][number]), int(base.cases["target"][number])
        total_P = base.score(base.histories([row])).total[0]
        assert described["rank"][number] == rank_of(total_P, target)
        assert total_N[number] == pytest.approx(float(total_P[target]), abs=1e-9)
        for name, off in ablations_of(base.scorer).items():
            without_P = base.score_counterfactuals([Counterfactual(base.history(base.moment(number)), off=off)])[0]
            assert described[f"without_{name}"][number] == rank_of(without_P, target), name
    scorer, batch = base.scorer, base.histories(base.cases["row"].tolist())
    sets = [frozenset[str](), *ablations_of(scorer).values()]
    totals = list(scorer.scores_without_each(batch, sets))
    assert torch.equal(totals[0], scorer.score(batch).total)
    for terms, total_BP in zip(sets, totals, strict=True):
        if GRAPH_TOKEN not in terms:
            assert torch.equal(total_BP, scorer.score(batch, Interventions(frozenset(terms))).total)


TABLE = pd.DataFrame(
    {
        "case": [0, 1, 2, 3],
        "rank": [3.0, 5.0, 5.5, 9.0],
        "num_tied": [1, 1, 2, 1],
        **{f"without_{name}": [np.nan] * 4 for name in ABLATIONS},
        "without_two_hops": [6.0, 5.0, 9.0, 4.0],
        "without_core": [2.0, 5.5, 1.0, 10.0],
        "tied_without_two_hops": 1,
        "tied_without_core": [1, 2, 1, 1],
    }
)


def test_found_by_means_found_with_and_lost_without() -> None:
    """At K = 5: case 0 needs two hops, case 1 the core, case 2 is missed because of the core, case 3 of two hops."""
    causes, obstacles = causes_of(TABLE, 5), obstacles_of(TABLE, 5)
    for found, two_hops, core in ((causes, [1, 0, 0, 0], [0, 1, 0, 0]), (obstacles, [0, 0, 0, 1], [0, 0, 1, 0])):
        assert found["two_hops"].tolist() == two_hops and found["core"].tolist() == core
        assert not found["history"].any()
    assert found_by(TABLE, "two_hops", 5).tolist() == causes["two_hops"].tolist()
    assert causes_of(TABLE, 9)["core"].tolist() == [False, False, False, True]
    assert count_lost_hits(TABLE, 5) == LostHits(5, 2, {"two_hops": 1, "core": 1})
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        causes_of(TABLE, 0)
    with pytest.raises(ConfigError, match="unknown ablation 'magic'"):
        found_by(TABLE, "magic", 5)


def test_a_group_is_worth_what_is_lost_without_it() -> None:
    """By hand at K = 5: a case at ranks 5 and 6 is half found, so 2.5 are, 2 without two hops, 2.5 without the core."""
    worth: Any = ablation_worth(TABLE, np.arange(4), 5).set_index("ablation")
    assert worth.index.tolist() == ["two_hops", "core"] and set(worth["n"]) == {4}
    assert worth.loc["two_hops", "hr"] == 0.125 and worth.loc["core", "hr"] == 0
    tie = (1 / 5 + 1 / 6) / 2  # of the third case; 1 / 5.5 would be the mean rank's
    whole = 1 / 3 + 1 / 5 + tie + 1 / 9
    assert worth.loc["core", "mrr"] == pytest.approx((whole - (1 / 2 + tie + 1 + 1 / 10)) / 4)
    assert worth.loc["two_hops", "mrr"] == pytest.approx((whole - (1 / 6 + 1 / 5 + 1 / 9 + 1 / 4)) / 4)
    assert (worth["mrr_low"] <= worth["mrr"]).all() and (worth["mrr"] <= worth["mrr_high"]).all()
    assert (worth["hr_low"] < 0).all() and (worth["hr_high"] > 0).all()


def test_ties_are_counted_as_in_the_records() -> None:
    """A model of zeros ties places: better and tied places are those of an evaluation."""
    base = predictor_of(small_city())  # of its own: it is changed
    with torch.no_grad():
        for weight in base.scorer.model.parameters():
            weight.zero_()
    table, ranked = describe_ablations(base, base.cases), rank_cases(base.scorer, base.cases, base.checkins)
    assert (table[c.NUM_TIED] > 2).any()
    for name in (c.NUM_BETTER, c.NUM_TIED, c.RANK):
        assert table[name].tolist() == ranked[name].tolist()
    assert table["tied_without_core"].equals(table[c.NUM_TIED]) and (table["tied_kind_rank"] < table[c.NUM_TIED]).any()
    assert (ablation_worth(table, base.cases[c.USER].to_numpy())[["hr", "mrr"]] == 0).all(axis=None)


def test_the_table_goes_on_where_it_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off after two pieces, the second call makes the rest; the whole equals one made at once."""
    monkeypatch.setattr("analysis.records.table_cache.ROWS_PER_PIECE", 10)
    base = predictor("paper")
    key, rows, made = ablations_key("d" * 64, "c" * 64), len(base.cases), list[int]()

    def piece(start: int, end: int) -> pd.DataFrame:
        made.append(start)
        return describe_ablations(base, base.cases.iloc[start:end])

    def stop(done: int, total: int) -> None:
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        table_in_pieces(key, piece, rows=rows, progress=stop)
    assert len(list(tmp_path.rglob("*.pieces/*.parquet"))) == 2
    whole = table_in_pieces(key, piece, rows=rows)
    assert made == list(range(0, rows, 10)) and not list(tmp_path.rglob("*.pieces"))
    pd.testing.assert_frame_equal(whole, describe_ablations(base, base.cases), atol=1e-12, rtol=0)
    kept = table_in_pieces(key, lambda start, end: pytest.fail("a kept table needs no model"), rows=rows)
    assert kept.equals(whole)


def kept(made: list[int], *, rows: int = 2, said: str = "d", **options: Any) -> pd.DataFrame:
    def make() -> pd.DataFrame:
        made.append(rows)
        return pd.DataFrame({"n": range(rows)})

    return kept_table(key(said), make, rows=rows, **options)


def ship(bundle: Path) -> dict[str, Any]:
    """A bundle that comes with the table; the option that reads it."""
    write_records(pd.DataFrame({"n": [7, 8]}), key().shipped_in(bundle), key().metadata)
    return {"bundle": bundle}


def key(said: str = "d") -> TableKey:
    """Of datasets whose hashes begin alike."""
    return TableKey("0" * 60 + said, "model", "test", "misses")


def test_made_once_and_again_where_it_does_not_fit(tmp_path: Path) -> None:
    """Replaced with another length, other metadata, or no table in the file; a read-only reader leaves no file."""
    made: list[int] = []
    kept(made, keep=False)
    kept(made, keep=False)
    assert made == [2, 2] and not [path for path in tmp_path.rglob("*") if path.is_file()]
    made.clear()
    assert kept(made).equals(kept(made)) and made == [2]
    assert len(kept(made, rows=3)) == 3
    kept(made, rows=3, said="other")
    key("other").cached().write_bytes(b"no table")
    kept(made, rows=3, said="other")
    kept(made, rows=3, said="other")
    assert made == [2, 3, 3, 3]


def test_a_bundle_comes_with_its_tables(tmp_path: Path) -> None:
    """What a bundle ships is read and nothing is kept; of another dataset or length it is as if not there."""
    made, bundle = list[int](), ship(tmp_path / "bundle")
    assert kept(made, **bundle)["n"].tolist() == [7, 8]
    assert not made and not key().cached().exists()
    kept(made, rows=3, **bundle)
    kept(made, said="e", **bundle)
    assert made == [3, 2]
    assert kept(made, **bundle)["n"].tolist() == [7, 8], "the cache has another one"


def test_a_table_of_an_earlier_version_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another version computed is as if not there, shipped or kept, of a checkpoint or a baseline by name."""
    made, bundle = list[int](), ship(tmp_path / "bundle")
    kept(made)
    for module in ("storage.cache_keys", "evaluation.records"):
        monkeypatch.setattr(f"recap.{module}.COMPUTED", COMPUTED + 1)
    assert not key().is_kept(None)
    assert kept(made, **bundle)["n"].tolist() == [0, 1] and made == [2, 2]
    kept(made)
    assert made == [2, 2], "kept by this version"


def test_columns_that_are_not_asked_for_stay_on_the_disk() -> None:
    """Whether the table was made or read, only what is asked for comes; the file keeps all of it."""
    table = pd.DataFrame({"n": [1, 2], "list": [[3, 4], [5, 6]]})
    for _ in range(2):
        found = kept_table(key(), lambda: table, rows=2, without=("list",))
        assert list(found) == ["n"]
    assert [list(row) for row in kept_table(key(), pd.DataFrame, rows=2)["list"]] == [[3, 4], [5, 6]]


CASES = pd.DataFrame(
    {  # 0 seen; 1 missed; 2 no path; 3 stays in place; 4 past visits alone at work; 5 and 6 both; 7 both, ranked 2nd
        c.TRANSITION_COUNT: [1, 0, 0, 0, 0, 0, 0, 0],
        c.SOURCE: [0, 0, 0, 5, 0, 0, 0, 0],
        c.TARGET: [5, 5, 5, 5, 5, 5, 5, 5],
        c.IN_HISTORY: [True] * 8,
        c.TWO_STEP_WALK: [True, True, False, True, True, True, True, True],
    }
)
RECORDS = pd.DataFrame({c.RANK: [1.0, 30.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]})


def ablations(hops: str) -> pd.DataFrame:
    table = pd.DataFrame(np.nan, index=range(8), columns=list(COLUMNS))
    table["without_past_visits"] = [9.0, 99.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0]
    table[f"without_{hops}"] = [3.0, 40.0, 1.0, 3.0, 1.0, 2.0, 4.0, 8.0]
    return table


def test_the_most_telling_case_comes_first() -> None:
    """Case 6: 1st, 4th without two-hop paths, 9th without past visits; the paper's model has the token instead.

    Without ablations the first found new case with both; without records the first such case; else any.
    """
    assert first_case(CASES, RECORDS, ablations("two_hop_paths")) == 6
    assert first_case(CASES, RECORDS, ablations("graph_token")) == 6
    added = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -0.01, 1.0]  # past visits that subtract are less telling
    assert first_case(CASES, RECORDS, ablations("two_hop_paths").assign(contribution_past_visits=added)) == 5
    assert first_case(CASES, RECORDS, None) == 4
    assert first_case(CASES, None, None) == 1
    assert first_case(CASES.iloc[[0]].reset_index(drop=True), None, None) == 0


def test_ablations_that_are_not_kept_are_run_for_a_short_list() -> None:
    """The same case as with kept ones; without records the ranks come from the ablations."""
    asked: list[pd.DataFrame] = []

    def ablate(some: pd.DataFrame) -> pd.DataFrame:
        asked.append(some)
        return ablations("two_hop_paths").assign(rank=RECORDS[c.RANK]).loc[some.index].reset_index(drop=True)

    assert first_case(CASES, RECORDS, None, ablate) == 6
    assert first_case(CASES, None, None, ablate) == 6
    assert first_case(CASES, RECORDS, ablations("graph_token"), ablate) == 6
    assert len(asked) == 2
    first_case(CASES.loc[[6] * 40], None, None, ablate)
    assert len(asked[-1]) == SHORTLIST


def test_staying_is_no_new_place_anywhere() -> None:
    """The city has cases that stay at a place of the first visit; every table, filter and flag calls them known."""
    opened = Workspace.open(DEMO / "dataset", DEMO / "checkpoint")
    cases, ablations = opened.cases, opened.kept_ablations()
    known = is_known_place(cases)
    stays = ((cases[c.SOURCE] == cases[c.TARGET]) & ~cases[c.IN_HISTORY]).to_numpy()
    rare = (cases[c.TRANSITION_COUNT] <= 1).to_numpy()
    assert (stays & rare).any() and ablations is not None
    assert (ablations[c.IS_KNOWN].to_numpy(bool) == known).all()
    assert (panel_of_cases(cases)[rare & ~known] == PANELS.index("tail_new")).all()
    assert (panel_of_cases(cases)[rare & known] == PANELS.index("tail_known")).all()
    kinds = cohort_of_cases(cases)[rare]
    assert [COHORTS[kind][0] for kind in kinds] == known[rare].tolist()
    chosen = [CaseSelection.of_cohort(False, near, 1).mask(cases) for near in (True, False)]
    assert not (stays & np.logical_or(*chosen)).any()
    assert describe_misses(opened.dataset, cases, ablations)["within_reach"][stays].all()
    records, markov = opened.records(), opened.records().assign(rank=1e6)
    masks = filter_masks(records, markov)
    rows, asked = _choose_cases(opened, 10**6, 0)
    assert not masks["hops"][stays].any() and not stays[rows[asked["unvisited"]]].any()
