"""The map of one case in a browser: path so far, predictions, the truth, revisits, two hops."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pydeck as pdk

from analysis.figures import deck_layers
from analysis.figures.palette import Palette, rgb
from analysis.figures.scale_bar import scale_bar
from analysis.figures.walk_marks import NARROW, WalkMarks
from analysis.geography import fit_camera
from analysis.trajectories.cameras import MARGIN_PX, NARROWEST_PX, NEXT_HEIGHT_PX
from recap import columns as c

_PLACES = "places"
NO_ROWS = f'[{{"at":"{_PLACES}","r":0}}]'
DOT_PX = 3.0
_LOW = (NARROW[0], NEXT_HEIGHT_PX / 2 - 6)
"""Half the width and height of the narrowest map of the next place."""


def walk_deck(
    marks: WalkMarks,
    *,
    map_style: str,
    palette: Palette,
    chosen: int | None = None,
    with_places: bool = False,
) -> pdk.Deck:
    """The deck of one case's marks.

    Args:
        with_places: for the lower map of Next, with a layer of small dots to click, see `_place_dots`.
        chosen: a place to mark with a ring, if it has a disc.
        map_style: from `basemap_style`, or the address of an online style.
    """
    two_hops = deck_layers.two_hops(marks.two_hops, marks.middles, palette, opacity=150, rim_px=1.0)
    ring, ink = marks.ring[["at", "r", "tip"]], rgb(palette.ink)
    layers = [
        *deck_layers.scale(scale_bar(marks.camera, _LOW if with_places else NARROW), palette),
        *(two_hops if len(marks.two_hops) else []),
        *([_place_dots(palette)] if with_places else []),
        *_walked_layers(marks, palette),
        *_candidate_layers(marks, palette),
        deck_layers.discs("source", marks.source[["at", "r", "tip"]], fill=ink, line=rgb(palette.land), line_px=2.0),
        *(
            [deck_layers.discs("truth", ring, fill=None, line=rgb(palette.truth.fill), line_px=3.0)]
            if len(ring)
            else []
        ),
        # Always present; otherwise the browser would rebuild the layers after it.
        deck_layers.discs("chosen", marks.chosen(chosen), fill=None, line=ink, line_px=2.0),
        deck_layers.names(marks.names, {of: palette.of_role(of).text for of in ("source", "truth", "model")}, palette),
    ]
    return deck_layers.deck(layers, marks.camera, map_style)


def places_deck(latitude: np.ndarray, longitude: np.ndarray, *, map_style: str, palette: Palette) -> pdk.Deck:
    """The deck of all places to click, before the first stop; on their middle, without the tenth farthest out."""
    ends = [np.quantile(degrees, (0.05, 0.95)) for degrees in (latitude, longitude)]
    camera = fit_camera(*ends, width_px=NARROWEST_PX, height_px=NEXT_HEIGHT_PX, padding_px=MARGIN_PX)
    layers = [*deck_layers.scale(scale_bar(camera, _LOW), palette), _place_dots(palette)]
    return deck_layers.deck(layers, camera, map_style)


def _place_dots(palette: Palette) -> pdk.Layer:
    """Small dots; their rows, ``at, r, poi, tip``, replace `NO_ROWS` in the JSON, so they are written once."""
    empty = pd.DataFrame({"at": [_PLACES], "r": [0]})
    return deck_layers.discs(_PLACES, empty, fill=rgb(palette.baseline, 130), line=rgb(palette.land), line_px=0.5)


def _candidate_layers(marks: WalkMarks, palette: Palette) -> list[pdk.Layer]:
    ordered = marks.discs.iloc[::-1]
    numbered = ordered[~ordered["covered"]]
    again = numbered[numbered["revisit"]]
    # On the disc's rim.
    shifts = [[round(0.72 * r, 1), round(-0.72 * r, 1)] for r in again["r"]]
    dots = pd.DataFrame({"at": again["at"], "shift": shifts, "dot": deck_layers.DOT})
    ink = rgb(palette.page if palette.theme == "light" else palette.water)
    return [
        deck_layers.discs(
            "candidates",
            ordered[["at", "r", "tip", c.POI]],
            fill=rgb(palette.model.fill, 225),
            line=rgb(palette.land),
            line_px=1.5,
        ),
        deck_layers.texts("ranks", numbered[["at", c.RANK]], c.RANK, ink, size=12, weight=700),
        deck_layers.texts("revisit-rims", dots, "dot", rgb(palette.land), size=25, shift=True),
        deck_layers.texts("revisits", dots, "dot", rgb(palette.revisits.fill), size=18, shift=True),
    ]


def _walked_layers(marks: WalkMarks, palette: Palette) -> list[pdk.Layer]:
    """The path so far: segments that darken towards now, and numbered stops."""
    segments = pd.DataFrame(
        [
            {"from": a, "to": b, "colour": rgb(palette.ink, 45 + round(195 * strength))}
            for (a, b), strength in zip(pairwise(marks.walked["at"]), marks.strength, strict=True)
        ],
        columns=["from", "to", "colour"],
    )
    stops = marks.stops
    return [
        deck_layers.lines("walked", segments, "from", "to", colour="colour", width=2.5),
        deck_layers.discs(
            "stops", stops[["at", "r", "tip"]], fill=rgb(palette.land), line=rgb(palette.ink, 220), line_px=1.5
        ),
        deck_layers.texts("stop-numbers", stops[["at", "stop"]], "stop", rgb(palette.ink), size=10, weight=600),
    ]
