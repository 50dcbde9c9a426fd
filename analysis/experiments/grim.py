"""Which numbers of cases allow a table's printed digits: the GRIM test of Brown and Heathers (2017) for hit rates.

A hit rate over n cases is k / n for a whole k, and the mean of several runs over the same cases is k / (runs x n). Only
few n put such a fraction next to every printed value, so the digits of a table tell how many cases it was measured on.
It says nothing of metrics that are no shares of cases (NDCG, MRR), and it cannot tell n from its multiples.
"""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Final

import numpy as np
from pydantic import Field
from scipy.stats import binom

from recap.config import Config
from recap.errors import ConfigError

BEST: Final = 10
"""So many of the sizes that allow most values are listed."""


class CaseCount(Config):
    """One number of cases and what it allows."""

    n: int
    allowed: int = Field(description="Printed values that are k / (runs x n) for a whole k, rounded.")
    chance: float = Field(description="Share of all printable values from 0 to 1 that n allows.")
    luck: float = Field(description="Probability that n allows so many values or more by chance (binomial tail).")


class GrimTest(Config):
    """The outcome for a list of printed values."""

    values: tuple[str, ...]
    runs: int
    decimals: int
    max_n: int
    fitting: tuple[int, ...] = Field(description="Every n up to max_n that allows all values, ascending.")
    best: tuple[CaseCount, ...] = Field(
        description=f"The {BEST} n whose allowed values are least likely by chance, least likely first."
    )


def grim_test(values: Sequence[str], *, runs: int = 1, decimals: int = 4, max_n: int | None = None) -> GrimTest:
    """Test all numbers of cases up to a largest one.

    Args:
        values: as printed, between 0 and 1; a half may have been rounded up or down.
        runs: 1 for single runs, the number of seeds for means.
        decimals: printed digits after the point.
        max_n: 10^decimals / runs if not given: from there on every value is allowed, and digits tell nothing.

    Raises:
        ConfigError: no value, one that is no number from 0 to 1, or one with more digits than ``decimals``.
    """
    if runs < 1 or decimals < 1:
        raise ConfigError(f"runs and decimals must be at least 1, got {runs} and {decimals}")
    max_n = 10**decimals // runs if max_n is None else max_n
    if not values or max_n < 1:
        raise ConfigError("the GRIM test needs at least one printed value and a largest n of at least 1")
    units = np.array([_units(value, decimals) for value in values])
    n = np.arange(1, max_n + 1, dtype=np.int64)
    allowed = allowed_values(units, n, runs=runs, decimals=decimals).sum(axis=0)
    chance = np.array([_chance(int(size) * runs, 10**decimals) for size in n])
    luck = binom.sf(allowed - 1, len(units), chance)
    best = np.argsort(luck, kind="stable")[:BEST]
    return GrimTest(
        values=tuple(values),
        runs=runs,
        decimals=decimals,
        max_n=max_n,
        fitting=tuple(n[allowed == len(units)].tolist()),
        best=tuple(
            CaseCount(n=int(n[i]), allowed=int(allowed[i]), chance=float(chance[i]), luck=float(luck[i])) for i in best
        ),
    )


def allowed_values(units: np.ndarray, n: np.ndarray, *, runs: int = 1, decimals: int = 4) -> np.ndarray:
    """Whether a printed value is k / (runs x n), rounded, for a whole k.

    Args:
        units: int64 (V,), printed values in units of the last digit: .3205 is 3205.
        n: int64 (N,), numbers of cases.

    Returns:
        bool (V, N).
    """
    scale, whole_N = 10**decimals, runs * n
    # The k nearest to value x whole; whole numbers throughout, so that a half is a half.
    k_VN = (2 * units[:, None] * whole_N + scale) // (2 * scale)
    near_VN: np.ndarray = 2 * np.abs(k_VN * scale - units[:, None] * whole_N) <= whole_N
    return near_VN


def _units(value: str, decimals: int) -> int:
    try:
        number = Decimal(value).scaleb(decimals)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number <= 10**decimals or number != number.to_integral_value():
        raise ConfigError(f"expected a share from 0 to 1 with at most {decimals} digits after the point, got {value!r}")
    return int(number)


def _chance(whole: int, scale: int) -> float:
    """Share of the printable values 0, 1/scale, ..., 1 that some k / whole rounds to."""
    return min(1.0, (whole + 1) / (scale + 1))
