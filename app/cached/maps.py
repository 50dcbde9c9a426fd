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
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Walk, fit_trajectory
from app.cached import datasets, models
from app.sources import Source
from recap import columns as c

_GROUND_TYPE: Final = "application/json"


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
    walk: Walk,
    prediction: CasePrediction,
    theme: Theme,
    *,
    online: bool,
    show_truth: bool,
    show_paths: bool,
) -> DrawnDeck:
    """The map of one case; kept, since stepping to and fro shows the same maps again."""
    shown = (int(prediction.case[c.CASE]), len(prediction.candidates), theme, show_truth, show_paths)
    ground = _ground(source, theme, online=online)
    return _walk_map(source.dataset_hash, datasets.model_key(source), shown, ground, source, walk, prediction)


@st.cache_resource(max_entries=256, show_spinner=False)
def _walk_map(
    dataset_hash: str,
    key: str,
    shown: tuple[int, int, Theme, bool, bool],
    ground: str,
    _source: Source,
    _walk: Walk,
    _prediction: CasePrediction,
) -> DrawnDeck:
    _, _, theme, show_truth, show_paths = shown
    deck = walk_deck(
        datasets.open_dataset(_source),
        _walk,
        _prediction,
        camera=walk_camera(_source, _walk),
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


def explain_image(source: Source, explanation: FullExplanation, theme: Theme) -> bytes:
    """The map of an explanation as a PNG, drawn when it is asked for."""
    opened = datasets.open_dataset(source)
    return draw_explain_image(explanation, opened, palette=palette_of(theme), basemap=read_basemap(source))


def walk_camera(source: Source, walk: Walk) -> Camera:
    """The camera of a trajectory: its stops and the best predictions along it, the same at every step."""
    return _walk_camera(source.dataset_hash, datasets.model_key(source), walk.trajectory, source, walk)


@st.cache_data(max_entries=512, show_spinner=False)
def _walk_camera(dataset_hash: str, key: str, trajectory: int, _source: Source, _walk: Walk) -> Camera:
    best = models.best_places(_source, _walk.cases)
    extra = np.concatenate([pois[:3] for pois in best]).astype(np.int64)
    return fit_trajectory(datasets.open_dataset(_source), _walk, extra)


def walk_image(source: Source, walk: Walk, prediction: CasePrediction, theme: Theme, show_truth: bool) -> bytes:
    """The map of one case as a PNG, drawn when it is asked for."""
    return draw_walk_image(
        datasets.open_dataset(source),
        walk,
        prediction,
        camera=walk_camera(source, walk),
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
    content = _ground_file(source.dataset_hash, theme, source)
    address = runtime.get_instance().media_file_mgr.add(content, _GROUND_TYPE, coordinates="map-ground")
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{address}" if base else address


@st.cache_resource(max_entries=8, show_spinner=False)
def _ground_file(dataset_hash: str, theme: Theme, _source: Source) -> bytes:
    opened = datasets.open_dataset(_source)
    style = basemap_style(read_basemap(_source), opened.latitude, opened.longitude, palette_of(theme))
    return style.encode()
