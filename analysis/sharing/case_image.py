"""A shared case's map as a PNG: the marks and the ground of `analysis.sharing.case_map`, drawn flat.

It is drawn from `SharedPage` alone. The file contains only pixels: no text chunk, no time.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw

from analysis.figures.labels import place_labels
from analysis.figures.letters import Letters
from analysis.figures.map_ground import ANCHORS, LINE_WIDTHS, draw_disc, draw_plate, draw_time, ground_colours, to_png
from analysis.figures.palette import LIGHT, Palette, mix
from analysis.sharing.case_map import CaseMap, Mark, case_map
from analysis.sharing.ground import Ground, MapPoint
from analysis.sharing.share import projection_of
from analysis.sharing.shared_case import SharedPage

_SIZE: Final = (1520, 1080)
_TWICE: Final = 2
"""Drawn at twice the size and halved, so that lines are smooth."""
_LETTERS_PX: Final = 26
_LETTER: Final = _TWICE * _LETTERS_PX / 13
"""Pixels here for one where `place_labels` reckons with letters of 13 pixels."""
_RADIUS: Final = {"source": 13, "target": 15, "runner_up": 14, "middle": 8}


def draw_case_image(page: SharedPage, *, palette: Palette = LIGHT, font: Path | None = None) -> bytes:
    """The map of the page's first case, 1520 x 1080 pixels; only the ground's colour if the case has no point.

    Without a font file that knows the names' letters, accents are left out.
    """
    drawn = case_map(page.cases[0], page.places, projection_of(page))
    image = Image.new("RGB", _SIZE, palette.land)
    if drawn is not None:
        image = _draw(drawn, page.ground, palette, Letters(font), page.cases[0].time_given)
    return to_png(image)


def _draw(drawn: CaseMap, ground: Ground, palette: Palette, letters: Letters, time_given: str) -> Image.Image:
    width, height = _TWICE * _SIZE[0], _TWICE * _SIZE[1]
    left, top, frame_width, frame_height = drawn.frame
    scale = min(width / frame_width, height / frame_height)
    shift = ((width - scale * frame_width) / 2, (height - scale * frame_height) / 2)

    def at(point: MapPoint) -> MapPoint:
        return (point[0] - left) * scale + shift[0], (point[1] - top) * scale + shift[1]

    image = Image.new("RGB", (width, height), palette.land)
    draw = ImageDraw.Draw(image)
    colours = ground_colours(palette)
    for layer in ground.layers:
        colour = colours.get(layer.name, palette.road_casing)
        for part in layer.parts:
            lines = [[at(point) for point in ring] for ring in part]
            if layer.kind == "line":
                draw.line(lines[0], fill=colour, width=LINE_WIDTHS[layer.name] * _TWICE)
                continue
            draw.polygon(lines[0], fill=colour)
            for hole in lines[1:]:
                draw.polygon(hole, fill=palette.land if layer.name == "water" else colour)
    for point in ground.dots:
        _disc(draw, at(point), 3, mix(palette.quiet, palette.land, 0.35), None)
    for mark in drawn.marks:
        if mark.cell is not None:
            x, y, wide, high = mark.cell
            corners = [at((x, y)), at((x + wide, y + high))]
            draw.rectangle([corners[0], corners[1]], outline=mix(palette.quiet, palette.land, 0.45), width=3)
    for path in drawn.paths:
        draw.line([at(p) for p in path.through], fill=palette.paths.fill, width=round(_TWICE * (3 + 9 * path.share)))
    for mark in drawn.marks:
        _mark(draw, at(mark.at), mark, palette)
    _names(draw, [(at(mark.at), mark) for mark in drawn.marks], palette, letters, (width, height))
    if ground.credit:
        corner = width - 12 * _TWICE, height - 8 * _TWICE
        font = letters.font(15 * _TWICE)
        draw.text(corner, letters.fit(ground.credit), fill=palette.quiet, font=font, anchor="rs")
    draw_time(draw, time_given, palette, letters, _TWICE)
    return image.resize(_SIZE, Image.Resampling.LANCZOS)


def _mark(draw: ImageDraw.ImageDraw, at: MapPoint, mark: Mark, palette: Palette) -> None:
    radius = _TWICE * _RADIUS[mark.kind]
    if mark.kind == "source":
        _disc(draw, at, radius, palette.ink, palette.land)
    elif mark.kind == "middle":
        _disc(draw, at, radius, palette.paths.fill, palette.land)
    elif mark.role == "truth":
        draw_disc(draw, at, radius, fill=None, outline=palette.truth.fill, width=5 * _TWICE)
    else:
        _disc(draw, at, radius, palette.of_role(mark.role or "model").fill, palette.land)


def _disc(draw: ImageDraw.ImageDraw, at: MapPoint, radius: float, fill: str, outline: str | None) -> None:
    draw_disc(draw, at, radius, fill=fill, outline=outline, width=2 * _TWICE)


def _names(
    draw: ImageDraw.ImageDraw,
    marks: list[tuple[MapPoint, Mark]],
    palette: Palette,
    letters: Letters,
    size: tuple[int, int],
) -> None:
    """Names on plates that cover neither a mark nor each other, see `analysis.figures.labels`."""
    middle_x, middle_y = size[0] / 2, size[1] / 2
    seen = np.array([[(x - middle_x) / _LETTER, (y - middle_y) / _LETTER] for (x, y), _ in marks])
    radius = np.array([_TWICE * _RADIUS[mark.kind] / _LETTER for _, mark in marks])
    named = [index for index, (_, mark) in enumerate(marks) if mark.kind != "middle"][::-1]  # as on a page's map
    placed = place_labels(
        [marks[index][1].name for index in named],
        seen[named, 0],
        seen[named, 1],
        radius[named] + 8,
        obstacles=np.column_stack([seen, radius]),
        half_size=(middle_x / _LETTER, middle_y / _LETTER),
    )
    font = letters.font(_LETTERS_PX * _TWICE, bold=True)
    for label in placed:
        (x, y), mark = marks[named[label.index]]
        x, y = x + label.shift_x * _LETTER, y + label.shift_y * _LETTER
        colour = palette.ink if mark.kind == "source" else palette.of_role(mark.role or "model").text
        look: dict[str, Any] = {"anchor": ANCHORS[label.anchor], "room": (14, 8, 12)}
        draw_plate(draw, (x, y), letters.fit(label.text), colour, font, palette, **look)
