"""The map of an explanation as a PNG without a browser: the same marks as `explain_deck`, drawn flat."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis.explain.explanation import FullExplanation
from analysis.figures.map_ground import SCALE, SIZE, draw_disc, draw_ground, draw_name, pixels, to_png
from analysis.figures.palette import Palette
from analysis.geography import fit_camera
from analysis.records.loaded_dataset import LoadedDataset


def draw_explain_image(
    explanation: FullExplanation, opened: LoadedDataset, *, palette: Palette, basemap: Mapping[str, Any] | None = None
) -> bytes:
    """Two-hop paths, the source and the two places compared, over the map's ground.

    Args:
        basemap: the city's own layers; without them every place is a faint dot.

    Returns:
        A PNG of 1520 x 1080 pixels.
    """
    middles = [path.middle for path in explanation.path_evidence]
    poi = np.array([explanation.source, explanation.target, explanation.rival, *middles])
    camera = fit_camera(opened.latitude[poi], opened.longitude[poi], width_px=SIZE[0], height_px=SIZE[1])
    image, draw = draw_ground(opened, camera, palette, basemap)
    source, target, rival, *middle_at = pixels(camera, opened.latitude[poi], opened.longitude[poi])
    for path, at in zip(explanation.path_evidence, middle_at, strict=True):
        draw.line([source, at, target], fill=palette.paths.fill, width=round(SCALE * (1.5 + 6 * path.share)))
        draw_disc(draw, at, 5 * SCALE, fill=palette.paths.fill, outline=palette.land, width=3)
    draw_disc(draw, source, 8 * SCALE, fill=palette.ink, outline=palette.land, width=4)
    draw_name(draw, (source[0], source[1] - 22 * SCALE), explanation.source_name, palette.ink, palette)
    names = (explanation.target_name, explanation.contrast.b.name)
    for at, name, role in reversed(list(zip((target, rival), names, explanation.roles, strict=True))):
        colour = palette.of_role(role)
        ring = role == "truth"
        radius = SCALE * (11 if ring else 9)
        fill, outline = (None, colour.fill) if ring else (colour.fill, palette.land)
        draw_disc(draw, at, radius, fill=fill, outline=outline, width=6)
        draw_name(draw, (at[0], at[1] + radius + 11 * SCALE), name, colour.text, palette)
    return to_png(image)
