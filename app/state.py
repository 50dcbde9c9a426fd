"""What is open: a source, a case or a user's moment, and a place, in the session and in the address."""

from collections.abc import Callable, Hashable
from typing import Any, Final, Literal

import streamlit as st

from analysis.figures.palette import Palette, palette_of
from analysis.formatting import capitalised
from analysis.link_hashes import HASH_FIELDS, compare_hashes, link_hashes
from analysis.records.imported import find_predictions
from analysis.workspace import Workspace
from app import address
from app.settings import AppSettings
from app.sources import TOKEN_LENGTH, Source, find_sources, linked_source, unfitting_checkpoint, what_is_new
from recap.errors import CaseError, ConfigError
from recap.history.asked_times import link_time
from recap.history.moments import Moment, link_number
from recap.machine.printable import markdown_text

UNREADABLE_TIME: Final = "The link's time cannot be read, so another one is shown."
_PREDICTIONS, _MODEL = "predictions", "model"
"""The field that names imported predictions, and what it says where the model itself is meant."""
_SOURCE_FIELDS = ("source", *HASH_FIELDS)
ITINERARY = ("user", "row", "stops", "at")
Window = Literal["phone", "narrow", "wide"]
WATCH: Final = "theme-watch"
"""The key of the element that notices the theme and the window's width."""
MOMENT = ("case", *ITINERARY)
"""Fields that name what is shown: a case, or a user's number, the row of their last known check-in, changed stops."""
_OF_A_CASE = ("about", "against", "edits", "why", "show", "find", "place")
_OF_ONE_SOURCE = (*MOMENT, *_OF_A_CASE, "cases", "predictions", "without")
"""Fields that depend on the dataset or the model."""


def current_source(*, lists: bool = False, notices: bool = True) -> Source | None:
    """The chosen source, or the first one; None if there is nothing to open.

    The address always names the source and the hashes of its files. If a link's files differ, a banner names them; if
    it names no files, a line says so.

    Args:
        lists: whether chosen imported predictions may replace the model.
        notices: whether to show these messages.
    """
    sources = find_sources(AppSettings.from_environment())
    if not sources:
        return None
    token, link = st.session_state.get("source"), address.linked(*_SOURCE_FIELDS)
    source = next((source for source in sources if source.token == token), sources[0])
    asked = {name: value for name, value in (link or {}).items() if value is not None}
    if asked and (token is None or asked != _named(source)):
        source = linked_source(sources, asked) or source
        st.session_state["link_made_with"] = asked
    elif link is not None and token is None and any(name in st.query_params for name in _OF_ONE_SOURCE):
        st.session_state["link_made_with"] = {}
    st.session_state["source"] = source.token
    address.write(**dict.fromkeys(_SOURCE_FIELDS) | _named(source))
    st.session_state["to_say_invented"] = source.synthetic
    name_data(source.name)
    if notices:
        _say_what_differs(source)
        _say_what_is_not_offered(source)
    return _ranked(source) if lists else source


def _ranked(source: Source) -> Source:
    """The source, or its dataset with the chosen imported predictions."""
    there, link = {item.key for item in find_predictions(source.dataset_hash)}, address.linked(_PREDICTIONS)
    if link is not None:
        asked = link[_PREDICTIONS]
        st.session_state[_PREDICTIONS] = None if asked == _MODEL else asked
        if asked not in (None, _MODEL, *there):
            address.refuse("The link's imported predictions are not here, so the model's are shown.")
    key = st.session_state.get(_PREDICTIONS)
    key = key if key in there else None
    address.write(predictions=key)
    return source if key is None else source.ranked_by(key)


def choose_predictions(key: str) -> None:
    """Use imported predictions of the open dataset instead of the model."""
    st.session_state[_PREDICTIONS] = key


def link_to(source: Source, **fields: str) -> dict[str, str]:
    """The fields of a link inside the app."""
    is_list = source.imported or st.session_state.get(_PREDICTIONS)
    return _named(source) | ({_PREDICTIONS: source.imported or _MODEL} if is_list else {}) | fields


def _named(source: Source) -> dict[str, str]:
    return {"source": source.token, **link_hashes(source.dataset_hash, source.checkpoint_hash)}


def _say_what_differs(source: Source) -> None:
    """Show the differences between a link's files and the open ones."""
    made_with = st.session_state.get("link_made_with")
    if made_with is None:
        return
    shown = f"You see {markdown_text(source.label)}."
    how = "Start `recap app` with the --data and --checkpoint of the link."
    hashes = compare_hashes(made_with, source.dataset_hash, source.checkpoint_hash)
    token = made_with.get("source")
    if hashes.differing:
        st.warning(f"{capitalised(hashes.sentence)}. {shown} Its numbers differ. {how}")
    elif token and token[:TOKEN_LENGTH] != source.token:
        named = _safe_token(token)
        st.warning(f"This link was made with another model or dataset (`{named}`), which is not here. {shown} {how}")
    elif not made_with:
        st.markdown(f":small[:gray[{capitalised(hashes.sentence)}. {shown}]]")


def _say_what_is_not_offered(source: Source) -> None:
    line = unfitting_checkpoint(source, AppSettings.from_environment())
    if line is not None:
        st.warning(f"{markdown_text(capitalised(line))}.")
    if line := what_is_new(source):
        st.markdown(f":small[:gray[{markdown_text(line)}]]")


def consume_synthetic_notice() -> bool:
    """Whether the page must still say that its city is invented; the caller then says it."""
    return bool(st.session_state.pop("to_say_invented", False))


def charts_here() -> dict[str, Any]:
    """Charts of the page as it was drawn last, by the name of their files: the view, the chart and the data."""
    charts: dict[str, Any] = st.session_state.setdefault("charts", {})
    return charts


def name_data(name: str) -> None:
    """Name the data of the figures that follow."""
    st.session_state["data_name"] = name


def chart_name(key: str) -> str:
    """A chart's name: its view, its key and the data that is open."""
    page = address.current_page() or "overview"
    return " ".join([page, key.removeprefix(f"{page}_"), str(st.session_state.get("data_name", ""))])


def opened_dataset() -> str | None:
    """Hash of the dataset that the pages show; None before the first one."""
    sources = find_sources(AppSettings.from_environment())
    token = st.session_state.get("source") or st.query_params.get("source")
    return next((source.dataset_hash for source in sources if source.token == token), None)


def choose_source(token: str) -> None:
    """Switch to another source; the case stays if the dataset is the same."""
    sources = find_sources(AppSettings.from_environment())
    datasets = {source.token: source.dataset_hash for source in sources}
    old = str(st.session_state.get("source") or (sources[0].token if sources else ""))
    st.session_state["source"] = token
    st.session_state["link_made_with"] = None
    st.session_state[_PREDICTIONS] = None
    if datasets.get(old) != datasets.get(token):
        st.session_state.pop("case", None)
        st.session_state.pop("moment", None)


def current_place(shown: Hashable, num_places: int) -> int | None:
    """The place that was clicked or linked, or None."""
    link = address.linked("place")
    if link is not None:
        choose_place(shown, link_number(link["place"], num_places))
    owner, place = st.session_state.get("place") or (shown, -1)
    place = int(place) if owner == shown and place >= 0 else None
    address.write(place=None if place is None else str(place))
    return place


def choose_place(shown: Hashable, place: int) -> None:
    st.session_state["place"] = (shown, place)


def theme_palette() -> Palette:
    return palette_of(st.context.theme.type)


def window_width() -> Window:
    """Whether the visitor's window is a phone's, narrow (a projector's or a tablet's) or wide; at first it is wide."""
    window: Window | None = st.session_state.get(WATCH, {}).get("window")
    return window or "wide"


def current_moment(opened: Workspace, first: Callable[[], int], *, only_cases: bool) -> Moment:
    """The chosen or linked case, or moment of a user that is no case; a bad link gives a message and a case.

    Args:
        first: the case to open by default.
    """
    say_unread_time(reads_time=opened.reads_time)
    link, moment = address.linked(*MOMENT), st.session_state.get("moment")
    asked: dict[str, str | None] | None = None if moment is None else {**fields_of(moment)}  # maybe of other data
    if link is not None:
        asked = link if link["row"] is not None or link["stops"] is not None else None
        address.choose("half", None)  # a link to a case opens Explain on its prediction
    if asked is not None and not only_cases:
        known = opened.known
        try:
            asked |= {} if opened.reads_time else {"at": None}
            moment = known.moment(Moment.read(asked, known.dataset, known.checkins))
        except (CaseError, ConfigError):
            address.refuse("The link's check-in is not one of its user's here, so a case is shown.")
        else:
            set_moment(moment)
            return moment
    case = _current_case(None if link is None else link["case"], len(opened.cases), first)
    set_case(case)
    return opened.moment(case)


def say_unread_time(*, reads_time: bool) -> None:
    """A message if the link names a time that the model or nobody can read; call it before its moment is read."""
    asked = (address.linked("at") or {}).get("at")
    if asked and not reads_time:
        address.refuse("The link's time is left out: this model does not read it.")
    elif asked and link_time(asked) is None:
        address.refuse(UNREADABLE_TIME)


def _current_case(asked: str | None, num_cases: int, first: Callable[[], int]) -> int:
    """The chosen case; a link's bad case gives a message."""
    number, chosen = link_number(asked, num_cases), st.session_state.get("case")
    case = number if number >= 0 else first() if chosen is None else int(chosen)
    case = case if case < num_cases else 0
    if asked is not None and number < 0:
        address.refuse(
            f"There is no case `{_safe_token(asked)}`; cases run from 0 to {num_cases - 1:,}. This is case {case}."
        )
    return case


def set_case(case: int) -> None:
    st.session_state["case"], st.session_state["moment"] = case, None


def set_moment(moment: Moment) -> None:
    """Show a case or a user's moment; then the case stays for views that show cases only."""
    if moment.case is not None:
        set_case(moment.case)
    else:
        st.session_state["moment"] = moment


def write_moment(moment: Moment, **more: str) -> None:
    """Name it in the address, with further fields."""
    address.write(**dict.fromkeys(MOMENT) | fields_of(moment) | more)


def fields_of(case: int | Moment) -> dict[str, str]:
    """The fields of the address that name a case or moment."""
    named = case.fields if isinstance(case, Moment) else {"case": case}
    return {name: str(number) for name, number in named.items()}


def _safe_token(text: str) -> str:
    """Letters and digits of an address's text, for a message."""
    return "".join(ch for ch in text if ch.isalnum() or ch in "-_")[:40] or "?"
