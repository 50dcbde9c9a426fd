"""The marks of `walk_deck` and `explain_deck` as PNGs, without a browser."""

from datetime import datetime
from itertools import pairwise

from PIL import Image, ImageDraw

from analysis.explain.explanation import CaseExplanation
from analysis.figures import explain_map
from analysis.figures.explain_marks import ExplainMarks, explain_marks
from analysis.figures.letters import Letters
from analysis.figures.map_ground import (
    SCALE,
    SIZE,
    MapGround,
    draw_disc,
    draw_ground,
    draw_names,
    draw_text,
    draw_time,
    on_picture,
    to_png,
)
from analysis.figures.palette import Palette, mix
from analysis.figures.table_rows import rows
from analysis.figures.walk_map import name_colours, rank_ink, revisit_shift
from analysis.figures.walk_marks import WalkMarks
from analysis.formatting import day
from recap import columns as c


def draw_walk_image(marks: WalkMarks, ground: MapGround, *, palette: Palette, time_given: str = "") -> bytes:
    """The marks over the map's ground, as a PNG of 1520 x 1080 pixels; ``time_given`` in words."""
    image, draw = draw_ground(ground, marks.camera, palette)
    _draw_marks(image, marks, palette, ground.letters)
    draw_time(draw, time_given, palette, ground.letters)
    return to_png(image)


def _draw_marks(image: Image.Image, marks: WalkMarks, palette: Palette, letters: Letters) -> None:
    draw = ImageDraw.Draw(image)
    _draw_two_hops(draw, marks, palette)
    walked = [on_picture(x, y) for x, y in zip(marks.walked["x"], marks.walked["y"], strict=True)]
    for ends, strength in zip(pairwise(walked), marks.strength, strict=True):
        draw.line(ends, fill=mix(palette.ink, palette.land, 0.2 + 0.75 * strength), width=5)
    for stop in rows(marks.stops):
        draw_disc(
            draw, on_picture(stop["x"], stop["y"]), SCALE * stop["r"], fill=palette.land, outline=palette.ink, width=3
        )
    for stop in rows(marks.stops):
        draw_text(draw, on_picture(stop["x"], stop["y"]), stop["stop"], palette.ink, 20)
    _draw_predictions(draw, marks, palette)
    source = marks.source.iloc[0]
    draw_disc(
        draw, on_picture(source["x"], source["y"]), SCALE * source["r"], fill=palette.ink, outline=palette.land, width=4
    )
    draw_names(draw, marks.names, name_colours(palette), palette, letters)


def draw_explain_image(explanation: CaseExplanation, ground: MapGround, *, palette: Palette) -> bytes:
    """Two-hop paths, the source and the two places over the map's ground, as a PNG of 1520 x 1080 pixels."""
    marks = explain_marks(explanation, ground.opened, size=SIZE)
    image, draw = draw_ground(ground, marks.camera, palette)
    _draw_two_hops(draw, marks, palette)
    for place in rows(marks.places.iloc[::-1]):
        fill, outline = explain_map.mark_colours(place["of"], palette)
        draw_disc(draw, on_picture(place["x"], place["y"]), SCALE * place["r"], fill=fill, outline=outline, width=6)
    draw_names(draw, marks.names, explain_map.role_colours(palette), palette, ground.letters)
    given = datetime.fromisoformat(explanation.time_given) if explanation.time_given else None
    draw_time(draw, "" if given is None else f"{day(given)}, {given:%H:%M}", palette, ground.letters)
    return to_png(image)


def _draw_two_hops(draw: ImageDraw.ImageDraw, marks: WalkMarks | ExplainMarks, palette: Palette) -> None:
    for line in rows(marks.two_hops):
        corners = [on_picture(x, y) for x, y in zip(line["x"], line["y"], strict=True)]
        draw.line(corners, fill=palette.paths.fill, width=round(SCALE * line["w"]))
    for middle in rows(marks.middles):
        at = on_picture(middle["x"], middle["y"])
        draw_disc(draw, at, SCALE * middle["r"], fill=palette.paths.fill, outline=palette.land, width=3)


def _draw_predictions(draw: ImageDraw.ImageDraw, marks: WalkMarks, palette: Palette) -> None:
    for disc in rows(marks.discs.iloc[::-1]):
        at, r = on_picture(disc["x"], disc["y"]), SCALE * disc["r"]
        draw_disc(draw, at, r, fill=palette.model.fill, outline=palette.land, width=3)
        if disc["covered"]:
            continue
        draw_text(draw, at, disc[c.RANK], rank_ink(palette), 22)
        if disc["revisit"]:
            right, down = revisit_shift(r)
            corner = at[0] + right, at[1] + down
            draw_disc(draw, corner, 9, fill=palette.revisits.fill, outline=palette.land, width=3)
    for ring in rows(marks.ring):
        at = on_picture(ring["x"], ring["y"])
        draw_disc(draw, at, SCALE * ring["r"], fill=None, outline=palette.truth.fill, width=6)
