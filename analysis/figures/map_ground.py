"""Draw a map's ground and names as a flat picture, for PNGs without a browser."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from analysis.basemap.document import LINES, parts_of
from analysis.figures.letters import Letters
from analysis.figures.palette import Palette, mix
from analysis.figures.scale_bar import scale_bar
from analysis.figures.svg_draw import Pen, SvgDraw, blank
from analysis.geography import Camera, screen_offsets
from analysis.workspace import Workspace

SIZE: Final = (760, 540)
SCALE: Final = 2
_WIDE_LINES: Final = ("road", "bridge")

ANCHORS: Final = {"start": "lm", "middle": "mm", "end": "rm"}
"""Pillow's names of where a text stands at its point."""

Pixel = tuple[float, float]


@dataclass(frozen=True)
class MapGround:
    """A map's places and layers, and the letters of its names."""

    opened: Workspace
    basemap: Mapping[str, Any] | None = None
    letters: Letters = field(default_factory=Letters)


def draw_ground(
    ground: MapGround, camera: Camera, palette: Palette, *, height: int = SIZE[1], svg: bool = False
) -> tuple[Image.Image, Pen]:
    """The city's layers, and every place as a faint dot; scale bar and credit are in the middle band of a height."""
    opened, basemap = ground.opened, ground.basemap
    image, draw = blank((SIZE[0] * SCALE, SIZE[1] * SCALE), palette.land, svg=svg)
    if basemap is not None:
        draw_layers(image, draw, basemap, camera, palette)
    for x, y in pixels(camera, opened.latitude, opened.longitude):
        draw.ellipse([x - 1.5, y - 1.5, x + 1.5, y + 1.5], fill=mix(palette.quiet, palette.land, 0.35))
    _draw_scale(draw, camera, palette, height)
    credit = "" if basemap is None else str(basemap.get("attribution", ""))
    if credit:
        corner = SCALE * SIZE[0] - 12, SCALE * (SIZE[1] + height) / 2 - 10
        letters = ground.letters
        draw_plate(draw, corner, letters.fit(credit), palette.quiet, letters.font(20), palette, anchor="rb")
    return image, draw


def draw_layers(image: Image.Image, draw: Pen, basemap: Mapping[str, Any], camera: Camera, palette: Palette) -> None:
    colours = ground_colours(palette)
    for name in basemap["order"]:
        for properties, part in parts_of(name, basemap["layers"][name]):
            colour = palette.density(properties["level"]) if name == "density" else colours[name]
            draw_part(image, draw, name, [_project(camera, line) for line in part], colour)


def draw_part(image: Image.Image, draw: Pen, name: str, part: list[list[Pixel]], colour: str) -> None:
    """A line of a layer, or a polygon without its holes."""
    if name in LINES:
        draw.line(part[0], fill=colour, width=SCALE * (3 if name in _WIDE_LINES else 1))
    elif len(part) == 1:
        draw.polygon(part[0], fill=colour)
    elif isinstance(draw, SvgDraw):
        draw.rings(*part, fill=colour)
    else:
        mask = Image.new("1", image.size)
        inside = ImageDraw.Draw(mask)
        for number, ring in enumerate(part):
            inside.polygon(ring, fill=int(number == 0))
        image.paste(colour, mask=mask)


def _draw_scale(draw: Pen, camera: Camera, palette: Palette, height: int) -> None:
    bar = scale_bar(camera, (SIZE[0] / 2, height / 2))
    left, right = (on_picture(x, bar.y) for x in bar.x)
    draw.line([left, right], fill=palette.quiet, width=6)
    font, corner = ImageFont.load_default(22), (left[0] + 4, left[1] - 12)
    draw_plate(draw, corner, bar.text, palette.quiet, font, palette, anchor="lb")


def to_png(image: Image.Image, *, quick: bool = False) -> bytes:
    """Encode a PNG; ``quick`` takes a quarter of the time for a quarter more bytes."""
    buffer = io.BytesIO()
    if quick:
        image.save(buffer, format="PNG", compress_level=4)
    else:
        image.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def draw_disc(draw: Pen, at: Pixel, radius: float, *, fill: str | None, outline: str | None, width: int) -> None:
    """A disc, or a ring where ``fill`` is None."""
    x, y = at
    draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=fill, outline=outline, width=width)


def ground_colours(palette: Palette) -> dict[str, str]:
    """Colour of every layer of a basemap except density."""
    return {
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


def _project(camera: Camera, line: list[list[float]]) -> list[Pixel]:
    points = np.array(line, dtype=np.float64)
    return pixels(camera, points[:, 1], points[:, 0])


def pixels(camera: Camera, latitude: np.ndarray, longitude: np.ndarray) -> list[Pixel]:
    x, y = screen_offsets(camera, latitude, longitude)
    return [on_picture(a, b) for a, b in zip(x, y, strict=True)]


def on_picture(x: float, y: float) -> Pixel:
    """The picture's pixel for an offset from the map's middle."""
    return float(SCALE * (x + SIZE[0] / 2)), float(SCALE * (y + SIZE[1] / 2))


def draw_plate(
    draw: Pen,
    at: Pixel,
    text: str,
    colour: str,
    font: Any,
    palette: Palette,
    *,
    anchor: str,
    room: tuple[int, int, int] = (8, 5, 8),
) -> None:
    """Words on a plate of land; ``room``: at its sides, above and below, and the radius of its corners."""
    box, (aside, above, radius) = draw.textbbox(at, text, font=font, anchor=anchor), room
    plate = [box[0] - aside, box[1] - above, box[2] + aside, box[3] + above]
    draw.rounded_rectangle(plate, radius=radius, fill=palette.land)
    draw.text(at, text, fill=colour, font=font, anchor=anchor)


def draw_time(draw: Pen, when: str, palette: Palette, letters: Letters, scale: int = 1) -> None:
    """The time that a model was given, in the upper left corner; nothing without one."""
    if when:
        text, font = letters.fit(f"Time given: {when}"), letters.font(26 * scale)
        draw_plate(draw, (24 * scale, 20 * scale), text, palette.ink, font, palette, anchor="la")
