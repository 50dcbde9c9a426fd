"""Draw a case without a browser: a thumbnail for a card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from analysis.figures.map_ground import (
    SCALE,
    SIZE,
    MapGround,
    draw_disc,
    draw_ground,
    pixels,
    to_png,
)
from analysis.figures.palette import Palette
from analysis.geography import Camera, fit_camera, screen_offsets
from analysis.trajectories.two_hop import two_hops_read
from analysis.workspace import Workspace
from recap import columns as c

THUMBNAIL_PX: Final = (760, 260)
_PADDING_PX: Final = 36


@dataclass(frozen=True)
class Marks:
    """The marks of a picture; places by index.

    Attributes:
        truth: where the user went; None hides it.
        predicted: the model's first places, best first.
        truth_rank: written into the truth's ring.
        middles: middle places of two-hop paths from the source to the truth.
        visited: the user had been at the truth before.
    """

    source: int
    truth: int | None = None
    predicted: tuple[int, ...] = ()
    truth_rank: float | None = None
    middles: tuple[int, ...] = ()
    visited: bool = False

    @property
    def places(self) -> list[int]:
        truth = [] if self.truth is None else [self.truth]
        return list(dict.fromkeys([self.source, *truth, *self.predicted, *self.middles]))


def marks_of_record(opened: Workspace, record: Any, *, hops: str | None) -> Marks:
    """The marks of a thumbnail, from one row of records.

    ``hops`` is the part of the model whose strongest two-hop path to the truth is drawn, see `two_hops_read`.
    """
    source, target = int(record[c.SOURCE]), int(record[c.TARGET])
    middles = two_hops_read(opened, record, [target], hops)[0]["middle"].head(1).tolist() if hops else []
    return Marks(
        source=source,
        truth=target,
        predicted=tuple(int(poi) for poi in record[c.TOP_POIS][:2]),
        truth_rank=float(record[c.RANK]),
        middles=tuple(int(middle) for middle in middles),
        visited=bool(record[c.IN_HISTORY]) or source == target,
    )


def draw_thumbnail(
    opened: Workspace, marks: Marks, *, palette: Palette, basemap: Mapping[str, Any] | None = None
) -> bytes:
    """A small map without names, as a PNG of 760 x 260 pixels."""
    camera, image, draw, top = _ground(opened, marks.places, THUMBNAIL_PX, _PADDING_PX, palette, basemap)
    _draw_marks(draw, opened, marks, camera, palette, size=1.7)
    return _cut(image, top, SCALE)


def _ground(
    opened: Workspace,
    places: Sequence[int],
    size: tuple[int, int],
    padding: int,
    palette: Palette,
    basemap: Mapping[str, Any] | None,
) -> tuple[Camera, Image.Image, ImageDraw.ImageDraw, int]:
    """Draw the ground; return its camera, picture, pen and the upper edge of the visible band."""
    poi = np.array(places, dtype=np.int64)
    height = round(SIZE[0] * size[1] / size[0])
    camera = fit_camera(
        opened.latitude[poi],
        opened.longitude[poi],
        width_px=SIZE[0],
        height_px=height,
        padding_px=padding,
        max_zoom=14.0,
    )
    image, draw = draw_ground(MapGround(opened, _near(basemap, camera)), camera, palette, height=height)
    return camera, image, draw, SCALE * (SIZE[1] - height) // 2


def _cut(image: Image.Image, top: int, shrink: int) -> bytes:
    """Crop to a PNG; compress quickly, because a page shows several cards."""
    band = image.crop((0, top, image.width, image.height - top))
    return to_png(band.reduce(shrink) if shrink > 1 else band, quick=True)


def _near(basemap: Mapping[str, Any] | None, camera: Camera) -> Mapping[str, Any] | None:
    if basemap is None:
        return None
    layers = {
        name: {**layer, "features": [feature for feature in layer["features"] if _is_near(feature, camera)]}
        for name, layer in basemap["layers"].items()
    }
    return {**basemap, "layers": layers}


def _is_near(feature: Mapping[str, Any], camera: Camera) -> bool:
    west, south, east, north = _bounds(feature["geometry"])
    x, y = screen_offsets(camera, np.array([south, north]), np.array([west, east]))
    half_width, half_height = SIZE[0] / 2, SIZE[1] / 2
    return bool(x[0] <= half_width and x[1] >= -half_width and y[1] <= half_height and y[0] >= -half_height)


def _bounds(geometry: Mapping[str, Any]) -> tuple[float, float, float, float]:
    flat: list[Any] = [geometry["coordinates"]]
    west = south = np.inf
    east = north = -np.inf
    while flat:
        entry = flat.pop()
        if isinstance(entry[0], int | float):
            west, east = min(west, entry[0]), max(east, entry[0])
            south, north = min(south, entry[1]), max(north, entry[1])
        else:
            flat += entry
    return float(west), float(south), float(east), float(north)


def _draw_marks(
    draw: ImageDraw.ImageDraw, opened: Workspace, marks: Marks, camera: Camera, palette: Palette, size: float
) -> None:
    at = _positions(opened, marks, camera)
    if marks.truth is not None:
        for middle in marks.middles:
            line = palette.paths.fill
            draw.line([at[marks.source], at[middle], at[marks.truth]], fill=line, width=round(9 * size), joint="curve")
            draw_disc(draw, at[middle], 12 * size, fill=line, outline=palette.land, width=3)
    font = ImageFont.load_default(round(24 * size))
    for rank, poi in reversed(list(enumerate(marks.predicted, start=1))):
        if poi == marks.truth:
            continue
        radius = size * (24 if rank == 1 else 17)
        draw_disc(draw, at[poi], radius, fill=palette.model.fill, outline=palette.land, width=4)
        draw.text(at[poi], str(rank), fill=palette.page, font=font, anchor="mm")
    draw_disc(draw, at[marks.source], 15 * size, fill=palette.ink, outline=palette.land, width=4)
    if marks.truth is not None:
        _draw_truth(draw, at[marks.truth], marks, palette, size)


def _draw_truth(
    draw: ImageDraw.ImageDraw, at: tuple[float, float], marks: Marks, palette: Palette, size: float
) -> None:
    radius = 26 * size
    rank = None if marks.truth_rank is None or marks.truth_rank > 99 else round(marks.truth_rank)
    draw_disc(draw, at, radius + 8 * size, fill=palette.land, outline=palette.land, width=1)
    if rank is not None:
        draw_disc(draw, at, radius - 4 * size, fill=palette.model.fill, outline=palette.model.fill, width=1)
        font = ImageFont.load_default(round(24 * size))
        draw.text(at, str(rank), fill=palette.page, font=font, anchor="mm")
    draw_disc(draw, at, radius + 4 * size, fill=None, outline=palette.truth.fill, width=round(7 * size))
    if marks.visited:
        corner = (at[0] + 0.8 * radius, at[1] - 0.8 * radius)
        draw_disc(draw, corner, 11 * size, fill=palette.revisits.fill, outline=palette.land, width=round(3 * size))


def _positions(opened: Workspace, marks: Marks, camera: Camera) -> dict[int, tuple[float, float]]:
    poi = np.array(marks.places, dtype=np.int64)
    return dict(zip(marks.places, pixels(camera, opened.latitude[poi], opened.longitude[poi]), strict=True))
