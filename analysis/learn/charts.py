"""Data of a lesson's figures; `analysis.learn.drawing` draws them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.figures.palette import Palette
from analysis.formatting import percent

Meaning = Literal["model", "truth", "revisits", "paths", "baseline", "ink"]
"""Whose colour a mark has, see `analysis.figures.palette.Palette`."""


@dataclass(frozen=True)
class Bar:
    """A bar with its label, written number, colour's meaning and interval."""

    label: str
    value: float
    text: str
    meaning: Meaning = "model"
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Bars:
    """Horizontal bars from 0, one below the other.

    Attributes:
        says: a sentence that describes the figure.
        top: end of the axis; None ends it at the longest bar.
    """

    says: str
    axis: str
    bars: tuple[Bar, ...]
    top: float | None = None

    @classmethod
    def of(cls, finding: str, axis: str, bars: Sequence[Bar], top: float | None = None) -> Self:
        """Bars that are described by a finding and what is written at each bar."""
        listed = "; ".join(f"{bar.label}: {bar.text}" for bar in bars)
        return cls(f"{finding} {listed}.", axis, tuple(bars), top)

    def table(self) -> pd.DataFrame:
        rows = {"": [bar.label for bar in self.bars], self.axis: [bar.text for bar in self.bars]}
        return pd.DataFrame(rows)


@dataclass(frozen=True)
class Series:
    label: str
    values: tuple[float, ...]
    meaning: Meaning


@dataclass(frozen=True)
class Lines:
    """Lines over the positions of a handle, whose labels are the columns, with a mark at the handle's position."""

    says: str
    axis: str
    columns: tuple[str, ...]
    series: tuple[Series, ...]
    at: int

    def table(self) -> pd.DataFrame:
        shown = {line.label: [percent(value) for value in line.values] for line in self.series}
        return pd.DataFrame({self.axis: self.columns} | shown)


@dataclass(frozen=True)
class Dots:
    label: str
    places: tuple[int, ...]
    meaning: Meaning | Literal["faint"]
    size: int = 9
    ring: bool = False


@dataclass(frozen=True)
class Way:
    """A line between two places, as thick as it is often taken; dotted if nobody takes it."""

    source: int
    target: int
    width: float
    taken: bool = True


@dataclass(frozen=True, eq=False)
class PlaceMap:
    """Places on an empty ground, at degrees of every place; dots are drawn in order, and some places are named."""

    says: str
    latitude: np.ndarray
    longitude: np.ndarray
    dots: tuple[Dots, ...]
    ways: tuple[Way, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    clickable: bool = False

    def table(self) -> pd.DataFrame:
        return pd.DataFrame(
            {"": [dots.label for dots in self.dots], "Places": [len(dots.places) for dots in self.dots]}
        )


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure of another view; ``rows`` are its numbers, ``least_px`` the width that it needs."""

    says: str
    plot: Callable[[Palette], go.Figure]
    rows: pd.DataFrame
    least_px: int = 1

    def table(self) -> pd.DataFrame:
        return self.rows


Chart = Bars | Lines | PlaceMap | Picture
