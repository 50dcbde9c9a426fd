"""Greedy placement of a few names around marks on a map, at the map's opening camera."""

from dataclasses import dataclass

import numpy as np

CHARACTER_PX = 7.2
HEIGHT_PX = 20.0
MAX_CHARACTERS = 30

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True)
class Label:
    """A placed name: which mark it names, its text, offset in pixels and text anchor (start, middle, end)."""

    index: int
    text: str
    shift_x: float
    shift_y: float
    anchor: str


def place_labels(
    texts: list[str],
    x: np.ndarray,
    y: np.ndarray,
    gap: np.ndarray,
    *,
    obstacles: np.ndarray,
    keep: int,
    half_size: tuple[float, float] = (365.0, 260.0),
) -> list[Label]:
    """Put each name right, left, below or above its mark, wherever it covers least; drop those that cover others.

    Args:
        texts: names, the most important first.
        x, y: marks in pixels from the map's middle, y downwards.
        gap: distance in pixels between a mark's middle and its name.
        obstacles: rows of x, y and radius in pixels that names should not cover.
        keep: how many of the first names are placed whatever they cover.
        half_size: half the map's width and height in pixels, so that names are not cut off.
    """
    taken: list[Box] = []
    placed = []
    for index, full in enumerate(texts):
        text = full if len(full) <= MAX_CHARACTERS else full[: MAX_CHARACTERS - 1] + "…"
        width = CHARACTER_PX * len(text) + 10
        options: list[tuple[float, int, Box, Label]] = []
        for anchor, dx, dy in (
            ("start", gap[index], 0.0),
            ("end", -gap[index], 0.0),
            ("middle", 0.0, gap[index] + HEIGHT_PX / 2),
            ("middle", 0.0, -gap[index] - HEIGHT_PX / 2),
        ):
            left = x[index] + dx - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            box = (left, y[index] + dy - HEIGHT_PX / 2, left + width, y[index] + dy + HEIGHT_PX / 2)
            cost = sum(_overlap(box, other) for other in taken) * 3 + sum(_covers(box, mark) for mark in obstacles)
            cost += 30 * HEIGHT_PX * _outside(box, half_size)
            options.append(
                (cost, len(options), box, Label(index, text, round(float(dx), 1), round(float(dy), 1), anchor))
            )
        cost, _, box, label = min(options, key=lambda option: option[:2])
        if index < keep or cost == 0:
            taken.append(box)
            placed.append(label)
    return placed


def _outside(box: Box, half_size: tuple[float, float]) -> float:
    """How many pixels of the box stick out of the map."""
    half_width, half_height = half_size
    sides = (-half_width - box[0], -half_height - box[1], box[2] - half_width, box[3] - half_height)
    return sum(max(side, 0.0) for side in sides)


def _overlap(box: Box, other: Box) -> float:
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    return max(width, 0.0) * max(height, 0.0)


def _covers(box: Box, mark: np.ndarray) -> float:
    """Area of the overlap with the mark's bounding square."""
    return _overlap(box, (mark[0] - mark[2], mark[1] - mark[2], mark[0] + mark[2], mark[1] + mark[2]))
