"""Long-tail tables against arithmetic that a reader can redo, and against the metrics of the evaluation."""

import numpy as np
import pandas as pd
import pytest

from analysis.long_tail.accuracy_tables import (
    accuracy_by_cohort,
    accuracy_by_count,
    accuracy_by_group,
    accuracy_by_user,
    lead_models,
    paired_difference,
    rare_accuracy,
    table_of_models,
    tail_share,
    transition_distribution,
)
from analysis.records.accuracy import metric_values
from analysis.records.bootstrap import UserBootstrap, group_means, interval
from analysis.records.case_selection import CaseSelection
from recap.errors import ConfigError
from recap.evaluation.metrics import METRICS, metrics_by_group


def records_of(*rows: tuple[int, int, int, int, int, int, bool, bool]) -> pd.DataFrame:
    """Records from (user, source, target, transition count, destination count, better, visited, near)."""
    names = "user source target transition_count destination_count num_better in_history within_two_hops"
    table = pd.DataFrame(rows, columns=names.split())
    rank = table["num_better"] + 1.0
    return table.assign(case=np.arange(len(rows)), num_tied=1, rank=rank, reciprocal_rank=1 / rank)


SIX = records_of(
    (0, 1, 2, 0, 5, 0, True, True),
    (0, 1, 2, 0, 5, 30, True, True),
    (1, 1, 2, 0, 5, 30, False, True),
    (1, 3, 4, 1, 15, 0, True, False),
    (1, 5, 6, 4, 150, 3, True, True),
    (2, 5, 7, 25, 900, 40, False, False),
)


def test_bins_over_cases() -> None:
    """Three unseen cases with one hit: a third. Empty bins stay, with n = 0 and no value, also without any case."""
    table = accuracy_by_count(SIX, "transition_count", "hr20")
    assert table["bin"].tolist() == ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10+"]
    assert table["n"].tolist() == [3, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    np.testing.assert_allclose(table["value"].iloc[[0, 1, 4, 10]], [1 / 3, 1, 1, 0])
    assert table["value"].iloc[[2, 3, 5]].isna().all() and table["lower"].iloc[2:4].isna().all()
    places = accuracy_by_count(SIX, "destination_count", "mrr")
    assert places["bin"].tolist() == ["0–9", "10–19", "20–49", "50–99", "100–199", "200+"]
    assert places["n"].tolist() == [3, 1, 0, 0, 1, 1]
    assert places["value"].iloc[0] == pytest.approx((1 + 1 / 31 + 1 / 31) / 3)
    empty = accuracy_by_count(SIX.iloc[:0], "transition_count", "hr20")
    assert empty["n"].sum() == 0 and empty["value"].isna().all()


def test_every_user_has_a_row() -> None:
    """User 1 has three of the six cases, one first and two in the top 20; users 3 and 4 have none, and come last."""
    table = accuracy_by_user(SIX, 5)
    assert table["user"].tolist() == [1, 0, 2, 3, 4] and table["n"].tolist() == [3, 2, 1, 0, 0]
    np.testing.assert_allclose(table["hr20"].iloc[:3], [2 / 3, 1 / 2, 0])
    assert table["hr1"].iloc[0] == pytest.approx(1 / 3) and table["mrr"].iloc[3:].isna().all()


def test_cohorts_follow_eta() -> None:
    """With eta 1 four cases are tail: two near and visited (one hit), one near only, one visited only."""
    table = accuracy_by_cohort(SIX, "hr20")
    assert table["n"].tolist() == [2, 1, 1, 0]
    np.testing.assert_allclose(table["value"].iloc[:3], [0.5, 0, 1])
    assert accuracy_by_cohort(SIX, "hr20", eta=4)["n"].tolist() == [3, 1, 1, 0]


def test_groups_agree_with_the_evaluation() -> None:
    """Over all and frequent cases the values are the evaluation's own; the two rare panels add up to its tail."""
    expected = metrics_by_group(SIX)
    for metric in METRICS:
        table = accuracy_by_group({"A": SIX}, metric).set_index("group")
        for group in ("all", "head"):
            assert table.loc[group, "n"] == expected[group]["n"]
            assert table.loc[group, "value"] == pytest.approx(expected[group][metric])
        rare = table.loc[["tail_known", "tail_new"]]
        assert rare["n"].tolist() == [3, 1]
        total = (rare["n"] * rare["value"]).sum()
        assert total == pytest.approx(float(expected["tail"]["n"] or 0) * float(expected["tail"][metric] or 0))


def test_lead_is_paired_and_names_the_best_other_model() -> None:
    """A model that wins every case leads by exactly one with an interval of no width; the best comes second."""
    best = SIX.assign(num_better=0)
    worst = SIX.assign(num_better=50)
    middle = SIX.assign(num_better=[0, 50, 50, 50, 50, 50])
    table = accuracy_by_group({"best": best, "worst": worst, "middle": middle}, "hr20")
    assert list(dict.fromkeys(table["model"])) == ["best", "middle", "worst"]
    row = table[(table["model"] == "best") & (table["group"] == "all")].iloc[0]
    assert row["baseline"] == "middle" and row["lead"] == pytest.approx(5 / 6)
    row = table[(table["model"] == "best") & (table["group"] == "head")].iloc[0]
    assert (row["lead"], row["lead_lower"], row["lead_upper"]) == (1.0, 1.0, 1.0)
    wide = table_of_models(table).set_index("model")
    assert wide.loc["best", "head"] == 1.0 and wide.loc["worst", "all_upper"] == 0.0


def test_the_picture_shows_six_models_at_most() -> None:
    """Own, curves alone, two counts, the best published model and the better of popularity and distance."""
    names = ["RECAP", "Visit count", "Markov", "Nearest", "LoTNext", "REPLAY", "Feature curves", "Popularity"]
    names += ["Count + Markov", "RECAP paper"]
    groups = pd.DataFrame({"model": names, "group": "all", "value": 0.5})
    shown = lead_models(groups, ["REPLAY", "LoTNext"])["model"].tolist()
    assert shown == ["RECAP", "Visit count", "Nearest", "LoTNext", "Feature curves", "Count + Markov"]


def test_rare_accuracy_by_hand() -> None:
    """Two of three rare cases at known places are found, none of one at a new place, one of two frequent ones."""
    found = rare_accuracy(SIX, "hr20")
    assert (found.n_known, found.n_new) == (3, 1)
    assert (found.known, found.new) == pytest.approx((2 / 3, 0.0))
    assert found.known_behind.value == pytest.approx(1 / 2 - 2 / 3)
    assert found.new_behind.value == pytest.approx(2 / 3)
    assert paired_difference(SIX.assign(num_better=0), SIX.assign(num_better=50), "hr20") == (1.0, 1.0, 1.0)


def test_distribution_adds_up() -> None:
    """Four distinct steps with counts 25, 4, 1, 0; half of them, and four of six cases, are tail."""
    table = transition_distribution(SIX)
    assert table["transition_count"].tolist() == [25, 4, 1, 0]
    assert table["pairs"].tolist() == [1, 1, 1, 1] and table["cases"].tolist() == [1, 1, 1, 3]
    assert table["to_share"].iloc[-1] == pytest.approx(1)
    assert tail_share(table, 1) == pytest.approx(0.5)
    assert tail_share(table, 1, "case_share") == pytest.approx(4 / 6)


def test_bootstrap_means_by_hand() -> None:
    """With the draws in hand, a sample's mean is the weighted mean over its users, repeated users counted again."""
    values, users = np.array([1.0, 0.0, 1.0]), np.array([7, 7, 9])
    bootstrap = UserBootstrap(users, samples=20, seed=3)
    drawn = bootstrap.means(values, np.zeros(3, dtype=int), 1)[:, 0]
    weights = bootstrap.weights_BU
    np.testing.assert_allclose(drawn, (weights[:, 0] * 1 + weights[:, 1]) / (weights[:, 0] * 2 + weights[:, 1]))
    assert set(np.round(drawn, 6)) <= {0.5, 1.0, round(2 / 3, 6)}


def test_bootstrap_of_many_users_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights kept small and taken a block at a time: the same draws and means; the interval holds the mean."""
    rng = np.random.default_rng(2)
    values, users, groups = rng.random(600), np.arange(600) % 130, np.arange(600) % 3
    whole = UserBootstrap(users, samples=250)
    drawn, (_, mean) = whole.means(values, groups, 3), group_means(values, groups, 3)
    low, high = interval(drawn)
    assert (low < mean).all() and (mean < high).all()
    monkeypatch.setattr("analysis.records.bootstrap._WHOLE_WEIGHTS", 0)
    small = UserBootstrap(users, samples=250)
    assert small.weights_BU.dtype == np.uint16 and np.array_equal(small.weights_BU, whole.weights_BU)
    np.testing.assert_allclose(small.means(values, groups, 3), drawn, rtol=1e-14)


def test_refusals_name_the_choices() -> None:
    """Unknown metric, and a reference of other cases."""
    with pytest.raises(ConfigError, match="hr1, hr5"):
        metric_values(SIX, "accuracy")
    with pytest.raises(ConfigError, match="other cases"):
        accuracy_by_count(SIX, "transition_count", "hr20", reference=SIX.iloc[:3])


@pytest.mark.parametrize(
    ("text", "chosen", "cases"),
    [
        ("step:0:0", CaseSelection.of_bin("transition_count", 0, 0), [0, 1, 2]),
        ("place:200:-1", CaseSelection.of_bin("destination_count", 200, -1), [5]),
        ("place:10:19", CaseSelection.of_bin("destination_count", 10, 19), [3]),
        ("cohort:1:0:1", CaseSelection.of_cohort(True, False, 1), [3]),
    ],
)
def test_a_link_selects_the_cases_that_a_table_counts(text: str, chosen: CaseSelection, cases: list[int]) -> None:
    assert CaseSelection.parse(text) == chosen and chosen.text == text
    assert np.flatnonzero(chosen.mask(SIX)).tolist() == cases


@pytest.mark.parametrize("text", ["", "step", "step:a:b", "step:0:0:0", "cohort:2:0:1", "<b>", "step:9999999:0"])
def test_bad_selections_are_refused(text: str) -> None:
    """Anything else from an address is an error with the forms in it."""
    with pytest.raises(ConfigError, match="step:0:0"):
        CaseSelection.parse(text)
