"""The map of an explanation: the source, the two places compared, and two-hop paths."""

from typing import Any, get_args

import pydeck as pdk

from analysis.explain.explanation import CaseExplanation
from analysis.explain.types import Role
from analysis.figures import deck_layers
from analysis.figures.explain_marks import ExplainMarks, explain_marks
from analysis.figures.palette import Palette, rgb
from analysis.figures.scale_bar import scale_bar
from analysis.workspace import Workspace
from recap import columns as c

_MAP_SIZE = (400, 330)
_NARROWEST_PX = 245


def explain_deck(explanation: CaseExplanation, opened: Workspace, *, map_style: str, palette: Palette) -> pdk.Deck:
    """Two-hop paths (wider for a larger share), the source as a full dot, the truth as a ring, predictions as discs."""
    marks = explain_marks(explanation, opened, size=_MAP_SIZE, narrowest=_NARROWEST_PX)
    layers = [
        *deck_layers.scale(scale_bar(marks.camera, (_NARROWEST_PX / 2, _MAP_SIZE[1] / 2)), palette),
        *deck_layers.two_hops(marks.two_hops, marks.middles, palette, opacity=170, rim_px=3.0),
        _places(marks, palette),
        deck_layers.names(marks.names, role_colours(palette), palette),
    ]
    return deck_layers.deck(layers, marks.camera, map_style)


def role_colours(palette: Palette) -> dict[str, str]:
    return {"source": palette.ink} | {role: palette.of_role(role).text for role in get_args(Role)}


def mark_colours(of: str, palette: Palette) -> tuple[str | None, str]:
    """Fill (None for a ring) and rim of a place."""
    if of == "source":
        return palette.ink, palette.land
    hue = palette.truth if of == "truth" else palette.of_role("model" if of == "model" else "other")
    return (None, hue.fill) if of == "truth" else (hue.fill, palette.land)


def _places(marks: ExplainMarks, palette: Palette) -> pdk.Layer:
    colours = [mark_colours(of, palette) for of in marks.places["of"]]
    fills: Any = [[0, 0, 0, 0] if fill is None else rgb(fill) for fill, _ in colours]
    lines: Any = [rgb(line) for _, line in colours]
    table = marks.places[[c.POI, "at", "r", "tip"]].assign(fill=fills, line=lines)
    # The source, the smallest, is first in the table and drawn last.
    return deck_layers.discs("places", table[::-1], fill="fill", line="line", line_px=3.0)
