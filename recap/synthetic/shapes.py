"""Plane geometry in whole metres, with integers only: the same outlines on every machine."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from math import isqrt

import numpy as np
import numpy.typing as npt

from recap.synthetic.draws import Draws, Point

Line = list[Point]


def smooth(points: Sequence[Point], rounds: int = 2, *, closed: bool = False) -> Line:
    """Round off corners by Chaikin's corner cutting; the ends of an open line stay."""
    line = [(x, y) for x, y in points]
    for _ in range(rounds):
        pairs = pairwise([*line, line[0]] if closed else line)
        cut: Line = []
        for (ax, ay), (bx, by) in pairs:
            cut += [((3 * ax + bx) // 4, (3 * ay + by) // 4), ((ax + 3 * bx) // 4, (ay + 3 * by) // 4)]
        line = cut if closed else [line[0], *cut[1:-1], line[-1]]
    return line


def roughen(points: Sequence[Point], draws: Draws, rounds: int, reach: int, *, closed: bool = False) -> Line:
    """Displace the middle of each stretch sideways by up to 1/reach of its length."""
    line = [(x, y) for x, y in points]
    for _ in range(rounds):
        ends = line[1:] + line[:1] if closed else line[1:]
        frayed: Line = []
        for (ax, ay), (bx, by) in zip(line, ends, strict=False):
            shift = draws.between(-1000, 1000)
            x = (ax + bx) // 2 - (by - ay) * shift // (1000 * reach)
            y = (ay + by) // 2 + (bx - ax) * shift // (1000 * reach)
            frayed += [(ax, ay), (x, y)]
        line = frayed if closed else [*frayed, line[-1]]
    return line


def widen(centre: Sequence[Point], widths: Sequence[int]) -> Line:
    """The outline of a band along a line, `widths` metres across at each point."""
    left: Line = []
    right: Line = []
    for index, ((x, y), width) in enumerate(zip(centre, widths, strict=True)):
        (ax, ay), (bx, by) = centre[max(index - 1, 0)], centre[min(index + 1, len(centre) - 1)]
        length = max(isqrt((bx - ax) ** 2 + (by - ay) ** 2), 1)
        dx, dy = (by - ay) * width // (2 * length), (bx - ax) * width // (2 * length)
        left.append((x - dx, y + dy))
        right.append((x + dx, y - dy))
    return left + right[::-1]


def inside(points: npt.NDArray[np.int64], polygon: Sequence[Point]) -> npt.NDArray[np.bool_]:
    """Whether each point (rows of x, y) lies inside a polygon (even-odd rule, exact in integers)."""
    corners = np.array(polygon, dtype=np.int64)
    near = np.flatnonzero(((points >= corners.min(axis=0)) & (points <= corners.max(axis=0))).all(axis=1))
    x, y = points[near, 0], points[near, 1]
    crossed = np.zeros(len(near), dtype=bool)
    if len(near):
        lowest, highest = int(y.min()), int(y.max())
        for (ax, ay), (bx, by) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
            if ay == by or max(ay, by) < lowest or min(ay, by) > highest:
                continue
            spans = (ay > y) != (by > y)
            side = (bx - ax) * (y - ay) - (x - ax) * (by - ay)
            crossed ^= spans & ((side > 0) if by > ay else (side < 0))
    answer = np.zeros(len(points), dtype=bool)
    answer[near] = crossed
    return answer


def runs(line: Sequence[Point], kept: Sequence[bool], every: int = 1, shortest: int = 3) -> list[Line]:
    """The stretches of a line whose points are all kept, thinned to every n-th and the last point."""
    stretches = []
    for keep, group in groupby(range(len(line)), key=lambda index: kept[index]):
        indices = list(group)
        if keep and len(indices) >= shortest:
            stretches.append([line[index] for index in (*indices[:-1:every], indices[-1])])
    return stretches
