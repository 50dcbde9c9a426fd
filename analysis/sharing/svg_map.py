"""A case's map as numbers for inline SVG, on one ground for the whole page."""

from itertools import pairwise
from typing import Final

import numpy as np

from analysis.figures.labels import place_labels
from analysis.sharing.case_map import CaseMap
from analysis.sharing.ground import Frame, Ground, MapPoint
from recap.config import Config
from recap.machine.printable import shortened

WIDTH_PX: Final = 760.0
"""Marks and letters have the size they have on a picture so wide."""
_LONGEST: Final = 44
_RADIUS: Final = {"source": 8.0, "target": 10.0, "runner_up": 9.0, "middle": 5.0}


class GroundPath(Config):
    name: str
    kind: str
    d: str


class Name(Config):
    x: float
    y: float
    anchor: str
    text: str
    side: str
    plate: Frame


class Disc(Config):
    x: float
    y: float
    r: float
    css: str


class SvgMap(Config):
    box: Frame
    unit: float
    alt: str
    cells: list[Frame]
    lines: list[tuple[str, float]]
    discs: list[Disc]
    names: list[Name]


def ground_paths(ground: Ground) -> list[GroundPath]:
    paths = [
        GroundPath(
            name=layer.name,
            kind=layer.kind,
            d="".join(_line(ring, close=layer.kind == "fill") for part in layer.parts for ring in part),
        )
        for layer in ground.layers
    ]
    dots = "".join(f"M{x:g} {y:g}h0" for x, y in ground.dots)
    return [path for path in (*paths, GroundPath(name="dots", kind="dots", d=dots)) if path.d]


def svg_map(drawn: CaseMap) -> SvgMap:
    """One case's map; ``unit`` is the number of map units per pixel."""
    left, top, width, height = drawn.frame
    unit = width / WIDTH_PX
    css = {"source": "source", "middle": "middle"}
    return SvgMap(
        box=drawn.frame,
        unit=unit,
        alt=drawn.alt,
        cells=list(dict.fromkeys(mark.cell for mark in drawn.marks if mark.cell is not None)),
        lines=[(_line(path.through, close=False), round((1.5 + 6 * path.share) * unit, 3)) for path in drawn.paths],
        discs=[
            Disc(
                x=mark.at[0],
                y=mark.at[1],
                r=round(_RADIUS[mark.kind] * unit, 3),
                css=css.get(mark.kind) or f"{'ring' if mark.role == 'truth' else 'disc'} {mark.role}",
            )
            for mark in drawn.marks
        ],
        names=_names(drawn, unit, (left + width / 2, top + height / 2)),
    )


def _names(drawn: CaseMap, unit: float, middle: MapPoint) -> list[Name]:
    """Names of the source and the two places that cover no mark, see `analysis.figures.labels`."""
    marks = [mark for mark in drawn.marks if mark.kind != "middle"][::-1]  # the place explained comes first
    x, y = (np.array([(mark.at[i] - middle[i]) / unit for mark in marks]) for i in (0, 1))
    obstacles = np.array(
        [[(m.at[0] - middle[0]) / unit, (m.at[1] - middle[1]) / unit, _RADIUS[m.kind]] for m in drawn.marks]
    )
    half = WIDTH_PX / 2, WIDTH_PX * drawn.frame[3] / drawn.frame[2] / 2
    gap = np.array([_RADIUS[mark.kind] + 8 for mark in marks])
    placed = place_labels([m.name for m in marks], x, y, gap, obstacles=obstacles, half_size=half)
    names = []
    for label in placed:
        mark = marks[label.index]
        at = mark.at[0] + label.shift_x * unit, mark.at[1] + label.shift_y * unit
        text = shortened(mark.name, _LONGEST)
        wide = (7.4 * len(text) + 8) * unit
        left = at[0] - {"start": 4 * unit, "middle": wide / 2, "end": wide - 4 * unit}[label.anchor]
        plate = (round(left, 2), round(at[1] - 10 * unit, 2), round(wide, 2), round(20 * unit, 2))
        names.append(
            Name(
                x=round(at[0], 2),
                y=round(at[1] + 4.5 * unit, 2),
                anchor=label.anchor,
                text=text,
                side="source" if mark.kind == "source" else str(mark.role),
                plate=plate,
            )
        )
    return names


def _line(points: list[MapPoint], *, close: bool) -> str:
    """A path with relative steps, to keep a city's file small."""
    steps = [
        f"{round(to[0] - start[0], 1):g} {round(to[1] - start[1], 1):g}"
        for start, to in pairwise(points)
        if to != start
    ]
    return f"M{points[0][0]:g} {points[0][1]:g}l{' '.join(steps) or '0 0'}{'z' if close else ''}"
