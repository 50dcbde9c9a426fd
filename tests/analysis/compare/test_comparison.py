"""Differences, cells, verdicts and words on tables that a reader can count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.compare import headline
from analysis.compare.cells import CELLS, HitSelection, cell_mask, listed_cases
from analysis.compare.comparison import METRICS, PairedCases, compare
from analysis.compare.paired import compare_records
from recap import columns as c
from recap.errors import ConfigError, RecapError
from tests.analysis.compare.tables import records, short_lists, side

SEEN = [0, 0, 0, 1, 1, 2, 5, 12]


def test_counts_and_differences_by_hand() -> None:
    """Eight cases: B finds two that A misses, A one that B misses; by group and by bin."""
    a = side("A", records([30, 40, 1, 1, 25, 1, 2, 3], seen=SEEN))
    b = side("B", records([1, 2, 1, 30, 26, 1, 2, 3], seen=SEEN))
    found = compare(PairedCases(a.cases), a, b, "hr20")
    every = found.row("all")
    assert every[["n", "both", "only_a", "only_b", "neither"]].tolist() == [8, 4, 1, 2, 1]
    assert every[["a", "b", "difference"]].tolist() == pytest.approx([5 / 8, 6 / 8, 1 / 8])
    assert found.row("never")[["n", "a", "b"]].tolist() == pytest.approx([3, 1 / 3, 1.0])
    assert found.row("once")[["n", "only_a", "neither"]].tolist() == [2, 1, 1]
    assert found.row("head")["n"] + found.row("tail")["n"] == 8
    assert found.bins["n"].tolist() == [3, 2, 1, 0, 0, 1, 0, 0, 0, 0, 1]
    assert np.isnan(found.bins["difference"][3]) and np.isnan(found.bins["sign_flip_p"][3])
    assert found.cohorts["n"].sum() == 5  # the tail
    assert found.seeds is None and found.users == 8


@pytest.mark.parametrize("metric", METRICS)
def test_the_same_difference_as_experiments_report(metric: str) -> None:
    """Overall and tail values and intervals are `compare_records`'s, which experiments and the model card use."""
    rng = np.random.default_rng(1)
    users, seen = rng.integers(0, 9, 60).tolist(), rng.integers(0, 4, 60).tolist()
    first, second = (records(rng.integers(1, 60, 60).tolist(), users=users, seen=seen) for _ in range(2))
    a, b = side("A", first), side("B", second)
    found = compare(PairedCases(first), a, b, metric)
    told = compare_records(second, first, metrics=(metric,), groups=("all", "head", "tail", "unseen"))
    for name, row in zip(("all", "head", "tail", "never"), told.to_dict(orient="records"), strict=True):
        mine = found.row(name)
        assert [mine["b"], mine["a"], mine["low"], mine["high"]] == pytest.approx(
            [row["value"], row["baseline"], row["low"], row["high"]], abs=1e-12
        )


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(0, 3)), min_size=1, max_size=25))
def test_exchanging_the_sides_turns_signs(cases: list[tuple[int, int, int]]) -> None:
    """B beside A is A beside B with signs turned and cells exchanged; the four cells are all cases."""
    first, second, seen = (list(column) for column in zip(*cases, strict=True))
    a, b = side("A", records(first, seen=seen)), side("B", records(second, seen=seen))
    paired = PairedCases(a.cases)
    there, back = compare(paired, a, b, "hr5").rows, compare(paired, b, a, "hr5").rows
    np.testing.assert_allclose(there["difference"], -back["difference"], atol=1e-12)
    np.testing.assert_allclose(there["sign_flip_p"], back["sign_flip_p"], atol=1e-12)
    assert there["only_a"].tolist() == back["only_b"].tolist()
    assert (there[list(CELLS)].sum(axis=1) == there["n"]).all()
    masks = [cell_mask(a, b, 5, cell) for cell in CELLS]
    assert (np.sum(masks, axis=0) == 1).all()


def test_a_scorer_beside_itself_is_too_close_to_tell() -> None:
    """No difference, p = 1, and words that say no more."""
    a = side("A", records([1, 5, 30, 2], seen=[0, 1, 2, 3]))
    found = compare(PairedCases(a.cases), a, a, "hr20")
    assert found.row("all")[["difference", "mcnemar_p", "sign_flip_p"]].tolist() == [0.0, 1.0, 1.0]
    assert headline.comparison_finding(found) == "A and A are too close to tell on HR@20."


def test_words_follow_the_stricter_test() -> None:
    """Ten cases gained by one user: McNemar calls it clear, the flip over users cannot; the words follow the flip."""
    users = [0] * 10 + list(range(1, 11))
    a = side("A", records([30] * 10 + [1] * 10, users=users))
    b = side("B", records([1] * 20, users=users))
    found = compare(PairedCases(a.cases), a, b, "hr20")
    assert found.row("all")["mcnemar_p"] < 0.01 and found.row("all")["sign_flip_p"] == 1.0
    assert found.row("all")["verdict"] == "close"
    assert "too close to tell" in headline.comparison_finding(found)


def test_words_where_it_is_clear() -> None:
    """Twelve users gain one case each on steps never seen and nothing else changes."""
    users = list(range(12)) * 2
    seen = [0] * 12 + [3] * 12
    a = side("A", records([30] * 12 + [1] * 12, users=users, seen=seen))
    b = side("B", records([1] * 24, users=users, seen=seen))
    found = compare(PairedCases(a.cases), a, b, "hr20")
    assert headline.comparison_finding(found) == (
        "B finds 12 more of 24 cases than A. That is clear only on steps never seen."
    )
    assert headline.where_it_lies(found) == (
        "B is better on steps never seen; on steps seen twice or more the two are too close to tell."
    )
    assert headline.cells_sentence(found).startswith("Within 20, B finds 12 cases that A misses, and misses 0")
    assert headline.strictness_sentence(found) == (
        "12 against 0: p = 0.0005 by exact McNemar over cases, 0.0005 by all sign flips over users; "
        "words follow the larger."
    )


def test_seeds_by_hand() -> None:
    """A's two seeds differ by 0.25 in HR@1: sd 0.177, t of one degree 12.7, so two seeds may differ by 3.18."""
    a = side("A", records([1, 1, 2, 2]), records([1, 2, 2, 2]), trained=True)
    b = side("B", records([1, 1, 1, 1]), trained=True)
    found = compare(PairedCases(a.cases), a, b, "hr1")
    assert found.seeds is not None
    row = found.seeds.set_index("group").loc["all"]
    assert row["difference"] == pytest.approx(1 - 0.375) and row["each"] == pytest.approx([0.5, 0.75])
    assert row["sd_a"] == pytest.approx(0.125 * 2**0.5) and np.isnan(row["sd_b"])
    assert row["band"] == pytest.approx(12.7062 * 2**0.5 * 0.125 * 2**0.5, rel=1e-4)
    assert not row["larger"]
    assert (
        headline.seeds_sentence(found) == "The difference over all cases is smaller than two seeds of one model differ."
    )
    assert found.unmeasured_seeds == ("B",)
    alone = compare(PairedCases(a.cases), b, side("C", records([1, 2, 3, 4])), "hr1")
    assert headline.seeds_sentence(alone) == "One seed of B: how far seeds alone differ is not measured."


def test_seeds_that_agree_make_a_small_difference_larger() -> None:
    """Where no seed changes anything, any difference is larger than the seeds'."""
    one = records([1, 1, 2, 2])
    a, b = side("A", one, one), side("B", records([1, 1, 1, 2]))
    for found in (compare(PairedCases(one), a, b, "hr1"), compare(PairedCases(one), b, a, "hr1")):  # whoever is better
        assert (
            headline.seeds_sentence(found)
            == "The difference over all cases is larger than two seeds of one model differ."
        )


def test_numbers_of_seeds_are_said_once() -> None:
    """Sentences call both models by their names; how many seeds there are stands in one of its own."""
    one, other = records([1, 1, 2, 2]), records([1, 1, 1, 1])
    a, b = side("Old", one, one), side("New", other, other)
    paired = PairedCases(one)
    assert compare(paired, a, b, "hr1").names == ("Old", "New")
    assert "Values are means over 2 seeds of each." in headline.sentences(compare(paired, a, b, "hr1"))
    alone = compare(paired, side("Markov", one), b, "hr1")
    assert (
        alone.names == ("Markov", "New") and headline.means_sentence(alone) == "Values are means over 2 seeds of New."
    )
    assert headline.means_sentence(compare(paired, side("Markov", one), side("New", other), "hr1")) == ""
    imported = side("Theirs (5 seeds)", one)  # one table, whatever it calls itself
    assert compare(paired, imported, b, "hr1").names == ("Theirs (5 seeds)", "New")
    assert headline.means_sentence(compare(paired, imported, side("New", other), "hr1")) == ""
    same = compare(paired, side("New", one), b, "hr1")
    assert same.names == ("New", "New (2 seeds)")


def test_several_seeds_find_a_case_by_majority() -> None:
    """Two of three seeds find the first case, one of three the second."""
    model = side("M", records([1, 9]), records([1, 9]), records([9, 1]))
    assert model.hits(1).tolist() == [True, False] and model.ranks().tolist() == [1, 9]


def test_cases_of_a_cell_largest_change_first() -> None:
    """Ranks side by side, the largest change on top; a truth outside an imported list comes before all."""
    a = side("A", records([30, 212, 25, 40]))
    short = short_lists(records([16, 16, 5, 4]), 20, [True, True, True, False])
    table = listed_cases(a, side("B", short), np.array([True, True, True, True]))
    assert table[c.CASE].tolist() == [3, 1, 2, 0]
    assert table["rank_a"].tolist() == [40, 212, 25, 30] and np.isnan(table["rank_b"][0])


def test_links_and_refusals() -> None:
    """A cell's text reads back; other texts and other cases are refused."""
    selection = HitSelection("markov", "0123456789ab", 20, "only_b")
    assert HitSelection.parse(selection.text) == selection
    for text in ("hits:a:b:0:both", "hits:a:b:20:most", "hits:a:b", "hits:A:b:20:both"):
        with pytest.raises(ConfigError, match="looks like hits"):
            HitSelection.parse(text)
    with pytest.raises(RecapError, match="same cases"):
        compare(PairedCases(records([1, 2])), side("A", records([1, 2])), side("B", records([1, 2, 3])), "hr1")


def test_short_lists_have_no_metric_beyond_them() -> None:
    """Lists of 10 places say nothing about HR@20; MRR is a lower bound, and the comparison says so."""
    short = short_lists(records([1, 60]), 10, [True, False])
    whole = side("A", records([1, 2]))
    paired = PairedCases(whole.cases)
    with pytest.raises(ConfigError, match="shortest list holds 10 places"):
        compare(paired, whole, side("B", short), "hr20")
    with pytest.raises(ConfigError, match="NDCG@20 is not known"):
        compare(paired, whole, side("B", short), "ndcg20")
    assert compare(paired, whole, side("B", short), "mrr", k=5).lower_bound
    assert not compare(paired, whole, whole, "mrr").lower_bound
