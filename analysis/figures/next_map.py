"""Everyone's next visits: a map of expected visits, and what of them may be shared."""

from typing import Final

import numpy as np
import pandas as pd
import pydeck as pdk

from analysis.figures import deck_layers
from analysis.figures.bars import SlideBar
from analysis.figures.labels import label_table
from analysis.figures.palette import Palette, rgb
from analysis.figures.scale_bar import scale_bar
from analysis.figures.walk_marks import NARROW, positions
from analysis.geography import fit_camera, screen_offsets
from analysis.trajectories.cameras import MARGIN_PX
from analysis.trajectories.everyone import BEFORE, CHANGE, COUNTED, EXPECTED, EXPECTED_COUNTED, KNOWN_BY, shown_names
from analysis.workspace import Workspace
from recap import columns as c

EVERYONE_HEIGHT_PX: Final = 500
MOST_DISCS: Final = 100
_FITTED: Final = 60
_NAMED: Final = 10
_MAP_PX: Final = 480
_LARGEST_PX: Final = 15.0


def expected_deck(opened: Workspace, places: pd.DataFrame, *, map_style: str, palette: Palette) -> pdk.Deck:
    """Discs as large as the expected next visits of the first places of `Everyone.places`."""
    best = places.head(MOST_DISCS).assign(shown=shown_names)
    poi = best[c.POI].to_numpy(np.int64)
    latitude, longitude = opened.latitude[poi], opened.longitude[poi]
    size = {"width_px": _MAP_PX, "height_px": EVERYONE_HEIGHT_PX, "padding_px": MARGIN_PX}
    camera = fit_camera(latitude[:_FITTED], longitude[:_FITTED], **size)
    x, y = screen_offsets(camera, latitude, longitude)
    radius = np.maximum(_LARGEST_PX * np.sqrt(best[EXPECTED] / max(float(best[EXPECTED].max()), 1e-9)), 2.0).round(1)
    tips = [f"{row.shown}: {row.expected:.1f} expected, {row.people:,} people" for row in best.itertuples(index=False)]
    discs = pd.DataFrame(
        {"at": positions(longitude, latitude), "x": x, "y": y, "r": radius, "tip": tips, "of": "model"}
    )
    marks = discs[["x", "y", "r"]].to_numpy(float)
    shown = np.flatnonzero((best["shown"] == best["name"]).head(_NAMED))  # homes stay unnamed
    texts = best["name"].iloc[shown].tolist()
    names = label_table(discs.iloc[shown], texts, obstacles=marks[:_FITTED], half_size=NARROW)
    fill, line = rgb(palette.model.fill, 170), rgb(palette.land)
    layers = [
        *deck_layers.scale(scale_bar(camera, (_MAP_PX / 2, EVERYONE_HEIGHT_PX / 2)), palette),
        deck_layers.discs("expected", discs[["at", "r", "tip"]].iloc[::-1], fill=fill, line=line, line_px=1.0),
        deck_layers.names(names, {"model": palette.model.text}, palette),
    ]
    return deck_layers.deck(layers, camera, map_style)


def expected_bars(places: pd.DataFrame, min_people: int) -> list[SlideBar]:
    """The most expected places that may be named, as bars for a slide."""
    best = offered_places(places, min_people).head(_NAMED)
    return [
        SlideBar(name, value, f"{value:.1f}", mine=True)
        for name, value in zip(best["name"], best[EXPECTED], strict=True)
    ]


def offered_places(places: pd.DataFrame, min_people: int) -> pd.DataFrame:
    """Expected next visits that may be shared: of places where at least so many of the users have been."""
    counted = [name for name in (BEFORE, CHANGE, EXPECTED_COUNTED, COUNTED) if name in places]
    shown = places.loc[places[KNOWN_BY] >= min_people, [c.POI, "name", EXPECTED, KNOWN_BY, *counted]]
    return shown.reset_index(drop=True)
