"""The maps that views show: the ground, sent to a browser once, and what lies on it, kept as it is sent."""

import json
from typing import Any, Final

import numpy as np
import pydeck as pdk
import streamlit as st
from streamlit import runtime

from analysis.explain.explanation import FullExplanation
from analysis.figures.basemap import ONLINE_STYLES, basemap_style
from analysis.figures.explain_image import draw_explain_image
from analysis.figures.explain_map import explain_deck
from analysis.figures.map_image import draw_walk_image
from analysis.figures.palette import Theme, palette_of
from analysis.figures.walk_map import walk_deck
from analysis.geography import Camera
from analysis.sharing.places import told_places
from analysis.sharing.share import share_cases
from analysis.sharing.slides import draw_case_image
from analysis.sharing.walks import share_step
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory, fit_trajectory
from app.cached import datasets, models
from app.cached.keys import BY_DATASET, BY_MODEL, HashFuncs
from app.fonts import slide_font
from app.sources import Source
from recap import columns as c
from recap.privacy import Generalisation

_GROUND_TYPE: Final = "application/json"
BY_CASE: Final[HashFuncs] = BY_MODEL | {
    Trajectory: lambda trajectory: trajectory.number,
    CasePrediction: lambda prediction: (int(prediction.case[c.CASE]), len(prediction.candidates)),
}
"""Within one model a trajectory is its number, and a prediction its case and how many places it lists."""


class DrawnDeck(pdk.Deck):
    """A deck in the form it is sent in: writing a deck out takes longer than all other work of a step."""

    def __init__(self, deck: pdk.Deck) -> None:
        super().__init__(tooltip=deck._tooltip, map_provider=None)
        self._json = json.dumps(json.loads(deck.to_json()), separators=(",", ":"))  # without pydeck's indents

    def to_json(self) -> str:
        """The deck's JSON."""
        return self._json


def walk_map(
    source: Source,
    trajectory: Trajectory,
    prediction: CasePrediction,
    theme: Theme,
    *,
    online: bool,
    show_truth: bool,
    show_paths: bool,
) -> DrawnDeck:
    """The map of one case; kept, since stepping to and fro shows the same maps again."""
    ground = _ground(source, theme, online=online)  # every run of a page asks for it, so it is not kept with the deck
    return _draw_walk_map(source, trajectory, prediction, ground, theme, show_truth, show_paths)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_CASE)
def _draw_walk_map(
    source: Source,
    trajectory: Trajectory,
    prediction: CasePrediction,
    ground: str,
    theme: Theme,
    show_truth: bool,
    show_paths: bool,
) -> DrawnDeck:
    deck = walk_deck(
        datasets.open_dataset(source),
        trajectory,
        prediction,
        camera=walk_camera(source, trajectory) if show_truth else _blind_camera(source, trajectory, prediction),
        map_style=ground,
        palette=palette_of(theme),
        show_truth=show_truth,
        show_paths=show_paths,
    )
    return DrawnDeck(deck)


def explain_map(source: Source, explanation: FullExplanation, theme: Theme, *, online: bool) -> DrawnDeck:
    """The map of an explanation."""
    ground = _ground(source, theme, online=online)
    opened = datasets.open_dataset(source)
    return DrawnDeck(explain_deck(explanation, opened, map_style=ground, palette=palette_of(theme)))


def explain_image(source: Source, explanation: FullExplanation, theme: Theme, *, exact: bool) -> bytes:
    """The map of an explanation as a PNG, drawn when it is asked for; told coarsely unless exact."""
    opened = datasets.open_dataset(source)
    if not exact:
        page = share_cases([explanation], opened, basemap=read_basemap(source))
        return draw_case_image(page, palette=palette_of(theme), font=slide_font())
    return draw_explain_image(explanation, opened, palette=palette_of(theme), basemap=read_basemap(source))


@st.cache_data(max_entries=512, show_spinner=False, hash_funcs=BY_CASE)
def walk_camera(source: Source, trajectory: Trajectory) -> Camera:
    """The camera of a trajectory: its stops and the best predictions along it, the same at every step."""
    best = models.best_places(source, trajectory.cases)
    extra = np.concatenate([pois[:3] for pois in best]).astype(np.int64)
    return fit_trajectory(datasets.open_dataset(source), trajectory, extra)


def _blind_camera(source: Source, trajectory: Trajectory, prediction: CasePrediction) -> Camera:
    """The camera while the truth is hidden: the stops so far and the best predictions, nothing that comes later."""
    best = prediction.candidates[c.POI].head(5).to_numpy(np.int64)
    return fit_trajectory(datasets.open_dataset(source), trajectory.until(int(prediction.case[c.CASE])), best)


def walk_image(
    source: Source, trajectory: Trajectory, prediction: CasePrediction, theme: Theme, show_truth: bool, *, exact: bool
) -> bytes:
    """The map of one case as a PNG, drawn when it is asked for; told coarsely and alone unless exact."""
    opened = datasets.open_dataset(source)
    camera = walk_camera(source, trajectory) if show_truth else _blind_camera(source, trajectory, prediction)
    if not exact:
        opened = told_places(opened, Generalisation()).opened(opened)
        trajectory, prediction = share_step(trajectory, prediction)
        camera = fit_trajectory(opened, trajectory, prediction.candidates[c.POI].to_numpy())
    return draw_walk_image(
        opened,
        trajectory,
        prediction,
        camera=camera,
        palette=palette_of(theme),
        basemap=read_basemap(source),
        show_truth=show_truth,
    )


def read_basemap(source: Source) -> dict[str, Any] | None:
    """The bundle's own map layers, if it has any that can be read."""
    if source.bundle is None:
        return None
    try:
        basemap = json.loads((source.bundle / "basemap.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return basemap if isinstance(basemap, dict) and isinstance(basemap.get("layers"), dict) else None


def _ground(source: Source, theme: Theme, *, online: bool) -> str:
    """The address of the map's ground: the app's own file, which browsers keep, or an online style.

    Inline in every deck it was nine tenths of what a step sent. The file is named after its content and lives in
    memory for as long as a visitor's page shows it, so every run of a page that shows a map asks for it again.
    """
    if online:
        return ONLINE_STYLES[theme]
    content = _ground_file(source, theme)
    address = runtime.get_instance().media_file_mgr.add(content, _GROUND_TYPE, coordinates="map-ground")
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{address}" if base else address


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_DATASET)
def _ground_file(source: Source, theme: Theme) -> bytes:
    opened = datasets.open_dataset(source)
    style = basemap_style(read_basemap(source), opened.latitude, opened.longitude, palette_of(theme))
    return style.encode()
