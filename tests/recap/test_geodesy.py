"""Distances on the sphere: arcs a reader can redo, and the laws of a distance."""

from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recap.geodesy import EARTH_RADIUS_KM, distance_km

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
