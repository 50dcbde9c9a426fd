"""Distances on the sphere and packed ranges: what a reader can redo, and the laws they obey."""

from math import pi

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recap.arithmetic.geodesy import EARTH_RADIUS_KM, distance_km
from recap.arithmetic.ragged import expand_ranges

POINTS = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


def km(one: tuple[float, float], other: tuple[float, float]) -> float:
    a, b, c, d = (np.array(value) for value in (*one, *other))
    return float(distance_km(a, b, c, d))


def test_known_arcs() -> None:
    """From pole to pole half a circle, along the equator a degree of 360, across the date line the short way."""
    half = pi * EARTH_RADIUS_KM
    assert km((90, 0), (-90, 77)) == pytest.approx(half)
    assert km((0, 10), (0, 11)) == pytest.approx(half / 180)
    assert km((0, 179.5), (0, -179.5)) == pytest.approx(half / 180)
    assert km((0, 0), (0, 180)) == pytest.approx(half)


@given(POINTS, POINTS)
def test_symmetric_not_negative_and_never_over_half_a_circle(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    """Rounding cannot push the half chord out of arcsin's range."""
    there, back = km(one, other), km(other, one)
    assert there == pytest.approx(back, abs=1e-6)
    assert 0 <= there <= pi * EARTH_RADIUS_KM * (1 + 1e-12)
    assert km(one, one) == 0


RANGES = st.lists(st.tuples(st.integers(-5, 50), st.integers(0, 6)), max_size=8)


@given(RANGES)
def test_equals_pythons_ranges(ranges: list[tuple[int, int]]) -> None:
    start, length = (torch.tensor([pair[at] for pair in ranges], dtype=torch.int64) for at in (0, 1))
    range_C, number_C = expand_ranges(start, length)
    expected = [(at, first + step) for at, (first, size) in enumerate(ranges) for step in range(size)]
    assert list(zip(range_C.tolist(), number_C.tolist(), strict=True)) == expected
