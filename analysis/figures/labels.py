"""Place a few names around marks on a map, so that no name covers a mark."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

CHARACTER_PX = 7.2
HEIGHT_PX = 20.0
PADDING_PX = 10.0
MAX_CHARACTERS = 30
_SHORTER = (18, 12)
"""Lengths of a name that does not fit the narrowest window; its mark's tip has the whole name."""

LabelBox = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_SIDES = (
    ("start", 1.0, 0.0),
    ("end", -1.0, 0.0),
    ("middle", 0.0, 1.0),
    ("middle", 0.0, -1.0),
    ("start", 0.7, 0.7),
    ("start", 0.7, -0.7),
    ("end", -0.7, 0.7),
    ("end", -0.7, -0.7),
)
_FARTHER_PX = (0.0, 8.0, 16.0, 26.0)


@dataclass(frozen=True)
class Label:
    """A placed name: its mark, text, offset in pixels and text anchor (start, middle, end)."""

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
    half_size: tuple[float, float] = (365.0, 260.0),
    narrowest: tuple[float, float] | None = None,
) -> list[Label]:
    """Put each name next to its mark where it covers nothing, or leave it out.

    Args:
        texts: names, the most important first.
        x, y: marks in pixels from the map's middle, y downwards.
        gap: distance in pixels between a mark's middle and its name.
        obstacles: x, y and radius in pixels of all discs, which no name may cover.
        half_size: half the map's width and height in pixels.
        narrowest: the same of the narrowest window, which is tried first.
    """
    taken: list[LabelBox] = []
    placed = []
    for index, full in enumerate(texts):
        whole = (shorten_label(full), half_size)
        tries = [whole]
        if narrowest is not None:
            tries = [*((shorten_label(full, at_most), narrowest) for at_most in (MAX_CHARACTERS, *_SHORTER)), whole]
        options = (
            (label, label_box(label, x[index], y[index]), room)
            for text, room in tries
            for farther in _FARTHER_PX
            for label in _options(index, text, float(gap[index]) + farther)
        )
        for label, box, room in options:
            if not _outside(box, room) and not _covers(box, obstacles) and not any(boxes_meet(box, t) for t in taken):
                taken.append(box)
                placed.append(label)
                break
    return placed


def label_table(marks: pd.DataFrame, texts: list[str], **room: Any) -> pd.DataFrame:
    """Placed names as rows of a map's layer, from marks ``at, x, y, r, of``; ``room``: see `place_labels`."""
    x, y, radius = marks[["x", "y", "r"]].to_numpy(float).T
    placed = place_labels(texts, x, y, radius + 1, **room)
    names = marks.iloc[[label.index for label in placed]][["at", "x", "y", "of"]].reset_index(drop=True)
    names["text"] = [label.text for label in placed]
    names["shift"] = pd.Series([[label.shift_x, label.shift_y] for label in placed], dtype=object)
    names["anchor"] = [label.anchor for label in placed]
    return names


def shorten_label(text: str, at_most: int = MAX_CHARACTERS) -> str:
    return text if len(text) <= at_most else text[: at_most - 1].rstrip() + "…"


def label_box(label: Label, x: float, y: float) -> LabelBox:
    """The box of a label's plate; its mark is at x, y."""
    width = CHARACTER_PX * len(label.text) + PADDING_PX
    left = (
        x + label.shift_x - {"start": PADDING_PX / 2, "middle": width / 2, "end": width - PADDING_PX / 2}[label.anchor]
    )
    top = y + label.shift_y - HEIGHT_PX / 2
    return left, top, left + width, top + HEIGHT_PX


def _options(index: int, text: str, gap: float) -> list[Label]:
    placed = []
    for anchor, side_x, side_y in _SIDES:
        # Horizontally the plate's padding counts, vertically half its height.
        dx = side_x * (gap + PADDING_PX / 2)
        dy = side_y * (gap + HEIGHT_PX / 2)
        placed.append(Label(index, text, round(dx, 1), round(dy, 1), anchor))
    return placed


def _outside(box: LabelBox, half_size: tuple[float, float]) -> bool:
    half_width, half_height = half_size
    return box[0] < -half_width or box[2] > half_width or box[1] < -half_height or box[3] > half_height


def boxes_meet(box: LabelBox, other: LabelBox, room: float = 0.0) -> bool:
    """Whether less than so many pixels are between two boxes; without room, whether they overlap."""
    return max(box[0] - other[2], other[0] - box[2], box[1] - other[3], other[1] - box[3]) < room


def _covers(box: LabelBox, discs: np.ndarray) -> bool:
    if not len(discs):
        return False
    near_x = np.clip(discs[:, 0], box[0], box[2])
    near_y = np.clip(discs[:, 1], box[1], box[3])
    return bool((np.hypot(discs[:, 0] - near_x, discs[:, 1] - near_y) < discs[:, 2]).any())
