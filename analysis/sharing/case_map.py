"""The marks of a case's map in map units, to draw as SVG and as PNG."""

from typing import Final, Literal

from analysis.explain.types import Role
from analysis.sharing.ground import Frame, MapPoint, Projection
from analysis.sharing.shared_case import SharedCase, SharedPlace
from recap.config import Config

ASPECT: Final = 1.6
_CLOSEST: Final = 90.0
"""Width of the closest look, map units: about 1.3 km in New York."""
MOST_PATHS: Final = 8

MarkKind = Literal["source", "target", "runner_up", "middle"]


class Mark(Config):
    kind: MarkKind
    role: Role | None
    at: MapPoint
    name: str
    cell: Frame | None


class PathLine(Config):
    through: list[MapPoint]
    share: float


class CaseMap(Config):
    """Content of a case's map; places without a point have no mark."""

    frame: Frame
    marks: list[Mark]
    paths: list[PathLine]

    @property
    def alt(self) -> str:
        names = ", ".join(mark.name for mark in self.marks if mark.kind != "middle")
        return f"Map: {names}; {len(self.paths)} two-hop paths"


def case_map(case: SharedCase, places: list[SharedPlace], projection: Projection) -> CaseMap | None:
    """The marks of one case; None if the source or both places have no point."""
    at = {
        number: mark
        for number in {case.source, case.target, case.runner_up, *(path.place for path in case.paths[:MOST_PATHS])}
        if (mark := _position(places[number], projection)) is not None
    }
    if case.source not in at or not {case.target, case.runner_up} & set(at):
        return None
    paths = [
        PathLine(through=[at[case.source][0], at[path.place][0], at[case.target][0]], share=path.share)
        for path in case.paths[:MOST_PATHS]
        if path.place in at and case.target in at
    ]
    shown: list[tuple[MarkKind, Role | None, int]] = [
        ("middle", None, path.place) for path in case.paths[:MOST_PATHS] if path.place in at
    ]
    shown.append(("source", None, case.source))
    shown += [("runner_up", case.roles[1], case.runner_up), ("target", case.roles[0], case.target)]
    marks = [
        Mark(kind=kind, role=role, at=at[number][0], name=places[number].name, cell=at[number][1])
        for kind, role, number in shown
        if number in at
    ]
    return CaseMap(frame=_frame(marks), marks=marks, paths=paths)


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
