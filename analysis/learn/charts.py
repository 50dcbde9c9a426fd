"""Data of a lesson's figures; `analysis.learn.drawing` draws them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.figures.palette import Palette

Meaning = Literal["model", "truth", "revisits", "paths", "baseline", "ink"]
"""Whose colour a mark has, see `analysis.figures.palette.Palette`."""


@dataclass(frozen=True)
class Bar:
    """A bar: its label, length, the number written next to it, its colour's meaning, and an interval if it has one."""

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
        says: a sentence that says what the figure shows.
        axis: what the length is.
        top: where the axis ends; None ends it at the longest bar.
    """

    says: str
    axis: str
    bars: tuple[Bar, ...]
    top: float | None = None

    def table(self) -> pd.DataFrame:
        """The same numbers."""
        rows = {"": [bar.label for bar in self.bars], self.axis: [bar.text for bar in self.bars]}
        return pd.DataFrame(rows)


@dataclass(frozen=True)
class Row:
    """One row of `Panels`: a value and its text for each column."""

    label: str
    values: tuple[float, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Panels:
    """Upright bars in rows that share their columns, each row on its own scale.

    Attributes:
        columns: labels below.
        axis: what the columns are.
        chosen, best: columns that are outlined and filled.
    """

    says: str
    axis: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    chosen: int
    best: int

    def table(self) -> pd.DataFrame:
        """The same numbers."""
        return pd.DataFrame({self.axis: self.columns} | {row.label: row.texts for row in self.rows})


@dataclass(frozen=True)
class Series:
    """One line of `Lines`."""

    label: str
    values: tuple[float, ...]
    meaning: Meaning


@dataclass(frozen=True)
class Lines:
    """Lines over the positions of a handle, with a mark at its position.

    Attributes:
        columns: labels of the positions.
        at: position of the handle.
        percent: whether values are shares.
    """

    says: str
    axis: str
    columns: tuple[str, ...]
    series: tuple[Series, ...]
    at: int
    percent: bool = False
    digits: int = 2

    def text(self, value: float) -> str:
        """A value as it is written."""
        return f"{value:.0%}".replace("%", " %") if self.percent else f"{value:.{self.digits}f}".replace("-", "−")

    def table(self) -> pd.DataFrame:
        """The same numbers."""
        shown = {line.label: [self.text(value) for value in line.values] for line in self.series}
        return pd.DataFrame({self.axis: self.columns} | shown)


@dataclass(frozen=True)
class Dots:
    """Places of one meaning."""

    label: str
    places: tuple[int, ...]
    meaning: Meaning | Literal["faint"]
    size: int = 9
    ring: bool = False


@dataclass(frozen=True)
class Way:
    """A line from a place to a place, as thick as it is often taken; dotted where nobody takes it."""

    source: int
    target: int
    width: float
    taken: bool = True


@dataclass(frozen=True, eq=False)
class PlaceMap:
    """Places at their positions, without a ground.

    Attributes:
        latitude, longitude: degrees of every place.
        dots: drawn in this order.
        names: of the places that are named on the map.
        clickable: whether a click on a place chooses it.
    """

    says: str
    latitude: np.ndarray
    longitude: np.ndarray
    dots: tuple[Dots, ...]
    ways: tuple[Way, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    clickable: bool = False

    def table(self) -> pd.DataFrame:
        """How many places of each kind."""
        return pd.DataFrame(
            {"": [dots.label for dots in self.dots], "Places": [len(dots.places) for dots in self.dots]}
        )


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure of another view.

    Attributes:
        plot: draws it in a palette.
        rows: the same numbers.
    """

    says: str
    plot: Callable[[Palette], go.Figure]
    rows: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """The same numbers."""
        return self.rows


Chart = Bars | Panels | Lines | PlaceMap | Picture
