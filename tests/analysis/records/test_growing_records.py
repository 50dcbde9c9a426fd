"""Draws of the test cases: all alike, nested, ranked by all models, and at the end exactly the whole."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.long_tail.accuracy_tables import accuracy_by_group
from analysis.records.case_draw import draw_order, draw_sizes, is_drawn_first
from analysis.records.growing_records import LISTS, DrawnRecords, Ranker, grow_records, whole_records
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from analysis.records.table_cache import Pieces, TableKey
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.evaluation.metrics import METRICS, reciprocal_rank
from recap.evaluation.scoring import score_cases

KEY = TableKey("0" * 64, "model", "test", "every_step")


def planted(users: int, cases: int, found: np.ndarray) -> pd.DataFrame:
    """Records of a model that ranks the truth of ``found`` cases first and of all others 30th."""
    better = np.where(found, 0, 29)
    return pd.DataFrame(
        {
            c.CASE: np.arange(cases),
            c.USER: np.arange(cases) * users // cases,
            c.TRANSITION_COUNT: np.arange(cases) % 3,
            c.NUM_BETTER: better,
            c.NUM_TIED: 1,
            c.RANK: better + 1.0,
            c.RECIPROCAL_RANK: reciprocal_rank(better, np.ones(cases, dtype=np.int64)),
        }
    )


def look_up(records: pd.DataFrame) -> Ranker:
    return Ranker(lambda cases: records.iloc[cases[c.CASE].to_numpy()])


@given(st.integers(0, 5000), st.integers(1, 200))
def test_draws_grow_until_all_cases_are_in(num_cases: int, first: int) -> None:
    """Sizes at most double and end with all; the order holds every case once, so a draw holds the one before."""
    sizes = draw_sizes(num_cases, first)
    assert sizes[-1] == num_cases and sizes == sorted(set(sizes))
    assert all(larger <= 2 * smaller for smaller, larger in pairwise(sizes))
    assert sorted(draw_order(num_cases)) == list(range(num_cases))


def test_every_case_is_equally_likely() -> None:
    """4,000 seeds draw 5 of 20 cases, each about 1,000 times: chi-square (19 degrees of freedom) is below its .999."""
    drawn = np.concatenate([draw_order(20, seed)[:5] for seed in range(4000)])
    counts = np.bincount(drawn, minlength=20)
    # 1,000 expected; drawing 5 of 20 without replacement, a case's variance is 4000 * 1/4 * 3/4 = 750, and 19/20 of
    # that per degree of freedom.
    chi_square = ((counts - 1000) ** 2).sum() / (750 * 20 / 19)
    assert chi_square < 43.82


def test_small_data_are_never_drawn() -> None:
    """New York (7,056 cases, 4,980 places) is shown whole, 25,000 cases at 39,000 places are drawn from."""
    assert not is_drawn_first(7_056, 4_980)
    assert is_drawn_first(25_000, 39_000)


def test_the_interval_of_a_draw_covers_the_whole() -> None:
    """Of 200 draws of 150 from 3,000 cases, at least 180 intervals hold the exact HR@20 (190 expected, sd 3)."""
    found = np.random.default_rng(1).random(3000) < 0.4
    whole = planted(600, 3000, found)
    covered = 0
    for seed in range(200):
        draw = whole.iloc[np.sort(draw_order(3000, seed)[:150])]
        row = accuracy_by_group({"model": draw}, "hr20", samples=200).iloc[0]
        covered += int(row["lower"] <= found.mean() <= row["upper"])
    assert covered >= 180


def test_every_draw_is_the_same_for_all_models() -> None:
    """Both models' records are over the same cases, in case order, with what each says of them."""
    one, other = (planted(20, 150, np.arange(150) % step == 0) for step in (2, 3))
    told: list[int] = []
    draws = list(grow_records(one, {"one": look_up(one), "other": look_up(other)}, num_pois=10**6, report=told.append))
    assert [draw.num_drawn for draw in draws] == [64, 128, 150]
    for draw in draws:
        cases = np.sort(draw_order(150)[: draw.num_drawn])
        for key, whole in (("one", one), ("other", other)):
            pd.testing.assert_frame_equal(draw.models[key], whole.iloc[cases].reset_index(drop=True))
    assert draws[-1].is_whole and not draws[0].is_whole
    assert sum(told) == 2 * 150 and max(told) <= 4  # 4 million scores at a time among a million places


def test_all_drawn_is_the_whole_to_the_bit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, city_folder: Path, city_checkpoint: Path
) -> None:
    """Put together again, what figures are made of is that of one evaluation: ranks, lists, metrics, bit for bit.

    Scores agree to rounding: sums of a batch of another size may end in another last digit.
    """
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    opened = LoadedDataset.load(city_folder)
    model = NamedScorer.of_checkpoint(Checkpoint.load(city_checkpoint), opened)
    exact, pieces, sizes = model.score(opened), Pieces(KEY), [7, len(opened.cases)]
    ranker = Ranker(lambda cases: score_cases(model.scorer, cases, opened.checkins), pieces)
    *_, last = grow_records(opened.cases, {"model": ranker}, num_pois=opened.dataset.num_pois, sizes=sizes)
    assert not set(LISTS) & set(last.models["model"])
    whole = whole_records(last.models["model"], pieces, sizes)
    assert whole is not None
    scores = {c.SCORE, c.TOP_SCORES, *c.part_columns(map(str, exact)).values()}
    for name in exact:
        one, other = (np.array(table[name].tolist()) for table in (exact, whole))
        if name in scores:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        else:
            assert np.array_equal(one, other), name
    for metric in METRICS:
        one_table, other_table = (accuracy_by_group({"model": records}, metric) for records in (exact, whole))
        pd.testing.assert_frame_equal(one_table, other_table, check_exact=True)


def test_goes_on_where_it_was_cut_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A piece that lies on the disk is not ranked again, unless it is of other cases; a lost one says so."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    records, pieces = planted(5, 30, np.arange(30) % 2 == 0), Pieces(KEY)
    ranked: list[int] = []

    def rank(cases: pd.DataFrame) -> pd.DataFrame:
        ranked.extend(cases[c.CASE])
        return records.iloc[cases[c.CASE].to_numpy()]

    def grown(cases: pd.DataFrame) -> DrawnRecords:
        *_, last = grow_records(cases, {"model": Ranker(rank, pieces)}, num_pois=10, sizes=[10, len(cases)])
        return last

    first = grown(records)
    assert sorted(ranked) == list(range(30))
    pd.testing.assert_frame_equal(grown(records).models["model"], first.models["model"])
    assert len(ranked) == 30
    grown(records.iloc[:20])  # other cases are drawn from 20 than from 30
    assert len(ranked) == 50
    pieces.drop()
    assert whole_records(first.models["model"].drop(columns=c.RANK), pieces, [10, 30]) is None
