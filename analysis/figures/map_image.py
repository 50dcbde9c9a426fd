"""The map of one case as a PNG without a browser, for slides and papers: the same marks, drawn flat."""

from collections.abc import Mapping
from typing import Any

from PIL import ImageDraw, ImageFont

from analysis.figures.map_ground import SCALE, draw_disc, draw_ground, draw_name, pixels, to_png
from analysis.figures.palette import Palette
from analysis.figures.walk_map import LARGEST_DISC_PX, disc_radius_px
from analysis.geography import Camera
from analysis.records.loaded_dataset import LoadedDataset
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from recap import columns as c


def draw_walk_image(
    opened: LoadedDataset,
    trajectory: Trajectory,
    prediction: CasePrediction,
    *,
    camera: Camera,
    palette: Palette,
    basemap: Mapping[str, Any] | None = None,
    show_truth: bool = True,
) -> bytes:
    """Path so far, predictions, truth and names over the map's ground.

    Args:
        basemap: the city's own layers; without them every place is a faint dot.

    Returns:
        A PNG of 1520 x 1080 pixels.
    """
    image, draw = draw_ground(opened, camera, palette, basemap)
    stops = trajectory.stops[c.POI].to_numpy()[: trajectory.stop_of(int(prediction.case[c.CASE]))]
    path = pixels(camera, opened.latitude[stops], opened.longitude[stops])
    if len(path) > 1:
        draw.line(path, fill=palette.ink, width=5, joint="curve")
    _draw_predictions(draw, opened, prediction, camera, palette, show_truth)
    x, y = path[-1]
    draw_disc(draw, (x, y), 15, fill=palette.ink, outline=palette.land, width=4)
    draw_name(draw, (x, y + 2 * LARGEST_DISC_PX + 22), opened.labels[int(stops[-1])], palette.ink, palette)
    return to_png(image)


def _draw_predictions(
    draw: ImageDraw.ImageDraw,
    opened: LoadedDataset,
    prediction: CasePrediction,
    camera: Camera,
    palette: Palette,
    show_truth: bool,
) -> None:
    table = prediction.candidates
    shown = table[~table["truth"] | (table[c.RANK] <= len(table) - 1)]
    weight = shown["probability"].to_numpy() if shown["probability"].notna().all() else 1 / shown[c.RANK].to_numpy()
    poi = shown[c.POI].to_numpy()
    places = pixels(camera, opened.latitude[poi], opened.longitude[poi])
    font = ImageFont.load_default(22)
    rows = list(zip(places, disc_radius_px(weight), shown[c.RANK], shown["revisit"], strict=True))
    for (x, y), radius, rank, revisit in reversed(rows):
        r = radius * SCALE
        draw_disc(draw, (x, y), r, fill=palette.model.fill, outline=palette.land, width=3)
        draw.text((x, y), f"{rank:g}", fill=palette.page, font=font, anchor="mm")
        if revisit:
            corner = (x + 0.72 * r, y - 0.72 * r)
            draw_disc(draw, corner, 9, fill=palette.revisits.fill, outline=palette.land, width=3)
    if show_truth:
        target = int(prediction.case[c.TARGET])
        x, y = pixels(camera, opened.latitude[[target]], opened.longitude[[target]])[0]
        mine = [radius for place, radius, _, _ in rows if place == (x, y)]
        r = SCALE * ((mine[0] if mine else 7) + 5)
        draw_disc(draw, (x, y), r, fill=None, outline=palette.truth.fill, width=6)
        draw_name(draw, (x, y - r - 18), opened.labels[target], palette.truth.text, palette)
