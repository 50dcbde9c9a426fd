"""The GRIM test: by fractions, by hand, on the paper's printed tables, and its refusals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.experiments.grim import allowed_values, grim_test
from recap.errors import ConfigError
from tests.shell import assert_refused, recap, recap_json

# The paper's hop table (NYC, HR@1 and HR@20 for N = 1..5), single runs.
HOPS = [".3205", ".3288", ".3236", ".3246", ".3163", ".7516", ".7599", ".7620", ".7620", ".7610"]
# NYC, HR@1 and HR@20 of the paper's main, ablation, signal and future-time tables: means of three seeds, each row once.
MEANS = [
    ".2349", ".6479", ".2300", ".6023", ".2488", ".6262", ".2992", ".6235", ".2349", ".6037", ".2175",
    ".5501", ".2651", ".6388", ".2651", ".7683", ".2881", ".7515", ".2679", ".7394", ".2530", ".6326",
    ".2408", ".7213", ".3166", ".7648", ".3010", ".7658", ".2857", ".7335", ".3100", ".7630", ".2801",
    ".7449", ".3104", ".7491", ".2965", ".7714", ".3126", ".6332", ".2721", ".6148", ".4057", ".7658",
]  # fmt: skip


def test_by_hand() -> None:
    """.33 of two digits: 1/3 = .333 rounds to it, n = 1 and 2 have no such share; .67 wants the same n = 3."""
    found = grim_test([".33", ".67"], decimals=2, max_n=8)
    assert found.fitting == (3, 6)
    assert found.best[0].n == 3 and found.best[0].allowed == 2
    assert found.best[0].chance == 4 / 101, "0, 1/3, 2/3, 1 of 101 printable values"
    assert found.best[0].luck == pytest.approx((4 / 101) ** 2)


def test_a_half_may_go_either_way() -> None:
    """1/8 = .125 is printed as .12 or as .13, by the rule of the program that printed it."""
    assert 8 in grim_test([".12"], decimals=2, max_n=8).fitting
    assert 8 in grim_test([".13"], decimals=2, max_n=8).fitting


@given(st.integers(1, 400), st.integers(1, 4), st.integers(1, 4), st.data())
def test_the_true_number_always_fits(n: int, runs: int, decimals: int, data: st.DataObject) -> None:
    """Whatever was counted, its printed mean is allowed by the n it was counted over, and by multiples."""
    hits = data.draw(st.lists(st.integers(0, runs * n), min_size=1, max_size=5))
    units = [round(Fraction(k * 10**decimals, runs * n)) for k in hits]
    values = [f"{unit / 10**decimals:.{decimals}f}" for unit in units]
    fitting = grim_test(values, runs=runs, decimals=decimals, max_n=2 * n).fitting
    assert n in fitting and 2 * n in fitting


@given(st.integers(0, 1000), st.integers(1, 60), st.integers(1, 3))
def test_equals_trying_every_count(units: int, n: int, runs: int) -> None:
    """A value is allowed exactly when some k / (runs n) lies within half a unit of the last digit."""
    near = any(abs(Fraction(k, runs * n) - Fraction(units, 1000)) <= Fraction(1, 2000) for k in range(runs * n + 1))
    assert allowed_values(np.array([units]), np.array([n]), runs=runs, decimals=3)[0, 0] == near


def test_the_papers_hop_table_was_measured_on_958_cases() -> None:
    """Below 1,916 no other n puts a fraction next to all ten values; 1,916 is twice 958."""
    assert grim_test(HOPS, max_n=1916).fitting == (958, 1916)


def test_the_papers_means_of_three_seeds_say_the_same() -> None:
    """39 of 44 values are k / (3 x 958), of which chance allows 29 % each; nothing else comes near."""
    first, second, *_ = grim_test(MEANS, runs=3).best
    assert (first.n, first.allowed, len(MEANS)) == (958, 39, 44)
    assert first.chance == pytest.approx(0.287, abs=0.001)
    assert first.luck < 1e-15 < 1e-7 < second.luck


def test_the_command() -> None:
    """One JSON object with the inputs and the outcome; a table for people; refusals in one line."""
    found = recap_json("experiment", "grim", *HOPS, "--max-n", "1915")
    assert found["fitting"] == [958] and found["max_n"] == 1915 and found["values"] == HOPS
    text = recap("experiment", "grim", *HOPS, "--max-n", "1915").stdout
    assert "All 10 values fit n = 958" in text
    assert_refused(recap("experiment", "grim", "31.66"), "from 0 to 1", "'31.66'")


@pytest.mark.parametrize(
    ("values", "options", "part"),
    [
        ([".12345"], {}, "at most 4 digits"),
        (["x"], {}, "'x'"),
        (["nan"], {}, "'nan'"),
        (["-.1"], {}, "'-.1'"),
        ([], {}, "at least one"),
        ([".5"], {"runs": 0}, "at least 1"),
        ([".5"], {"decimals": 1, "runs": 11}, "largest n"),
    ],
)
def test_refusals(values: list[str], options: dict[str, int], part: str) -> None:
    """What is no printed share is named."""
    with pytest.raises(ConfigError, match=part):
        grim_test(values, **options)
