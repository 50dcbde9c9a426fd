"""A shared case's map as a PNG or SVG: what a page shows of `analysis.sharing.case_map`, drawn flat.

It is drawn from `SharedPage` alone. The file contains only pixels: no text chunk, no time.
"""

from pathlib import Path
from typing import Final

from PIL import Image

from analysis.figures.letters import Letters
from analysis.figures.map_ground import ANCHORS, draw_disc, draw_part, draw_plate, draw_time, ground_colours, to_png
from analysis.figures.palette import LIGHT, Palette, mix
from analysis.figures.svg_draw import Pen, SvgDraw, blank
from analysis.sharing.case_map import WIDTH_PX, CaseMap, case_map
from analysis.sharing.ground import Ground, MapPoint
from analysis.sharing.shared_case import SharedPage

_SIZE: Final = (1520, 1080)
_TWICE: Final = 2
"""Drawn at twice the size and halved, so that lines are smooth."""
_WIDTH, _HEIGHT = (_TWICE * side for side in _SIZE)
_PX: Final = _TWICE * _SIZE[0] / WIDTH_PX
"""Pixels here for one of the page's map."""
_LETTERS: Final = round(13 * _PX)


def draw_case_image(
    page: SharedPage, *, palette: Palette = LIGHT, font: Path | None = None, svg: bool = False
) -> bytes:
    """The map of the page's first case, 1520 x 1080 pixels; only the ground's colour if the case has no point.

    Without a font file that knows the names' letters, accents are left out.
    """
    drawn = case_map(page.cases[0], page.places)
    image, draw = blank((_WIDTH, _HEIGHT), palette.land, svg=svg)
    if drawn is not None:
        _draw(image, draw, drawn, page.ground, palette, Letters(font))
        draw_time(draw, page.cases[0].time_given, palette, Letters(font), _TWICE)
    if isinstance(draw, SvgDraw):
        return draw.to_json(_SIZE[0] // 2)
    return to_png(image.resize(_SIZE, Image.Resampling.LANCZOS))


def _draw(image: Image.Image, draw: Pen, drawn: CaseMap, ground: Ground, palette: Palette, letters: Letters) -> None:
    left, top, _, frame_height = drawn.frame
    scale = _PX / drawn.unit

    def at(point: MapPoint) -> MapPoint:
        return (point[0] - left) * scale, (point[1] - top - frame_height / 2) * scale + _HEIGHT / 2

    colours = ground_colours(palette)
    for layer in ground.layers:
        for part in layer.parts:
            draw_part(image, draw, layer.name, [[at(point) for point in ring] for ring in part], colours[layer.name])
    for point in ground.dots:
        draw_disc(draw, at(point), 3, fill=mix(palette.quiet, palette.land, 0.35), outline=None, width=1)
    for x, y, wide, high in drawn.cells:
        draw.rectangle([at((x, y)), at((x + wide, y + high))], outline=mix(palette.quiet, palette.land, 0.45), width=3)
    for path in drawn.paths:
        draw.line([at(point) for point in path.through], fill=palette.paths.fill, width=round(_PX * path.width_px))
    for mark in drawn.marks:
        fill, rim = palette.of_mark(mark.kind)
        rim_px = round((2.5 if fill is None else 1) * _PX)
        draw_disc(draw, at(mark.at), _PX * mark.r_px, fill=fill, outline=rim, width=rim_px)
    for name in drawn.names:
        spot = at((name.x, name.plate[1] + name.plate[3] / 2))
        text, font, anchor = letters.fit(name.text), letters.font(_LETTERS, bold=True), ANCHORS[name.anchor]
        colour = palette.of_role(name.kind).text
        draw_plate(draw, spot, text, colour, font, palette, anchor=anchor, room=(14, 8, 12))
    if ground.credit:
        corner, font = (_WIDTH - 12 * _TWICE, _HEIGHT - 8 * _TWICE), letters.font(15 * _TWICE)
        draw.text(corner, letters.fit(ground.credit), fill=palette.quiet, font=font, anchor="rs")
