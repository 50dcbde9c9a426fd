"""A case's map in map units, drawn as SVG on a page and as a PNG, on one ground for the whole page."""

from typing import Final

import numpy as np

from analysis.explain.types import MarkKind
from analysis.figures.labels import place_labels
from analysis.sharing.ground import Frame, MapPoint, Projection, svg_path
from analysis.sharing.shared_case import SharedCase, SharedPlace
from recap.config import Config
from recap.machine.printable import shortened

ASPECT: Final = 1.6
_CLOSEST: Final = 90.0
"""Width of the closest look, map units: about 1.3 km in New York."""
MOST_PATHS: Final = 8
_LONGEST: Final = 44
WIDTH_PX: Final = 760.0
"""Marks and letters have the size they have on a picture so wide."""
_RADIUS_PX: Final = {"middle": 5.0, "source": 8.0, "runner_up": 9.0, "target": 10.0}


class Mark(Config):
    kind: MarkKind
    at: MapPoint
    r_px: float
    name: str
    cell: Frame | None

    @property
    def css(self) -> str:
        if self.kind in ("source", "middle"):
            return self.kind
        return f"{'ring' if self.kind == 'truth' else 'disc'} {self.kind}"


class PathLine(Config):
    through: list[MapPoint]
    width_px: float

    @property
    def d(self) -> str:
        return svg_path(self.through)


class Name(Config):
    """A name on its plate; ``y`` is where its letters stand."""

    x: float
    y: float
    anchor: str
    text: str
    kind: MarkKind
    plate: Frame


class CaseMap(Config):
    """Content of a case's map; places without a point have no mark. ``unit`` is the number of map units per pixel."""

    frame: Frame
    unit: float
    marks: list[Mark]
    paths: list[PathLine]
    names: list[Name]

    @property
    def alt(self) -> str:
        names = ", ".join(mark.name for mark in self.marks if mark.kind != "middle")
        return f"Map: {names}; {len(self.paths)} two-hop paths"

    @property
    def cells(self) -> list[Frame]:
        return list(dict.fromkeys(mark.cell for mark in self.marks if mark.cell is not None))


def projection_of(places: list[SharedPlace]) -> Projection:
    """The map units of a page, from the places that it shows."""
    known = [(place.latitude, place.longitude) for place in places if place.latitude is not None]
    return Projection(*np.array(known, dtype=np.float64).reshape(-1, 2).T)


def case_map(case: SharedCase, places: list[SharedPlace]) -> CaseMap | None:
    """The marks of one case of a page with these places; None if the source or both places have no point."""
    drawn, projection = case.paths[:MOST_PATHS], projection_of(places)
    spots = {
        number: mark
        for number in {case.source, case.target, case.runner_up, *(path.place for path in drawn)}
        if (mark := _position(places[number], projection)) is not None
    }
    if case.source not in spots or not {case.target, case.runner_up} & set(spots):
        return None
    paths = [
        PathLine(through=[spots[number][0] for number in (case.source, path.place, case.target)], width_px=width)
        for path in drawn
        if path.place in spots and case.target in spots
        for width in [1.5 + 6 * path.share]
    ]
    shown: list[tuple[str, MarkKind, int]] = [("middle", "middle", path.place) for path in drawn]
    shown.append(("source", "source", case.source))
    shown += [("runner_up", case.roles[1], case.runner_up), ("target", case.roles[0], case.target)]
    marks = [
        Mark(kind=kind, at=spots[number][0], r_px=_RADIUS_PX[size], name=places[number].name, cell=spots[number][1])
        for size, kind, number in shown
        if number in spots
    ]
    frame = _frame(marks)
    return CaseMap(frame=frame, unit=frame[2] / WIDTH_PX, marks=marks, paths=paths, names=_names(marks, frame))


def _position(place: SharedPlace, projection: Projection) -> tuple[MapPoint, Frame | None] | None:
    if place.latitude is None or place.longitude is None:
        return None
    (point,) = projection.points([place.latitude], [place.longitude])  # type: ignore[arg-type]
    if place.bounds is None:
        return point, None
    south, west, north, east = place.bounds
    (left, bottom), (right, top) = projection.points([south, north], [west, east])  # type: ignore[arg-type]
    return point, (left, top, round(right - left, 1), round(bottom - top, 1))


def _frame(marks: list[Mark]) -> Frame:
    x = [mark.at[0] for mark in marks]
    y = [mark.at[1] for mark in marks]
    width = max(max(x) - min(x), ASPECT * (max(y) - min(y)), _CLOSEST) * 1.45
    height = width / ASPECT
    left, top = (min(x) + max(x) - width) / 2, (min(y) + max(y) - height) / 2
    return round(left, 1), round(top, 1), round(width, 1), round(height, 1)


def _names(marks: list[Mark], frame: Frame) -> list[Name]:
    """Names of the source and the two places that cover no mark, see `analysis.figures.labels`."""
    left, top, width, height = frame
    unit = width / WIDTH_PX
    middle = np.array([left + width / 2, top + height / 2])
    seen = (np.array([mark.at for mark in marks]) - middle) / unit
    radius = np.array([mark.r_px for mark in marks])
    named = [row for row, mark in enumerate(marks) if mark.kind != "middle"][::-1]  # the place explained comes first
    placed = place_labels(
        [marks[row].name for row in named],
        seen[named, 0],
        seen[named, 1],
        radius[named] + 8,
        obstacles=np.column_stack([seen, radius]),
        half_size=(WIDTH_PX / 2, WIDTH_PX * height / width / 2),
    )
    names = []
    for label in placed:
        mark = marks[named[label.index]]
        x, y = mark.at[0] + label.shift_x * unit, mark.at[1] + label.shift_y * unit
        text = shortened(mark.name, _LONGEST)
        wide = (7.4 * len(text) + 8) * unit
        start = x - {"start": 4 * unit, "middle": wide / 2, "end": wide - 4 * unit}[label.anchor]
        plate = (round(start, 2), round(y - 10 * unit, 2), round(wide, 2), round(20 * unit, 2))
        written = {"x": round(x, 2), "y": round(y + 4.5 * unit, 2), "anchor": label.anchor, "text": text}
        names.append(Name(**written, kind=mark.kind, plate=plate))
    return names
