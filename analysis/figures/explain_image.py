"""The map of an explanation as a PNG without a browser: the same marks as `explain_deck`, drawn flat."""

from analysis.explain.explanation import CaseExplanation
from analysis.figures.explain_map import mark_colours, name_colours
from analysis.figures.explain_marks import explain_marks
from analysis.figures.map_ground import SCALE, SIZE, Ground, draw_disc, draw_ground, draw_names, on_picture, to_png
from analysis.figures.palette import Palette
from analysis.figures.table_rows import rows


def draw_explain_image(explanation: CaseExplanation, ground: Ground, *, palette: Palette) -> bytes:
    """Two-hop paths, the source and the two places compared, over the map's ground.

    Returns:
        A PNG of 1520 x 1080 pixels.
    """
    marks = explain_marks(explanation, ground.opened, size=SIZE)
    image, draw = draw_ground(ground, marks.camera, palette)
    for line in rows(marks.two_hops):
        corners = [on_picture(x, y) for x, y in zip(line["x"], line["y"], strict=True)]
        draw.line(corners, fill=palette.paths.fill, width=round(SCALE * line["w"]))
    for middle in rows(marks.middles):
        at = on_picture(middle["x"], middle["y"])
        draw_disc(draw, at, SCALE * middle["r"], fill=palette.paths.fill, outline=palette.land, width=3)
    for place in rows(marks.places.iloc[::-1]):
        fill, outline = mark_colours(place["of"], palette)
        draw_disc(draw, on_picture(place["x"], place["y"]), SCALE * place["r"], fill=fill, outline=outline, width=6)
    draw_names(draw, marks.names, name_colours(palette), palette)
    return to_png(image)
