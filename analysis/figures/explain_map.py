"""The map of an explanation: the source, the two places compared, and two-hop paths."""

from datetime import datetime
from typing import Any, Final, get_args

import numpy as np
import pandas as pd
import pydeck as pdk

from analysis.explain.explanation import CaseExplanation
from analysis.explain.types import MarkKind
from analysis.figures import deck_layers
from analysis.figures.labels import label_table
from analysis.figures.map_ground import SIZE, MapGround
from analysis.figures.map_image import draw_map_image
from analysis.figures.palette import Palette, rgb
from analysis.figures.scale_bar import scale_bar
from analysis.figures.walk_marks import placed
from analysis.formatting import day
from analysis.geography import fit_camera
from analysis.workspace import Workspace
from recap import columns as c

_MAP_SIZE: Final = (400, 330)
_NARROWEST_PX: Final = 245
_RADIUS_PX: Final = {"source": 6.0, "truth": 11.0, "model": 9.0, "other": 9.0, "middle": 5.0}


def explain_deck(
    explanation: CaseExplanation,
    opened: Workspace,
    *,
    map_style: str,
    palette: Palette,
    size: tuple[int, int] = _MAP_SIZE,
    narrowest: int = _NARROWEST_PX,
) -> pdk.Deck:
    """Two-hop paths (wider for a larger share), the source as a full dot, the truth as a ring, predictions as discs.

    It shows them all on a map of ``size`` pixels that is at least ``narrowest`` wide.
    """
    paths, width = explanation.paths, min(size[0], narrowest)
    poi = np.array([explanation.source, explanation.target, explanation.runner_up, *(path.middle for path in paths)])
    camera = fit_camera(opened.latitude[poi], opened.longitude[poi], width_px=width, height_px=size[1])
    middle: MarkKind = "middle"
    kinds: list[MarkKind] = ["source", *explanation.roles, *[middle] * len(paths)]
    names = [explanation.source_name, explanation.target_name, explanation.b.name, *(path.name for path in paths)]
    facts: dict[str, Any] = {c.POI: poi, "of": kinds, "tip": names, "r": [_RADIUS_PX[kind] for kind in kinds]}
    marks = placed(opened, poi, camera).assign(**facts)
    named = marks.iloc[[1, 2, 0]]
    label_room = {"half_size": (size[0] / 2 - 4, size[1] / 2 - 4), "narrowest": (width / 2 - 4, size[1] / 2 - 4)}
    labels = label_table(named, named["tip"].tolist(), obstacles=marks[["x", "y", "r"]].to_numpy(float), **label_room)
    points = marks["at"].tolist()
    two_hops = pd.DataFrame(
        {
            "path": [[points[0], middle, points[1]] for middle in points[3:]],
            "w": [round(1.5 + 6 * path.share, 1) for path in paths],
            "tip": [
                f"via {path.name}: {path.count_in:,} of {path.total_in:,} and {path.count_out:,} of {path.total_out:,} "
                "training transitions"
                for path in paths
            ],
        }
    )
    layers = [
        *deck_layers.scale(scale_bar(camera, (narrowest / 2, size[1] / 2)), palette),
        *deck_layers.two_hops(two_hops, marks.iloc[3:], palette, opacity=170, rim_px=3.0),
        _places(marks.iloc[:3], palette),
        deck_layers.names(labels, {kind: palette.of_role(kind).text for kind in get_args(MarkKind)}, palette),
    ]
    return deck_layers.deck(layers, camera, map_style)


def draw_explain_image(explanation: CaseExplanation, ground: MapGround, *, palette: Palette, **form: Any) -> bytes:
    """The same as `draw_map_image` writes it, with the time given."""
    size: dict[str, Any] = {"size": SIZE, "narrowest": SIZE[0]}
    deck = explain_deck(explanation, ground.opened, map_style="", palette=palette, **size)
    given = datetime.fromisoformat(explanation.time_given) if explanation.time_given else None
    when = "" if given is None else f"{day(given)}, {given:%H:%M}"
    return draw_map_image(deck, ground, palette=palette, time_given=when, **form)


def _places(places: pd.DataFrame, palette: Palette) -> pdk.Layer:
    colours = [palette.of_mark(kind) for kind in places["of"]]
    fills: Any = [[0, 0, 0, 0] if fill is None else rgb(fill) for fill, _ in colours]
    lines: Any = [rgb(line) for _, line in colours]
    table = places[[c.POI, "at", "r", "tip"]].assign(fill=fills, line=lines)
    # The source, the smallest, is first in the table and drawn last.
    return deck_layers.discs("places", table[::-1], fill="fill", line="line", line_px=3.0)
