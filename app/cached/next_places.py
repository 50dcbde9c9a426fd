"""Predictions of the next place and their maps, cached by content hash and by what they start from."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.figures.next_map import expected_deck
from analysis.figures.palette import Theme, palette_of
from analysis.figures.table_rows import rows
from analysis.figures.walk_map import DOT_PX, LOW, places_deck, walk_deck
from analysis.figures.walk_marks import positions
from analysis.trajectories.cameras import NEXT_HEIGHT_PX
from analysis.trajectories.everyone import Everyone, everyone_as_recorded, last_day, predict_everyone
from analysis.trajectories.predictions import LIKELY, CasePrediction, predict_case
from analysis.trajectories.trajectory import Trajectory
from analysis.workspace import Workspace
from app.cached.explanations import open_model
from app.cached.maps import BY_CASE, DrawnDeck, draw_deck, fitted_marks, ground_address
from app.cached.workspace import BY_DATASET, BY_MODEL, open_workspace
from app.sources import Source
from app.threads import TURNS
from recap import columns as c
from recap.itinerary import Itinerary

MOST_DOTS: Final = 2_000
"""Places that the map offers as dots; others are found by name."""


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=BY_MODEL)
def predict_from(source: Source, itinerary: Itinerary, *, only_new: bool) -> CasePrediction:
    """With the true next place if it is known: a view that hides it takes `CasePrediction.without_truth`."""
    opened = open_model(source)
    with TURNS:
        return predict_case(opened, itinerary, paths_per_place=0, only_new=only_new, counts_now=True)


def is_calibrated(source: Source) -> bool:
    """Whether the probabilities were fitted to validation cases, so that "nine times in ten" may be said."""
    checkpoint = open_workspace(source).checkpoint
    return checkpoint is not None and checkpoint.temperature is not None and not checkpoint.is_unfitted


def next_map(source: Source, found: CasePrediction, walked: Trajectory, theme: Theme, **shown: Any) -> DrawnDeck:
    """Map of the last stops and the places predicted.

    Args:
        shown: ``show_truth``, and the ``chosen`` place or None.
    """
    return _draw_next_map(source, found, walked, ground_address(source, theme), theme, **shown)


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=BY_CASE)
def _draw_next_map(
    source: Source,
    found: CasePrediction,
    walked: Trajectory,
    ground: str,
    theme: Theme,
    *,
    show_truth: bool,
    chosen: int | None,
) -> DrawnDeck:
    listed = found.candidates
    likely = listed[c.POI][(listed["probability"] >= LIKELY) | (listed[c.RANK] == 1)]
    fit: dict[str, Any] = {"height_px": NEXT_HEIGHT_PX, "also": [*walked.stops[c.POI], *likely]}
    marks = fitted_marks(open_workspace(source), walked, found, show_truth, show_paths=False, **fit)
    look: dict[str, Any] = {"palette": palette_of(theme), "chosen": chosen, "with_places": True, "half_size": LOW}
    return draw_deck(source, walk_deck(marks, map_style=ground, **look), theme, _rows_of_dots(source))


def map_of_places(source: Source, theme: Theme) -> DrawnDeck:
    """All places to click."""
    opened, ground = open_workspace(source), ground_address(source, theme)
    deck = places_deck(opened.latitude, opened.longitude, map_style=ground, palette=palette_of(theme))
    return draw_deck(source, deck, theme, _rows_of_dots(source))


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_DATASET)
def place_dots(source: Source) -> pd.DataFrame:
    """The places with the most training check-ins: ``at, poi, tip``."""
    opened = open_workspace(source)
    poi = np.sort(_by_visits(opened)[:MOST_DOTS])
    at = positions(opened.longitude[poi], opened.latitude[poi])
    return pd.DataFrame({"at": at, c.POI: poi, "tip": [opened.labels[p] for p in poi]})


@st.cache_data(max_entries=8, show_spinner=False, hash_funcs=BY_DATASET)
def _rows_of_dots(source: Source) -> str:
    return json.dumps(rows(place_dots(source).assign(r=DOT_PX)), separators=(",", ":"))


def popular_places(source: Source, most: int = 10) -> list[str]:
    """Names of the places with the most training check-ins, most first."""
    opened = open_workspace(source)
    return [opened.labels[poi] for poi in _by_visits(opened)[:most]]


def find_place(source: Source, text: str) -> int | None:
    """The most visited place with this name or else containing it, or None."""
    opened, wanted = open_workspace(source), " ".join(text.casefold().split())
    ordered = [(int(poi), opened.labels[poi].casefold()) for poi in _by_visits(opened)]
    found = [poi for poi, label in ordered if label == wanted] or [poi for poi, label in ordered if wanted in label]
    return found[0] if wanted and found else None


def _by_visits(opened: Workspace) -> np.ndarray:
    return np.argsort(-opened.dataset.pois[c.TRAIN_CHECKINS].to_numpy(), kind="stable")


@st.cache_resource(max_entries=8, show_spinner="Predicting where everyone goes next", hash_funcs=BY_MODEL)
def everyone(source: Source, days_back: int) -> Everyone:
    opened = open_model(source)
    with TURNS:
        return predict_everyone(opened, _day(opened, days_back))


def as_recorded(source: Source, days_back: int) -> Iterator[pd.DataFrame]:
    opened = open_model(source)
    return everyone_as_recorded(opened, _day(opened, days_back))


def _day(opened: Workspace, days_back: int) -> date | None:
    return last_day(opened) - timedelta(days=days_back) if days_back else None


def expected_map(source: Source, days_back: int, theme: Theme) -> DrawnDeck:
    return _draw_expected_map(source, days_back, ground_address(source, theme), theme)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=BY_MODEL)
def _draw_expected_map(source: Source, days_back: int, ground: str, theme: Theme) -> DrawnDeck:
    places, opened = everyone(source, days_back).places, open_workspace(source)
    return draw_deck(source, expected_deck(opened, places, map_style=ground, palette=palette_of(theme)), theme)
