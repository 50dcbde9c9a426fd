"""Maps of the views: the ground, sent to each browser once, and the marks."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
import pydeck as pdk
import streamlit as st

from analysis.basemap.density import with_density
from analysis.basemap.document import Basemap
from analysis.basemap.neighbourhoods import neighbourhoods
from analysis.basemap.stored import find_basemap, last_change
from analysis.cases.picture import draw_thumbnail, marks_of_record
from analysis.explain.explanation import CaseExplanation
from analysis.figures.basemap import basemap_style, frequent_ways, has_streets
from analysis.figures.deck_layers import TOOLTIP
from analysis.figures.explain_map import draw_explain_image, explain_deck
from analysis.figures.landmarks import landmarks, with_landmarks
from analysis.figures.letters import Letters
from analysis.figures.map_ground import MapGround
from analysis.figures.map_image import draw_map_image
from analysis.figures.miss_map import miss_deck
from analysis.figures.palette import Theme, palette_of
from analysis.figures.table_rows import rows
from analysis.figures.walk_map import DOT_PX, NO_ROWS, walk_deck
from analysis.figures.walk_marks import WalkMarks, positions, walk_marks
from analysis.formatting import LIKELY, day
from analysis.sharing.case_image import draw_case_image
from analysis.sharing.places import masked_places
from analysis.sharing.share import share_cases
from analysis.sharing.walks import share_step
from analysis.trajectories.cameras import MAP_HEIGHT_PX, NARROWEST_PX, NEXT_HEIGHT_PX, PICTURE_PX, fit_prediction
from analysis.trajectories.case_names import places_by_visits
from analysis.trajectories.predictions import TIME_ASKED, CasePrediction
from analysis.trajectories.trajectory import Trajectory
from analysis.workspace import Workspace
from app import state
from app.cached.figures import BY_CONTENT
from app.cached.workspace import BY_DATASET, BY_MODEL, HashFuncs, dataset_of, open_workspace, read_lists
from app.library_internals import media_address, picture_font
from app.settings import AppSettings
from app.sources import Source
from recap import columns as c
from recap.history.moments import Moment
from recap.privacy import Generalisation

_GROUND_TYPE: Final = "application/json"
_ZOOM_OUT: Final = {"wide": 0.0, "narrow": 0.4, "phone": 0.8}
"""So that what a wide window shows is seen in another, and its zoom buttons cover none of it."""
_BY_BASEMAP: Final[HashFuncs] = {Source: lambda source: (dataset_of(source), last_change(source.dataset_hash))}
_FOR_ANY_WINDOW: Final = (miss_deck, explain_deck)
_MOST_DOTS: Final = 2_000
"""Places that a map offers as dots; others are found by name."""
_BY_SHOWN: Final[HashFuncs] = (
    BY_MODEL
    | BY_CONTENT
    | {
        Workspace: lambda opened: opened.dataset.hash,
        Trajectory: lambda trajectory: trajectory.number,
        CasePrediction: lambda prediction: (repr(prediction.moment), prediction.only_new, len(prediction.candidates)),
    }
)
"""Within one model a trajectory is its number, and a prediction its moment and how many places it lists."""


class DrawnDeck(pdk.Deck):
    """A serialised deck; serialising takes longer than all other work of a stop."""

    def __init__(self, deck: pdk.Deck, dots: str) -> None:
        """Args: ``dots``, see `place_dots`."""
        super().__init__(tooltip=TOOLTIP, map_provider=None)
        drawn = json.dumps(json.loads(deck.to_json()), separators=(",", ":"))  # without pydeck's indents
        self._json = drawn.replace(NO_ROWS, dots)

    def to_json(self) -> str:
        return self._json


def draw_map(source: Source, make: Callable[..., pdk.Deck], *shown: Any, **options: Any) -> DrawnDeck:
    """Draw ``make(*shown, map_style=..., palette=..., **options)`` in the visitor's theme, once for all visitors.

    Where the ground has no streets, names of well-known places are added.

    Args:
        shown: tables, explanations, predictions, the source's workspace; do not change them later.
    """
    theme = state.theme_palette().theme
    ground = ground_address(source, theme)  # not cached with the deck, since every run must request it
    out = 0.0 if make in _FOR_ANY_WINDOW else _ZOOM_OUT[state.window_width()]
    what: dict[str, Any] = {"make": make, "shown": shown, "options": options, "out": out}
    return _draw_map(source=source, ground=ground, theme=theme, **what)


@st.cache_resource(max_entries=512, show_spinner=False, hash_funcs=_BY_SHOWN)
def _draw_map(
    source: Source,
    make: Callable[..., pdk.Deck],
    shown: tuple[Any, ...],
    options: dict[str, Any],
    ground: str,
    theme: Theme,
    out: float,
) -> DrawnDeck:
    palette = palette_of(theme)
    deck = make(*shown, map_style=ground, palette=palette, **options)
    deck.initial_view_state.zoom -= out
    if not has_tiles(source) and not has_streets(read_basemap(source)):
        deck = with_landmarks(deck, _landmarks(source), palette)
    return DrawnDeck(deck, place_dots(source)[1])


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_DATASET)
def _landmarks(source: Source) -> pd.DataFrame:
    return landmarks(open_workspace(source))


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_DATASET)
def place_dots(source: Source) -> tuple[list[int], str]:
    """The most visited places, which a map offers to click, and their rows as JSON, which replace `NO_ROWS`."""
    opened = open_workspace(source)
    poi = np.sort(places_by_visits(opened)[:_MOST_DOTS])
    points = positions(opened.longitude[poi], opened.latitude[poi])
    dots = pd.DataFrame({"at": points, c.POI: poi, "tip": [opened.labels[p] for p in poi], "r": DOT_PX})
    return poi.tolist(), json.dumps(rows(dots), separators=(",", ":"))


def walk_map(
    opened: Workspace,
    trajectory: Trajectory,
    prediction: CasePrediction,
    *,
    show_truth: bool,
    show_paths: bool,
    **look: Any,
) -> pdk.Deck:
    """Map of one case."""
    return walk_deck(fitted_marks(opened, trajectory, prediction, show_truth, show_paths), **look)


def next_map(
    opened: Workspace, walked: Trajectory, prediction: CasePrediction, *, show_truth: bool, **look: Any
) -> pdk.Deck:
    """Map of the last stops, the places predicted and the dots of others."""
    listed = prediction.candidates
    likely = listed[c.POI][(listed["probability"] >= LIKELY) | (listed[c.RANK] == 1)]
    fit: dict[str, Any] = {"height_px": NEXT_HEIGHT_PX, "also": [*walked.stops[c.POI], *likely]}
    marks = fitted_marks(opened, walked, prediction, show_truth, show_paths=False, **fit)
    return walk_deck(marks, with_places=True, **look)


def fitted_marks(
    opened: Workspace,
    trajectory: Trajectory,
    prediction: CasePrediction,
    show_truth: bool,
    show_paths: bool,
    *,
    picture: bool = False,
    height_px: int = MAP_HEIGHT_PX,
    also: Sequence[int] = (),
) -> WalkMarks:
    size = {"width_px": PICTURE_PX if picture else NARROWEST_PX, "height_px": height_px}
    camera = fit_prediction(opened, prediction, show_truth=show_truth, also=also, **size)
    shown = {"show_truth": show_truth, "show_paths": show_paths, "picture": picture}
    return walk_marks(opened, trajectory, prediction, camera=camera, lower_px=MAP_HEIGHT_PX - height_px, **shown)


def explain_image(source: Source, explanation: CaseExplanation, theme: Theme, *, exact: bool, **form: Any) -> bytes:
    """Map of an explanation; generalised unless exact."""
    opened = open_workspace(source).at(explanation.moment)
    if not exact:
        page = share_cases([explanation], opened, basemap=shared_basemap(source))
        return draw_case_image(page, palette=palette_of(theme), font=picture_font(), **form)
    ground = flat_ground(source, explanation.moment)
    return draw_explain_image(explanation, ground, palette=palette_of(theme), **form)


def walk_image(
    source: Source,
    trajectory: Trajectory,
    prediction: CasePrediction,
    theme: Theme,
    *,
    show_truth: bool,
    show_paths: bool,
    exact: bool,
    **form: Any,
) -> bytes:
    """Map of one case, as `draw_map_image` writes it; generalised unless exact."""
    opened = open_workspace(source).at(prediction.moment)
    if exact:
        ground = flat_ground(source, prediction.moment)
    else:  # the density uses the generalised places too
        ground = _masked_ground(source, opened)
        opened = ground.opened
        trajectory, prediction = share_step(trajectory, prediction, opened.labels)
    marks = fitted_marks(opened, trajectory, prediction, show_truth, show_paths, picture=True)
    when, given = "", next(iter(prediction.candidates.get(TIME_ASKED, [])), None)
    if given is not None:
        masked = Generalisation().part_of_week(given.weekday(), given.hour)
        when = f"{day(given)}, {given:%H:%M}" if exact else masked
    palette = palette_of(theme)
    deck = walk_deck(marks, map_style="", palette=palette)
    return draw_map_image(deck, ground, palette=palette, time_given=when, **form)


def counts_image(source: Source, make: Callable[..., pdk.Deck], theme: Theme, *, exact: bool, **form: Any) -> bytes:
    """Map of numbers over many users; ``exact`` about the places that are dots."""
    palette, opened = palette_of(theme), open_workspace(source)
    ground = flat_ground(source, 0) if exact else _masked_ground(source, opened)
    return draw_map_image(make(map_style="", palette=palette), ground, palette=palette, **form)


def _masked_ground(source: Source, opened: Workspace) -> MapGround:
    opened = masked_places(opened, Generalisation()).opened(opened)
    layers = with_density(shared_basemap(source), opened.latitude, opened.longitude)
    return MapGround(opened, layers, Letters(picture_font()))


def flat_ground(source: Source, shown: int | Moment) -> MapGround:
    return MapGround(open_workspace(source).at(shown), read_basemap(source), Letters(picture_font()))


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_BY_BASEMAP)
def shared_basemap(source: Source) -> Basemap | None:
    """Layers that shared files may use, see `analysis.sharing.ground.shareable_layers`."""
    opened = open_workspace(source)
    return find_basemap(
        source.dataset_hash, source.bundle, opened.latitude, opened.longitude, synthetic=source.synthetic
    )


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_BY_BASEMAP)
def read_basemap(source: Source) -> Basemap | None:
    opened = open_workspace(source)
    return with_density(shared_basemap(source), opened.latitude, opened.longitude)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_BY_BASEMAP)
def _neighbourhoods(source: Source) -> list[str]:
    opened = open_workspace(source)
    return neighbourhoods(shared_basemap(source), opened.latitude, opened.longitude)


def neighbourhood(source: Source, poi: int) -> str:
    """Neighbourhood of a place; empty if unknown."""
    names = _neighbourhoods(source)
    return names[poi] if poi < len(names) else ""  # a place that training has not seen


def has_tiles(source: Source) -> bool:
    """Whether street tiles are under the maps: they were requested, and the city is real."""
    return AppSettings.from_environment().online_map and not source.synthetic


def ground_address(source: Source, theme: Theme) -> str:
    """Address of the map's ground, a file that browsers cache.

    Inline in every deck it was nine tenths of the data sent. The file stays in memory only while a page shows it, so
    every run of the page must request it.
    """
    content = _ground_file(source, theme, has_tiles(source))
    address = media_address(content, _GROUND_TYPE, "map-ground")
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{address}" if base else address


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=_BY_BASEMAP)
def _ground_file(source: Source, theme: Theme, tiles: bool) -> bytes:
    opened, basemap = open_workspace(source), read_basemap(source)
    points = opened.latitude, opened.longitude
    ways = None if has_streets(basemap) else frequent_ways(opened.graph.counts, *points)
    return basemap_style(basemap, *points, palette_of(theme), tiles=tiles, ways=ways).encode()


@st.cache_data(max_entries=512, show_spinner=False, hash_funcs=BY_MODEL)
def thumbnail(source: Source, case: int, theme: Theme, *, hops: str | None) -> bytes:
    opened = open_workspace(source)
    marks = marks_of_record(opened, read_lists(source).iloc[case], hops=hops)
    return draw_thumbnail(opened, marks, palette=palette_of(theme), basemap=read_basemap(source))
