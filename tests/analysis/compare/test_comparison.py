"""Differences, significance, verdicts, words and the table of all models, on numbers that a reader can count."""

import tracemalloc
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from analysis.compare.cells import CELLS, HitSelection, cell_mask, listed_cases
from analysis.compare.comparison import PairedCases, compare
from analysis.compare.head_share import reweight
from analysis.compare.model_table import merge_seeds, model_table, write_table
from analysis.compare.paired import compare_means
from analysis.compare.side import records_of_ranks
from analysis.compare.significance import EXACT_USERS, RESAMPLES, SignFlips
from analysis.compare.with_pretrained import AgainstPretrained, compare_with_pretrained
from analysis.compare.words import (
    cases_sentence,
    comparison_headline,
    finds_sentence,
    p_value,
    row_cells,
    seeds_sentence,
)
from analysis.long_tail.accuracy_tables import accuracy_by_group
from analysis.long_tail.overview_headlines import models_table
from analysis.records.accuracy import is_hit, metric_values
from analysis.records.bootstrap import UserBootstrap
from recap import columns as c
from recap.asking.open_model import open_model
from recap.checkpoint import Checkpoint
from recap.errors import ConfigError, RecapError
from recap.evaluation.metrics import SHOWN_METRICS, hit_rate
from recap.evaluation.ranks import mean_rank
from recap.evaluation.scoring import evaluate
from recap.history.graph import TransitionGraph
from tests.analysis.compare.tables import records, short_lists, side
from tests.worlds import small_city

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
    assert found.seeds is None and found.users == 8


@pytest.mark.parametrize("metric", SHOWN_METRICS)
def test_the_same_difference_as_experiments_report(metric: str) -> None:
    """Overall and tail values and intervals are `compare_means`'s, which experiments and the model card use."""
    rng = np.random.default_rng(1)
    users, seen = rng.integers(0, 9, 60).tolist(), rng.integers(0, 4, 60).tolist()
    first, second = (records(rng.integers(1, 60, 60).tolist(), users=users, seen=seen) for _ in range(2))
    a, b = side("A", first), side("B", second)
    found = compare(PairedCases(first), a, b, metric)
    answer = compare_means([second], [first], metrics=(metric,), groups=("all", "head", "tail", "unseen"))
    for name, row in zip(("all", "head", "tail", "never"), answer.to_dict(orient="records"), strict=True):
        mine = found.row(name)
        assert [mine["b"], mine["a"], mine["low"], mine["high"]] == pytest.approx(
            [row["value"], row["baseline"], row["low"], row["high"]], abs=1e-12
        )


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(0, 3)), min_size=1, max_size=25))
def test_exchanging_the_sides_turns_signs(cases: list[tuple[int, int, int]]) -> None:
    """B next to A is A next to B with signs turned and cells exchanged; the four cells are all cases."""
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


def test_the_headline_follows_the_more_cautious_test() -> None:
    """Ten cases gained by one user: McNemar calls it clear, the flip over users cannot."""
    users = [0] * 10 + list(range(1, 11))
    a = side("A", records([30] * 10 + [1] * 10, users=users))
    b = side("B", records([1] * 20, users=users))
    found = compare(PairedCases(a.cases), a, b, "hr20")
    every = found.row("all")
    assert (every["p"], every["sign_flip_p"], every["verdict"]) == (1.0, 1.0, "close") and every["mcnemar_p"] < 0.01
    assert comparison_headline(found) == "B and A tie on rare transitions."
    said = "B alone finds 10 cases within 20 guesses, A alone 0. The difference may be chance (p = 1)."
    assert finds_sentence(found) == said


USERS, SEEN_BY_KIND = list(range(14)) * 2, [0] * 14 + [5] * 14
GAIN, LOSS, SAME = ([30] * 14, [1] * 14), ([1] * 14, [30] * 14), ([1] * 14, [1] * 14)


@pytest.mark.parametrize(
    ("rare", "frequent", "headline"),
    [
        (GAIN, SAME, "B beats A on rare transitions (+100.0 points) and ties on frequent ones."),
        (SAME, GAIN, "B beats A on frequent transitions (+100.0 points) and ties on rare ones."),
        (GAIN, GAIN, "B beats A on rare transitions (+100.0 points) and on frequent ones (+100.0)."),
        (GAIN, LOSS, "B beats A on rare transitions (+100.0 points) but loses on frequent ones (−100.0)."),
        (LOSS, SAME, "A beats B on rare transitions (+100.0 points) and ties on frequent ones."),
        (SAME, SAME, "B and A tie on rare transitions and on frequent ones."),
    ],
)
def test_the_headline_says_what_its_parts_say(
    rare: tuple[list[int], list[int]], frequent: tuple[list[int], list[int]], headline: str
) -> None:
    """Fourteen users with one case each, rare and frequent."""
    a, b = (
        side(name, records(rare[at] + frequent[at], users=USERS, seen=SEEN_BY_KIND)) for at, name in enumerate("AB")
    )
    found = compare(PairedCases(a.cases), a, b, "hr20")
    assert comparison_headline(found) == headline
    if headline.startswith("B beats A on rare transitions (+100.0 points) and ties"):
        said = comparison_headline(replace(found, a="Visit count", b="Feature curves"))
        assert said == "Feature curves beat visit count on rare transitions (+100.0 points) and tie on frequent ones."


def test_the_papers_share_of_frequent_cases() -> None:
    """313 of 958 count as frequent: values and interval are those of `reweight`, and of two seeds; groups stay."""
    rng = np.random.default_rng(2)
    users, seen = rng.integers(0, 20, 90).tolist(), rng.integers(0, 9, 90).tolist()
    one, two, three = (records(rng.integers(1, 40, 90).tolist(), users=users, seen=seen) for _ in range(3))
    a, b = side("A", one, three), side("B", two)
    plain, found = (compare(PairedCases(one, weighted=weighted), a, b, "hr20") for weighted in (False, True))
    every, tail = found.row("all"), np.array(seen) <= 1
    draws = UserBootstrap(one[c.USER].to_numpy())
    expected = [reweight(metric_values(table, "hr20"), tail.astype(int), draws).value for table in (two, one)]
    assert [every["b"], every["a"]] == pytest.approx(expected) and every["b"] != plain.row("all")["b"]
    gained = two.assign(**{c.NUM_BETTER: np.where(tail, 0, 99)}), two.assign(**{c.NUM_BETTER: 99})
    share = compare(PairedCases(one, weighted=True), side("A", gained[1]), side("B", gained[0]), "hr20").row("all")
    assert [share[name] for name in ("difference", "low", "high")] == pytest.approx([645 / 958] * 3)
    assert share["p"] == share["sign_flip_p"] < 0.01 and np.isnan(share["mcnemar_p"])
    assert found.rows[1:].equals(plain.rows[1:]) and every["band"] != plain.row("all")["band"]
    assert "frequent ones count 33 %, as in the paper" in cases_sentence(found)
    mine = one.assign(**{c.USER: 0})
    alone = compare(PairedCases(mine), side("A", mine), side("B", mine), "hr20")
    assert "cases of one user, so there is no interval over users." in cases_sentence(alone)
    assert [row_cells(row, alone)["interval"] for row in alone.rows.to_dict("records")] == ["–"] * len(alone.rows)
    with pytest.raises(ConfigError, match="frequent and rare cases, got 0 and 2"):
        PairedCases(records([1, 2]), weighted=True)


def test_seeds_by_hand() -> None:
    """A's two seeds differ by 0.25 in HR@1: sd 0.177, t of one degree 12.7, so two seeds may differ by 3.18."""
    a = side("A", records([1, 1, 2, 2]), records([1, 2, 2, 2]), trained=True)
    b = side("B", records([1, 1, 1, 1]), trained=True)
    found = compare(PairedCases(a.cases), a, b, "hr1")
    assert found.seeds is not None
    row = found.seeds.set_index("group").loc["all"]
    assert row["each"] == pytest.approx([0.5, 0.75])
    assert row["band"] == pytest.approx(12.7062 * 2**0.5 * 0.125 * 2**0.5, rel=1e-4) == found.row("all")["band"]
    assert found.row("all")["difference"] == pytest.approx(0.5)  # of the two checkpoints themselves
    assert "differ by up to 317.7 points" in seeds_sentence(found)
    assert found.unmeasured_seeds == ("B",)
    alone = compare(PairedCases(a.cases), b, side("C", records([1, 2, 3, 4])), "hr1")
    assert alone.seeds is None and "Only one seed of B" in seeds_sentence(alone)


def test_ties_of_a_seed_count_as_those_of_the_model() -> None:
    """Three tied places lead: MRR (1 + 1/2 + 1/3) / 3, first in one of three orders, a hit at 2 and not at 1."""
    cases = records([1], seen=[0])
    kept = pd.DataFrame({c.RANK: [2.0], c.NUM_BETTER: [0], c.NUM_TIED: [3]})
    seed = records_of_ranks(cases, kept)
    assert metric_values(seed, "mrr")[0] == pytest.approx(11 / 18) and metric_values(seed, "hr1")[0] == 1 / 3
    assert [bool(is_hit(seed, k)[0]) for k in (1, 2)] == [False, True]
    shipped = records_of_ranks(cases, kept[[c.RANK]])
    assert metric_values(shipped, "mrr")[0] == 1 / 2, "of an earlier table, which has no tie"


@given(st.integers(0, 30), st.integers(1, 30), st.integers(1, 40))
def test_a_hit_is_more_likely_than_not(better: int, tied: int, k: int) -> None:
    """A mean rank of at most K is a hit rate above one half."""
    rate = hit_rate(np.array([better]), np.array([tied]), k)[0]
    table = pd.DataFrame({c.RANK: [mean_rank(np.array([better]), np.array([tied]))[0]]})
    assert is_hit(table, k)[0] == (rate > 0.5)


def test_a_difference_within_the_seeds_is_a_tie() -> None:
    """Fourteen users gain a case each: clear by both tests, and where seeds agree; not where they differ."""
    one, gained = records([30] * 14), records([1] * 14)
    steady, wild = side("A", one, one, one), side("A", one, gained, one)
    for a, verdict in ((steady, "b"), (wild, "close")):
        found = compare(PairedCases(one), a, side("B", gained), "hr20")
        assert found.row("all")["p"] < 0.01 and found.row("all")["verdict"] == verdict
        assert found.bins["verdict"][0] == verdict


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
    """Lists of 10 places say nothing about HR@20; MRR is a lower bound, and the comparison says so.

    It has its sign in Compare's table, in Overview's and in each form of the paper's.
    """
    short, long = short_lists(records([1, 60]), 10, [True, False]), records([1, 2])
    whole = side("A", long)
    paired = PairedCases(whole.cases)
    with pytest.raises(ConfigError, match="shortest list has 10 places"):
        compare(paired, whole, side("B", short), "hr20")
    with pytest.raises(ConfigError, match="NDCG@20 is not known"):
        compare(paired, whole, side("B", short), "ndcg20")
    assert not compare(paired, whole, whole, "mrr").at_least
    found = compare(paired, whole, side("B", short), "mrr", k=5)
    assert found.at_least == ("b",)
    cells = row_cells(found.row("all").to_dict(), found)
    assert cells["b"] == "≥ 50.8" and cells["a"] == "75.0"
    table = model_table({"A": [long], "B": [short]})
    assert ["≥" in line for line in write_table(table, "markdown").splitlines()[2:4]] == [False, True]
    assert write_table(table, "latex").count(r"$\geq$ ") == 2 and "mrr_at_least" in write_table(table, "csv")
    assert "at_least" not in write_table(model_table({"A": [long]}), "csv")
    shown = models_table(accuracy_by_group({"A": long, "B": short}, "mrr")).set_index("Model")["All"]
    assert shown["B"].startswith("≥ 0.508 [") and shown["A"].startswith("0.750 [")


def enumerated(sums: np.ndarray) -> float:
    """Scipy's p over all 2^U flips."""
    one = (sums[:, 0],)
    return stats.permutation_test(one, np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True).pvalue


@given(st.data())
def test_enumerated_sign_flips_are_scipys_permutation_test(data: st.DataObject) -> None:
    """On at most 12 users the p is that of `scipy.stats.permutation_test` over all 2^U flips, idle users included."""
    users = data.draw(st.integers(2, EXACT_USERS))
    sums = data.draw(arrays(np.float64, (users, 1), elements=st.integers(-3, 3).map(float)))
    p, exact = SignFlips(users, resamples=10).p_values(sums)
    assert exact[0] and p[0] == pytest.approx(enumerated(sums), rel=1e-12)


def test_drawn_sign_flips_are_near_the_enumerated_ones() -> None:
    """13 users: drawn with a fixed seed, said to be so, near the p of all 8,192 flips, and the same every time."""
    sums = np.array([2, 1, 1, 3, -1, 2, 1, -2, 1, 1, 2, -1, 1], dtype=float)[:, None]
    p, exact = SignFlips(13).p_values(sums)
    assert not exact[0] and p[0] == pytest.approx(enumerated(sums), abs=0.01)
    assert SignFlips(13).p_values(sums)[0][0] == p[0]


def test_sign_flips_of_many_users_are_drawn_in_blocks() -> None:
    """At 20,000 users all flips at once would take 200 MB; the first and the last block count."""
    sums = np.random.default_rng(0).normal(0.05, 1, (20_000, 1))
    tracemalloc.start()
    p = SignFlips(20_000, resamples=9_999).p_values(sums)[0][0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6 and p == 1e-4, "none of all flips is as far from 0"
    heads = np.random.default_rng(0).integers(0, 2, (250, 30), dtype=np.int8)
    drawn = (2.0 * heads - 1) @ sums[:30, 0]
    expected = (np.sum(np.abs(drawn) >= abs(sums[:30, 0].sum())) + 1) / 251
    assert SignFlips(30, resamples=250).p_values(sums[:30])[0][0] == pytest.approx(expected)


def test_groups_do_not_disturb_each_other() -> None:
    """Two groups at once have the p that each has alone; one in 10,000 is the least that 9,999 flips can give."""
    sums = np.random.default_rng(3).normal(size=(30, 2))
    flips = SignFlips(30)
    both = flips.p_values(sums)[0]
    assert both.tolist() == [flips.p_values(sums[:, [group]])[0][0] for group in (0, 1)]
    assert p_value(1 / (RESAMPLES + 1)) == "≤ .0001" and p_value(0.00016) == ".0002"


RANKS = {"A_1": [1, 1, 1, 30], "B": [1, 2, 40, 40], "C": [30, 40, 40, 40]}
MODELS = {name: [records(ranks, seen=[5, 0, 0, 0])] for name, ranks in RANKS.items()}


def of_all(table: pd.DataFrame) -> pd.Series:
    return table[table["group"] == "all"].set_index(["model", "metric"])["value"]


def test_values_are_means_or_weighted_as_in_the_paper_and_the_best_is_bold() -> None:
    """HR@1 of A: 3 of 4; weighted, .3267 x 1 (frequent) + .6733 x 2/3 (rare). The second best is underlined.

    In LaTeX special characters of a name are escaped; CSV has every digit.
    """
    table = model_table(MODELS)
    values = of_all(table)
    assert (values["A_1", "hr1"], values["B", "hr1"], values["C", "hr1"]) == (0.75, 0.25, 0.0)
    weighted = of_all(model_table(MODELS, weighted=True))
    assert weighted["A_1", "hr1"] == pytest.approx(0.3267 + 0.6733 * 2 / 3, abs=1e-3)
    lines = write_table(table, "markdown").splitlines()
    assert lines[2].startswith("| A_1 | **0.7500** |") and lines[3].startswith("| B | <u>0.2500</u> |")
    latex = write_table(table, "latex", intervals=True)
    assert r"A\_1 & \textbf{0.7500} [" in latex and r"B & \underline{0.2500} [" in latex
    assert latex.count("\\\\\n") == 4 and r"\toprule" in latex
    csv = write_table(table, "csv", intervals=True).splitlines()
    assert csv[0].startswith("model,hr1,hr1_low,hr1_high,hr5") and csv[1].startswith("A_1,0.75,")
    assert csv[0].endswith("difference,difference_low,difference_high,p,against,seeds,n,protocol,dataset")


def test_groups_and_the_test_of_the_all_models_table_are_compares() -> None:
    """Rare, frequent, new; difference, interval and p against the chosen model; n, protocol and dataset in each row."""
    users, seen = [0, 0, 1, 1, 2, 2, 3, 3], SEEN
    tables = {name: records(ranks, users=users, seen=seen) for name, ranks in {"A": [1, 30] * 4, "B": [1] * 8}.items()}
    found = compare(PairedCases(tables["A"]), side("A", tables["A"]), side("B", tables["B"]), "hr20")
    asked = {"metric": "hr20", "against": "A", "dataset": "toy_1"}
    table = model_table({name: [one] for name, one in tables.items()}, **asked)  # type: ignore[arg-type]
    (tested,) = table[table["difference"].notna()].to_dict("records")
    row = found.row("all")
    said = [tested[name] for name in ("model", "difference", "difference_low", "difference_high", "p")]
    assert said == ["B", *(row[name] for name in ("difference", "low", "high", "p"))]
    groups = table[table["group"].isin(["tail", "head"])].set_index(["model", "group"])["value"]
    assert [groups["A", name] for name in ("tail", "head")] == [found.row(name)["a"] for name in ("tail", "head")]
    text = write_table(table, "markdown")
    assert "Of n: rare 5, frequent 3, new " in text and "HR@20, against A, in points" in text
    assert text.splitlines()[2].endswith("| -- | -- | 8 | every_step | toy_1 |") and "+50.0 [" in text.splitlines()[3]
    assert text.splitlines()[0].endswith("| n | Protocol | Dataset |")
    assert r"& 8 & every\_step & toy\_1 \\" in write_table(table, "latex")
    csv = pd.read_csv(StringIO(write_table(table, "csv")))
    assert csv[["n", "protocol", "dataset"]].to_numpy().tolist() == [[8, "every_step", "toy_1"]] * 2
    assert set(table["n"][table["group"] == "all"]) == {8} and set(table["dataset"]) == {"toy_1"}
    with pytest.raises(ConfigError, match="--against names a model of the table, got 'C'"):
        model_table({"A": [tables["A"]]}, against="C")


def test_seeds_of_an_imported_model_are_one_row_with_their_spread() -> None:
    """HR@1 of .75 and .25: .5 ± .3536; the difference from the other model is that of the means."""
    tables = {"GRU seed 1": MODELS["A_1"][0], "GRU seed 2": MODELS["B"][0], "C": MODELS["C"][0]}
    merged = merge_seeds(tables, ["GRU seed 1", "GRU seed 2"])
    assert list(merged) == ["GRU", "C"] and list(merge_seeds(tables, ["GRU seed 1"])) == list(tables)
    table = model_table(merged, metric="hr1", against="C")
    (tested,) = table[table["difference"].notna()].to_dict("records")
    assert (tested["value"], tested["seeds"], tested["difference"]) == (0.5, 2, 0.5)
    assert tested["sd"] == pytest.approx(0.5 / np.sqrt(2)) and "0.5000** ± 0.3536" in write_table(table, "markdown")
    assert r"$\pm$ 0.3536" in write_table(table, "latex") and ",hr1_sd," in write_table(table, "csv")


@pytest.mark.parametrize(
    ("users", "difference", "low", "high", "said"),
    [
        (80, -0.012, -0.021, -0.004, "RECAP, pretrained is better than RECAP trained here on 721 validation cases: "),
        (80, 0.001, -0.02, 0.03, "RECAP trained here ties with RECAP, pretrained on 721 validation cases: "),
        (1, 0.01, 0.01, 0.01, "RECAP trained here is ahead of RECAP, pretrained on 721 validation cases: "),
    ],
)
def test_the_sentence(users: int, difference: float, low: float, high: float, said: str) -> None:
    found = AgainstPretrained("every_next", 721, users, difference, low, high)
    numbers = {-0.012: "MRR +0.012 [+0.004, +0.021].", 0.001: "MRR +0.001 [-0.020, +0.030].", 0.01: "MRR +0.010."}
    assert found.sentence("RECAP") == said + numbers[difference] and found.is_better == (difference > 0)


def test_numbers_of_validation_cases(city_checkpoint: Path) -> None:
    dataset = small_city()
    graph = TransitionGraph.from_dataset(dataset)
    trained = Checkpoint.load(city_checkpoint)
    found = compare_with_pretrained(trained, dataset, graph)
    one, other = (
        evaluate(open_model(model, dataset).scorer, dataset, graph, split=c.VAL, protocol=found.protocol).records
        for model in (trained, "pretrained")
    )
    assert found.n == len(one)
    assert found.difference == pytest.approx(one[c.RECIPROCAL_RANK].mean() - other[c.RECIPROCAL_RANK].mean())
    assert found.low <= found.difference <= found.high
