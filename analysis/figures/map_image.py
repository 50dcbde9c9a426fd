"""The map of one case as a PNG without a browser, for slides and papers: the same marks, drawn flat."""

import io
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from analysis.figures.palette import Palette, mix
from analysis.figures.walk_map import LARGEST_DISC_PX, disc_radius_px
from analysis.geography import Camera, screen_offsets
from analysis.opened import OpenDataset
from analysis.predictions import CasePrediction
from analysis.walks import Walk

SIZE: Final = (760, 540)
SCALE: Final = 2
_FILLS: Final = ("district", "park", "airfield", "water", "quay")
_LINES: Final = {"street": 1, "shore": 1, "ferry": 1, "rail": 1, "road": 3, "bridge": 3}

Pixel = tuple[float, float]


def draw_walk_image(
    opened: OpenDataset,
    walk: Walk,
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
    image = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), palette.land)
    draw = ImageDraw.Draw(image)
    layers = {} if basemap is None else {name: basemap["layers"][name] for name in basemap["order"]}
    for name, layer in layers.items():
        _draw_layer(draw, name, layer, camera, palette)
    for x, y in _pixels(camera, opened.latitude, opened.longitude):
        draw.ellipse([x - 1.5, y - 1.5, x + 1.5, y + 1.5], fill=mix(palette.quiet, palette.land, 0.35))
    stops = walk.stops["poi"].to_numpy()[: walk.stop_of(int(prediction.case["case"]))]
    path = _pixels(camera, opened.latitude[stops], opened.longitude[stops])
    if len(path) > 1:
        draw.line(path, fill=palette.ink, width=5, joint="curve")
    _draw_predictions(draw, opened, prediction, camera, palette, show_truth)
    x, y = path[-1]
    draw.ellipse([x - 15, y - 15, x + 15, y + 15], fill=palette.ink, outline=palette.land, width=4)
    _name(draw, (x, y + 2 * LARGEST_DISC_PX + 22), opened.labels[int(stops[-1])], palette.ink, palette)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _draw_predictions(
    draw: ImageDraw.ImageDraw,
    opened: OpenDataset,
    prediction: CasePrediction,
    camera: Camera,
    palette: Palette,
    show_truth: bool,
) -> None:
    table = prediction.candidates
    shown = table[~table["truth"] | (table["rank"] <= len(table) - 1)]
    weight = shown["probability"].to_numpy() if shown["probability"].notna().all() else 1 / shown["rank"].to_numpy()
    poi = shown["poi"].to_numpy()
    places = _pixels(camera, opened.latitude[poi], opened.longitude[poi])
    font = ImageFont.load_default(22)
    rows = list(zip(places, disc_radius_px(weight), shown["rank"], shown["revisit"], strict=True))
    for (x, y), radius, rank, revisit in reversed(rows):
        r = radius * SCALE
        draw.ellipse([x - r, y - r, x + r, y + r], fill=palette.model.fill, outline=palette.land, width=3)
        draw.text((x, y), f"{rank:g}", fill=palette.page, font=font, anchor="mm")
        if revisit:
            dot_x, dot_y = x + 0.72 * r, y - 0.72 * r
            box = [dot_x - 9, dot_y - 9, dot_x + 9, dot_y + 9]
            draw.ellipse(box, fill=palette.revisits.fill, outline=palette.land, width=3)
    if show_truth:
        target = int(prediction.case["target"])
        x, y = _pixels(camera, opened.latitude[[target]], opened.longitude[[target]])[0]
        mine = [radius for place, radius, _, _ in rows if place == (x, y)]
        r = SCALE * ((mine[0] if mine else 7) + 5)
        draw.ellipse([x - r, y - r, x + r, y + r], outline=palette.truth.fill, width=6)
        _name(draw, (x, y - r - 18), opened.labels[target], palette.truth.text, palette)


def _draw_layer(
    draw: ImageDraw.ImageDraw, name: str, collection: Mapping[str, Any], camera: Camera, palette: Palette
) -> None:
    colours = {
        "district": palette.district,
        "park": palette.park,
        "airfield": palette.park,
        "water": palette.water,
        "quay": palette.land,
        "street": palette.street,
        "shore": palette.shore,
        "ferry": palette.shore,
        "rail": palette.road_casing,
        "road": palette.road_casing,
        "bridge": palette.road_casing,
    }
    for feature in collection["features"]:
        for kind, lines in _parts(feature["geometry"]):
            if kind == "polygon" and name in _FILLS:
                _fill(draw, [_project(camera, line) for line in lines], colours[name], palette, name)
            elif kind == "line" and name in _LINES:
                for line in lines:
                    draw.line(_project(camera, line), fill=colours[name], width=_LINES[name] * SCALE)


def _fill(draw: ImageDraw.ImageDraw, rings: list[list[Pixel]], colour: str, palette: Palette, name: str) -> None:
    """The outer ring in its colour; islands in the sea are land again."""
    draw.polygon(rings[0], fill=colour)
    for hole in rings[1:]:
        draw.polygon(hole, fill=palette.land if name == "water" else colour)


def _parts(geometry: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    kind, coordinates = geometry["type"], geometry["coordinates"]
    if kind == "Polygon":
        yield "polygon", coordinates
    elif kind == "MultiPolygon":
        for polygon in coordinates:
            yield "polygon", polygon
    elif kind == "LineString":
        yield "line", [coordinates]
    elif kind == "MultiLineString":
        yield "line", coordinates


def _project(camera: Camera, line: list[list[float]]) -> list[Pixel]:
    points = np.array(line, dtype=np.float64)
    return _pixels(camera, points[:, 1], points[:, 0])


def _pixels(camera: Camera, latitude: np.ndarray, longitude: np.ndarray) -> list[Pixel]:
    x, y = screen_offsets(camera, latitude, longitude)
    return [(float(a), float(b)) for a, b in zip(SCALE * (x + SIZE[0] / 2), SCALE * (y + SIZE[1] / 2), strict=True)]


def _name(draw: ImageDraw.ImageDraw, at: Pixel, text: str, colour: str, palette: Palette) -> None:
    shown = text if len(text) <= 32 else text[:31] + "…"
    font = ImageFont.load_default(26)
    box = draw.textbbox(at, shown, font=font, anchor="mm")
    draw.rounded_rectangle([box[0] - 8, box[1] - 5, box[2] + 8, box[3] + 5], radius=8, fill=palette.land)
    draw.text(at, shown, fill=colour, font=font, anchor="mm")
