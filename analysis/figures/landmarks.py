"""Names on a map without streets: of the places where most users have been."""

from typing import Any, Final

import numpy as np
import pandas as pd
import pydeck as pdk

from analysis.figures import deck_layers
from analysis.figures.labels import Label, LabelBox, boxes_meet, label_box, shorten_label
from analysis.figures.palette import Palette
from analysis.figures.walk_marks import NARROW, positions
from analysis.geography import Camera, screen_offsets
from analysis.workspace import Workspace
from recap import columns as c
from recap.machine.printable import one_line

LANDMARK_USERS: Final = 5
_MOST: Final = 9
_TRIED: Final = 400
_APART_PX: Final = 26.0
_EDGE_PX: Final = (50.0, 84.0)
"""The lowest map is 420 pixels high."""


def landmarks(opened: Workspace) -> pd.DataFrame:
    """Places where at least `LANDMARK_USERS` users have been in training, most users first: ``text`` and degrees.

    ``text`` is the place's name, or else its category.
    """
    table, pois = opened.dataset.checkins, opened.dataset.pois
    seen = table.loc[table[c.SPLIT] == c.TRAIN, [c.USER, c.POI]].drop_duplicates()
    users_P = np.bincount(seen[c.POI], minlength=len(pois))
    often = np.argsort(-users_P, kind="stable")
    often = often[users_P[often] >= LANDMARK_USERS]
    name, category = (pois[column].iloc[often] for column in (c.POI_NAME, c.CATEGORY))
    text = [one_line(str(text)) for text in name.where(name != "", category)]
    named = pd.DataFrame({"text": text, c.LATITUDE: opened.latitude[often], c.LONGITUDE: opened.longitude[often]})
    return named[named["text"] != ""].reset_index(drop=True)


def with_landmarks(deck: pdk.Deck, named: pd.DataFrame, palette: Palette) -> pdk.Deck:
    """Put names under a deck's marks where, on the map as it opens, they cover no mark and no other name.

    Args:
        named: see `landmarks`.
    """
    view = deck.initial_view_state
    camera = Camera(view.latitude, view.longitude, view.zoom)
    x_N, y_N = screen_offsets(camera, named[c.LATITUDE].to_numpy(), named[c.LONGITUDE].to_numpy())
    inside_N = (np.abs(x_N) < NARROW[0] - _EDGE_PX[0]) & (np.abs(y_N) < NARROW[1] - _EDGE_PX[1])
    marks = [row for layer in deck.layers for row in layer.data if isinstance(row.get("at"), list)]
    taken = [_box(mark, camera) for mark in marks]
    kept: list[tuple[int, str]] = []
    for place in np.flatnonzero(inside_N)[:_TRIED]:
        text = shorten_label(named["text"].iloc[place])
        box = label_box(Label(0, text, 0.0, 0.0, "middle"), x_N[place], y_N[place])
        if not any(boxes_meet(box, other, _APART_PX) for other in taken):
            taken.append(box)
            kept.append((int(place), text))
        if len(kept) == _MOST:
            break
    rows = named.iloc[[place for place, _ in kept]]
    table = pd.DataFrame({"text": [text for _, text in kept]}).assign(anchor="middle", of="landmark")
    table["at"] = positions(rows[c.LONGITUDE].to_numpy(), rows[c.LATITUDE].to_numpy())
    table["shift"] = [[0, 0]] * len(table)
    deck.layers.insert(0, deck_layers.names(table, {"landmark": palette.quiet}, palette, name="landmarks", size=11))
    return deck


def _box(mark: dict[str, Any], camera: Camera) -> LabelBox:
    """What a disc or a name of a deck covers, in pixels from the map's middle."""
    x, y = (float(offset[0]) for offset in screen_offsets(camera, *(np.array([d]) for d in mark["at"][::-1])))
    if "text" in mark:
        right, down = mark["shift"]
        return label_box(Label(0, mark["text"], right, down, mark["anchor"]), x, y)
    radius = float(mark.get("r", 0.0))
    return x - radius, y - radius, x + radius, y + radius
