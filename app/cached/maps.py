"""The maps that views show: the ground, sent to a browser once, and what lies on it, kept as it is sent."""

import json
from typing import Final

import pydeck as pdk
import streamlit as st
from streamlit import runtime

from analysis.basemap.density import with_density
from analysis.basemap.document import Basemap
from analysis.basemap.stored import find_basemap, last_change
from analysis.explain.explanation import CaseExplanation
from analysis.figures.basemap import ONLINE_STYLES, basemap_style
from analysis.figures.explain_image import draw_explain_image
from analysis.figures.explain_map import explain_deck
from analysis.figures.map_ground import Ground
from analysis.figures.map_image import draw_walk_image
from analysis.figures.palette import Theme, palette_of
from analysis.figures.walk_map import walk_deck
from analysis.figures.walk_marks import WalkMarks, walk_marks
from analysis.records.loaded_dataset import LoadedDataset
from analysis.sharing.case_image import draw_case_image
from analysis.sharing.places import masked_places
from analysis.sharing.share import share_cases
from analysis.sharing.walks import share_step
from analysis.trajectories.cameras import NARROWEST_PX, PICTURE_PX, fit_prediction, fit_walk
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from app.cached import datasets
from app.cached.figures import BY_CONTENT
from app.cached.keys import BY_DATASET, BY_MODEL, HashFuncs
from app.fonts import picture_font
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
    whole_walk: bool,
    chosen: int | None = None,
) -> DrawnDeck:
    """The map of one case, one of its places marked; kept, since stepping to and fro shows the same maps again."""
    ground = ground_address(
        source, theme, online=online
    )  # every run of a page asks for it, so it is not kept with the deck
    return _draw_walk_map(source, trajectory, prediction, ground, theme, show_truth, show_paths, whole_walk, chosen)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_CASE)
def _draw_walk_map(
    source: Source,
    trajectory: Trajectory,
    prediction: CasePrediction,
    ground: str,
    theme: Theme,
    show_truth: bool,
    show_paths: bool,
    whole_walk: bool,
    chosen: int | None,
) -> DrawnDeck:
    marks = _walk_marks(source, trajectory, prediction, show_truth, show_paths, whole_walk)
    return DrawnDeck(walk_deck(marks, map_style=ground, palette=palette_of(theme), chosen=chosen))


def _walk_marks(
    source: Source,
    trajectory: Trajectory,
    prediction: CasePrediction,
    show_truth: bool,
    show_paths: bool,
    whole_walk: bool,
    *,
    picture: bool = False,
) -> WalkMarks:
    opened = datasets.open_dataset(source)
    width = PICTURE_PX if picture else NARROWEST_PX
    if whole_walk:
        camera = fit_walk(opened, trajectory, prediction, show_truth=show_truth, width_px=width)
    else:
        camera = fit_prediction(opened, prediction, show_truth=show_truth, width_px=width)
    shown = {"show_truth": show_truth, "show_paths": show_paths, "picture": picture}
    return walk_marks(opened, trajectory, prediction, camera=camera, **shown)


def explain_map(source: Source, explanation: CaseExplanation, theme: Theme, *, online: bool) -> DrawnDeck:
    """The map of an explanation."""
    return _draw_explain_map(source, explanation, ground_address(source, theme, online=online), theme)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL | BY_CONTENT)
def _draw_explain_map(source: Source, explanation: CaseExplanation, ground: str, theme: Theme) -> DrawnDeck:
    opened = datasets.open_dataset(source)
    return DrawnDeck(explain_deck(explanation, opened, map_style=ground, palette=palette_of(theme)))


def explain_image(source: Source, explanation: CaseExplanation, theme: Theme, *, exact: bool) -> bytes:
    """The map of an explanation as a PNG, drawn when it is asked for; generalised unless exact."""
    opened = datasets.open_dataset(source)
    if not exact:
        page = share_cases([explanation], opened, basemap=shared_basemap(source))
        return draw_case_image(page, palette=palette_of(theme), font=picture_font())
    return draw_explain_image(explanation, flat_ground(source), palette=palette_of(theme))


def walk_image(
    source: Source,
    trajectory: Trajectory,
    prediction: CasePrediction,
    theme: Theme,
    *,
    show_truth: bool,
    show_paths: bool,
    whole_walk: bool,
    exact: bool,
) -> bytes:
    """The map of one case as a PNG, drawn when it is asked for: the marks of the page; generalised unless exact."""
    if exact:
        marks = _walk_marks(source, trajectory, prediction, show_truth, show_paths, whole_walk, picture=True)
        return draw_walk_image(marks, flat_ground(source), palette=palette_of(theme))
    masked = masked_places(datasets.open_dataset(source), Generalisation()).opened(datasets.open_dataset(source))
    step, shared = share_step(trajectory, prediction)
    camera = fit_prediction(masked, shared, show_truth=show_truth, width_px=PICTURE_PX)
    shown = {"show_truth": show_truth, "show_paths": show_paths, "picture": True}
    marks = walk_marks(masked, step, shared, camera=camera, **shown)
    return draw_walk_image(marks, masked_ground(source, masked), palette=palette_of(theme))


def flat_ground(source: Source) -> Ground:
    """What pictures with exact places lie on."""
    return Ground(datasets.open_dataset(source), read_basemap(source))


def masked_ground(source: Source, masked: LoadedDataset) -> Ground:
    """What pictures to be shared lie on: also the density is that of the places as they are shown."""
    basemap = _read_basemap(source, last_change(source.dataset_hash))
    return Ground(masked, with_density(basemap, masked.latitude, masked.longitude))


def shared_basemap(source: Source) -> Basemap | None:
    """The layers that files to be shared choose from, see `analysis.sharing.ground.shareable_layers`."""
    return _read_basemap(source, last_change(source.dataset_hash))


def read_basemap(source: Source) -> Basemap | None:
    """The ground of a source's maps."""
    return _with_density(source, last_change(source.dataset_hash))


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_DATASET)
def _read_basemap(source: Source, changed: int) -> Basemap | None:
    opened = datasets.open_dataset(source)
    return find_basemap(
        source.dataset_hash, source.bundle, opened.latitude, opened.longitude, synthetic=source.synthetic
    )


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_DATASET)
def _with_density(source: Source, changed: int) -> Basemap | None:
    opened = datasets.open_dataset(source)
    return with_density(_read_basemap(source, changed), opened.latitude, opened.longitude)


def attribution(source: Source, *, online: bool) -> str:
    """Whose data the ground of a source's maps is; empty for an invented city."""
    if online:
        return "© OpenStreetMap contributors © CARTO"
    return str((read_basemap(source) or {}).get("attribution", ""))


def ground_address(source: Source, theme: Theme, *, online: bool) -> str:
    """The address of the map's ground: the app's own file, which browsers keep, or an online style.

    Inline in every deck it was nine tenths of what a step sent. The file is named after its content and lives in
    memory for as long as a visitor's page shows it, so every run of a page that shows a map asks for it again.
    """
    if online:
        return ONLINE_STYLES[theme]
    content = _ground_file(source, theme, last_change(source.dataset_hash))
    address = runtime.get_instance().media_file_mgr.add(content, _GROUND_TYPE, coordinates="map-ground")
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{address}" if base else address


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_DATASET)
def _ground_file(source: Source, theme: Theme, changed: int) -> bytes:
    opened = datasets.open_dataset(source)
    style = basemap_style(_with_density(source, changed), opened.latitude, opened.longitude, palette_of(theme))
    return style.encode()
