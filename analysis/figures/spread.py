"""Spread discs that would overlap: the first stay where they are, the others move to the nearest free spot."""

import math
from itertools import count

import numpy as np

_ANGLES = 24
_RING_PX = 4.0
_FARTHEST_RINGS = 150


def spread_discs(
    x: np.ndarray,
    y: np.ndarray,
    radius: np.ndarray,
    *,
    fixed: np.ndarray | None = None,
    gap: float = 2.0,
    half_size: tuple[float, float] = (math.inf, math.inf),
) -> tuple[np.ndarray, np.ndarray]:
    """Where to draw each disc so that none overlaps another; the same input always gives the same places.

    Args:
        x, y: true positions in pixels, the most important disc first.
        radius: pixels.
        fixed: rows of x, y and radius in pixels of marks that stay where they are.
        gap: pixels left free between two discs.
        half_size: half the map's width and height in pixels; a disc whose place is on the map does not leave it.

    Returns:
        x and y in pixels: a disc's own position where that is free, else the nearest free one on rings around it.
    """
    taken = [] if fixed is None else [tuple(row) for row in np.asarray(fixed, dtype=float).reshape(-1, 3)]
    placed_x, placed_y = np.array(x, dtype=float), np.array(y, dtype=float)
    for index, (own_x, own_y, r) in enumerate(zip(placed_x, placed_y, radius, strict=True)):
        others = np.array(taken, dtype=float).reshape(-1, 3)
        away = _direction_away(own_x, own_y, others, index)
        for ring in count():
            angles = away + np.linspace(0, 2 * math.pi, _ANGLES, endpoint=False)[: _ANGLES if ring else 1]
            spots = np.column_stack(
                [own_x + _RING_PX * ring * np.cos(angles), own_y + _RING_PX * ring * np.sin(angles)]
            )
            distance = np.hypot(spots[:, :1] - others[:, 0], spots[:, 1:] - others[:, 1])
            free = (distance >= others[:, 2] + r + gap).all(axis=1)
            if ring < _FARTHEST_RINGS:
                free &= _on_map(spots, r, half_size) | ~_on_map(np.array([[own_x, own_y]]), 0.0, half_size)
            if free.any():
                # Of the free spots of a ring the one that turns least from the crowd's other side.
                turn = np.abs((angles - away + math.pi) % (2 * math.pi) - math.pi)
                best = int(np.flatnonzero(free)[turn[free].argmin()])
                placed_x[index], placed_y[index] = spots[best]
                break
        taken.append((placed_x[index], placed_y[index], float(r)))
    return placed_x, placed_y


def _on_map(spots: np.ndarray, radius: float, half_size: tuple[float, float]) -> np.ndarray:
    return (np.abs(spots) <= np.array(half_size) - radius).all(axis=1)


def _direction_away(x: float, y: float, others: np.ndarray, index: int) -> float:
    """The direction from the middle of the marks nearby to this one; where they coincide, one of its own."""
    near = others[np.hypot(others[:, 0] - x, others[:, 1] - y) < 80] if len(others) else others
    if len(near):
        dx, dy = x - near[:, 0].mean(), y - near[:, 1].mean()
        if math.hypot(dx, dy) > 1e-6:
            return math.atan2(dy, dx)
    return index * 2.399963  # the golden angle: neighbours in rank leave to different sides
