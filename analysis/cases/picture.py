"""Draw a case without a browser: a thumbnail for a card."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from PIL import ImageFont

from analysis.figures.map_ground import SCALE, SIZE, MapGround, Pixel, draw_disc, draw_ground, pixels, to_png
from analysis.figures.palette import Palette
from analysis.figures.svg_draw import Pen
from analysis.geography import fit_camera
from analysis.trajectories.two_hop import two_hops_read
from analysis.workspace import Workspace
from recap import columns as c

THUMBNAIL_PX: Final = (760, 260)
_PADDING_PX: Final = 36
_MIDDLE_PX, _SOURCE_PX, _FIRST_PX, _SECOND_PX, _TRUTH_PX, _VISITED_PX = 20.4, 25.5, 40.8, 28.9, 44.2, 18.7
"""Radius of each mark, in pixels of the drawing."""
_LETTER_PX: Final = 41
_LARGEST_RANK: Final = 99
"""A larger one does not fit into the truth's ring."""


@dataclass(frozen=True)
class Marks:
    """The marks of a picture; places by index.

    Attributes:
        truth: where the user went.
        predicted: the model's first places, best first.
        truth_rank: written into the truth's ring.
        middles: middle places of two-hop paths from the source to the truth.
        visited: the user had been at the truth before.
    """

    source: int
    truth: int
    predicted: tuple[int, ...]
    truth_rank: float
    middles: tuple[int, ...]
    visited: bool

    @property
    def places(self) -> list[int]:
        return list(dict.fromkeys([self.source, self.truth, *self.predicted, *self.middles]))


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
    """A small map without names, as a PNG of 760 x 260 pixels, compressed quickly, because a page shows several."""
    poi, height = np.array(marks.places, dtype=np.int64), round(SIZE[0] * THUMBNAIL_PX[1] / THUMBNAIL_PX[0])
    latitude, longitude = opened.latitude[poi], opened.longitude[poi]
    size = {"width_px": SIZE[0], "height_px": height, "padding_px": _PADDING_PX}
    camera = fit_camera(latitude, longitude, max_zoom=14.0, **size)
    image, draw = draw_ground(MapGround(opened, basemap), camera, palette, height=height)
    _draw_marks(draw, marks, dict(zip(marks.places, pixels(camera, latitude, longitude), strict=True)), palette)
    top = SCALE * (SIZE[1] - height) // 2
    return to_png(image.crop((0, top, image.width, image.height - top)).reduce(SCALE), quick=True)


def _draw_marks(draw: Pen, marks: Marks, spots: Mapping[int, Pixel], palette: Palette) -> None:
    for middle in marks.middles:
        draw.line(
            [spots[marks.source], spots[middle], spots[marks.truth]], fill=palette.paths.fill, width=15, joint="curve"
        )
        draw_disc(draw, spots[middle], _MIDDLE_PX, fill=palette.paths.fill, outline=palette.land, width=3)
    for rank, poi in reversed(list(enumerate(marks.predicted, start=1))):
        if poi != marks.truth:
            radius = _FIRST_PX if rank == 1 else _SECOND_PX
            draw_disc(draw, spots[poi], radius, fill=palette.model.fill, outline=palette.land, width=4)
            _write_rank(draw, spots[poi], rank, palette)
    draw_disc(draw, spots[marks.source], _SOURCE_PX, fill=palette.ink, outline=palette.land, width=4)
    _draw_truth(draw, spots[marks.truth], marks, palette)


def _draw_truth(draw: Pen, centre: Pixel, marks: Marks, palette: Palette) -> None:
    draw_disc(draw, centre, _TRUTH_PX + 13.6, fill=palette.land, outline=palette.land, width=1)
    if marks.truth_rank <= _LARGEST_RANK:
        draw_disc(draw, centre, _TRUTH_PX - 6.8, fill=palette.model.fill, outline=palette.model.fill, width=1)
        _write_rank(draw, centre, round(marks.truth_rank), palette)
    draw_disc(draw, centre, _TRUTH_PX + 6.8, fill=None, outline=palette.truth.fill, width=12)
    if marks.visited:
        corner = (centre[0] + 0.8 * _TRUTH_PX, centre[1] - 0.8 * _TRUTH_PX)
        draw_disc(draw, corner, _VISITED_PX, fill=palette.revisits.fill, outline=palette.land, width=5)


def _write_rank(draw: Pen, centre: Pixel, rank: int, palette: Palette) -> None:
    draw.text(centre, str(rank), fill=palette.page, font=ImageFont.load_default(_LETTER_PX), anchor="mm")
