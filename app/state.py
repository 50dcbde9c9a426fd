"""A visitor's choices, in the session and in the address: each link opens the same view again."""

from collections.abc import Callable, Container, Hashable, Mapping
from typing import Final, Literal, TypeVar, cast

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from analysis.figures.palette import Palette, palette_of
from analysis.link_hashes import HASH_FIELDS, compare_hashes, link_hashes
from analysis.records.imported import find_predictions
from analysis.workspace import Workspace
from app.library_internals import current_run
from app.settings import AppSettings
from app.sources import TOKEN_LENGTH, Source, find_sources, linked_source, unfitting_checkpoint, what_is_new
from recap.errors import CaseError, ConfigError
from recap.history.moments import Moment, link_number
from recap.machine.printable import markdown_text

_T = TypeVar("_T")
_WRITTEN = "_written_params"
_LEFT = "_left_params"
"""By field: values of the address on this page before this session wrote others."""
_FIELDS_OF = "_fields_of"
"""By page: fields of the address that it has written."""
_CAME_WITH = "_came_with"
"""The current run, the address its click came with, and what this session had written before."""
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


def incoming(name: str) -> str | None:
    """A query parameter that came with the address and was not written by this session.

    A key pressed while a page is being drawn is sent with the address before the page's own changes. That is no link,
    and following it would undo the last choice. The browser's Back is followed.
    """
    value = st.query_params.get(name)
    if value == st.session_state.get(_WRITTEN, {}).get(name):
        return None
    return None if value in st.session_state.get(_LEFT, {}).get(name, ()) and not _went_back() else value


def standing(name: str) -> str | None:
    """A field's value in the address, or after a late click the value that this session wrote."""
    value = st.query_params.get(name)
    written = st.session_state.get(_WRITTEN, {}).get(name)
    return written if value is not None and incoming(name) is None else value


def linked(*names: str) -> dict[str, str | None] | None:
    """The address fields that a link or the browser's Back brought; None if this session wrote them."""
    if _went_back() or any(incoming(name) is not None for name in names):
        return {name: standing(name) for name in names}
    return None


def _went_back() -> bool:
    run = get_script_run_ctx()
    return run is not None and run.is_history_navigation


def arrive_at(page: str) -> None:
    """Note that a new page opened, with an address that came with a click.

    The navigation's links have no values. The page's last values are put back at once, because each change of the
    address is a step of the browser's Back.
    """
    st.session_state.pop("to_say_invented", None)  # of a page that was left before it said so
    fields = st.session_state.setdefault(_FIELDS_OF, {}).setdefault(page, set())
    before = st.session_state.get("_page")
    if before != page:
        st.session_state["_page"], st.session_state["_came_from"] = page, before
        st.session_state.pop(_LEFT, None)
        if not st.query_params:
            written = st.session_state.get(_WRITTEN, {})
            st.query_params.update({name: written[name] for name in written if name in fields and written[name]})
        elif {"case", "row", "stops"} & set(st.query_params):
            if "half" not in st.query_params:
                choose("half", None)  # a link to a case opens Explain on its prediction
            if not {"row", "stops"} & set(st.query_params):
                st.session_state["moment"] = None


def leave_note(page: str, text: str) -> None:
    """A line to show above another page until it is left."""
    st.session_state["_note"] = page, text


def note_on(page: str) -> str:
    """The line left for a page; a line for another page is forgotten."""
    of, text = st.session_state.get("_note", ("", ""))
    if of != page:
        st.session_state.pop("_note", None)
    return text if of == page else ""


def came_from() -> str | None:
    """The previous page; None if a link led here."""
    return st.session_state.get("_came_from")


def write_param(name: str, value: str | None) -> None:
    write_params({name: value})


def write_params(values: Mapping[str, str | None]) -> None:
    """Write several values into the address at once; None removes one."""
    _came_with()
    written = st.session_state.setdefault(_WRITTEN, {})
    st.session_state.get(_FIELDS_OF, {}).get(st.session_state.get("_page"), set()).update(values)
    shown: dict[str, str] = {}
    for name, value in values.items():
        before = written.get(name, st.query_params.get(name))
        changed = before != value
        if before is not None and changed:
            st.session_state.setdefault(_LEFT, {}).setdefault(name, set()).add(before)
        written[name] = value
        if value is None:
            if name in st.query_params:
                del st.query_params[name]
        elif changed or st.query_params.get(name) != value:  # a late click has an outdated value
            shown[name] = value
    if shown:
        st.query_params.update(shown)


def unless_late(
    act: Callable[[], None], *names: str, key: str | None = None, offered: Container[object] = ()
) -> Callable[[], None]:
    """Wrap a widget's callback so that it ignores values chosen before the browser last drew the widget.

    A click sends the values of every widget, also outdated ones of widgets that this session has just set. These look
    chosen, but the click's address is outdated too. An option that a filter has taken away since comes as its label.

    Args:
        names: fields of the address on which the widget depends.
        key, offered: of a widget whose options change, and the options that it offers now.
    """

    def choose() -> None:
        value = None if key is None else st.session_state.get(key)
        chosen = value if isinstance(value, list) else [value]
        if not is_late(*names) and all(one is None or one in offered for one in chosen):
            act()

    return choose


def is_late(*names: str) -> bool:
    """Whether this run's click was meant for an earlier state of these address fields."""
    address, written = _came_with()
    return any(address.get(name) != written[name] for name in names if name in written)


def _came_with() -> tuple[Mapping[str, str], Mapping[str, str | None]]:
    """The address that the browser sent and the one expected, both before this run wrote to it."""
    run, kept = current_run(), st.session_state.get(_CAME_WITH)
    if kept is None or kept[0] is not run:
        kept = (run, st.query_params.to_dict(), dict(st.session_state.get(_WRITTEN, {})))
        st.session_state[_CAME_WITH] = kept
    return kept[1], kept[2]


def follow(params: Mapping[str, object]) -> None:
    """Put values into the address as if a link had brought them; empty ones are removed."""
    _came_with()
    for name, value in params.items():
        st.session_state.setdefault(_WRITTEN, {}).pop(name, None)
        st.session_state.get(_LEFT, {}).pop(name, None)
        if value is None or value == "":
            write_param(name, None)
        else:
            st.query_params[name] = str(value)


def current_choice(name: str, choices: Mapping[str, _T], default: _T) -> _T:
    """The latest choice on any view; the link contains it unless it is the default.

    Args:
        choices: by text in links; other texts are ignored.
    """
    key, asked = _chosen_key(name), incoming(name)
    if asked is not None and asked in choices:
        st.session_state[key] = choices[asked]
    elif _went_back() and name not in st.query_params:
        st.session_state.pop(key, None)
    chosen = st.session_state.get(key, default)
    if chosen not in choices.values():
        chosen = default
    said = next(text for text, value in choices.items() if value == chosen)
    write_param(name, None if chosen == default else said)
    return cast("_T", chosen)


def choose(name: str, value: object) -> None:
    """Change the value of `current_choice`; None restores the default."""
    if value is None:
        st.session_state.pop(_chosen_key(name), None)
    else:
        st.session_state[_chosen_key(name)] = value


def choice_of_data(dataset: str, name: str, read: Callable[[str | None], _T]) -> _T:
    """The latest choice for a dataset, by its hash; ``read`` understands a link's text, or the browser's Back's."""
    asked, kept = linked(name), st.session_state.get(_chosen_key(name))
    if asked is not None or kept is None or kept[0] != dataset:
        kept = (dataset, read(None if asked is None else asked[name]))
        st.session_state[_chosen_key(name)] = kept
    return cast("_T", kept[1])


def _chosen_key(name: str) -> str:
    return f"_chosen_{name}"


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
    asked = {name: value for name in _SOURCE_FIELDS if (value := incoming(name)) is not None}
    if asked:
        found = linked_source(sources, asked)
        st.session_state["link_made_with"] = asked
        if found is not None:
            st.session_state["source"] = found.token
    elif "source" not in st.session_state and any(name in st.query_params for name in _OF_ONE_SOURCE):
        st.session_state["link_made_with"] = {}
    token = st.session_state.get("source")
    source = next((source for source in sources if source.token == token), sources[0])
    st.session_state["source"] = source.token
    write_params(_source_params(source))
    st.session_state["to_say_invented"] = source.synthetic
    st.session_state["data_name"] = source.name
    if notices:
        _say_what_differs(source)
        _say_what_is_not_offered(source)
    return _ranked(source, lists)


def _ranked(source: Source, lists: bool) -> Source:
    """The source, or its dataset with the chosen imported predictions."""
    there = {item.key for item in find_predictions(source.dataset_hash)}
    asked = incoming(_PREDICTIONS)
    if asked is not None:
        st.session_state[_PREDICTIONS] = None if asked == _MODEL else asked
        if asked not in there and asked != _MODEL:
            st.warning("The link's imported predictions are not here, so the model's are shown.")
    key = st.session_state.get(_PREDICTIONS)
    key = key if lists and key in there else None
    write_param(_PREDICTIONS, key)
    return source if key is None else source.ranked_by(key)


def choose_predictions(key: str) -> None:
    """Use imported predictions of the open dataset instead of the model."""
    st.session_state[_PREDICTIONS] = key


def link_to(source: Source, **params: str) -> dict[str, str]:
    """Query parameters of a link inside the app."""
    is_list = source.imported or st.session_state.get(_PREDICTIONS)
    ranked_by = {_PREDICTIONS: source.imported or _MODEL} if is_list else {}
    return {name: value for name, value in _source_params(source).items() if value is not None} | ranked_by | params


def _source_params(source: Source) -> dict[str, str | None]:
    hashes = link_hashes(source.dataset_hash, source.checkpoint_hash)
    return {"source": source.token, **dict.fromkeys(HASH_FIELDS), **hashes}


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
        st.warning(f"{hashes.sentence[0].upper()}{hashes.sentence[1:]}. {shown} Its numbers differ. {how}")
    elif token and token[:TOKEN_LENGTH] != source.token:
        named = _safe_token(token)
        st.warning(f"This link was made with another model or dataset (`{named}`), which is not here. {shown} {how}")
    elif not made_with:
        st.markdown(f":small[:gray[{hashes.sentence[0].upper()}{hashes.sentence[1:]}. {shown}]]")


def _say_what_is_not_offered(source: Source) -> None:
    line = unfitting_checkpoint(source, AppSettings.from_environment())
    if line is not None:
        st.warning(f"{markdown_text(line[0].upper() + line[1:])}.")
    if line := what_is_new(source):
        st.markdown(f":small[:gray[{markdown_text(line)}]]")


def consume_synthetic_notice() -> bool:
    """Whether the page must still say that its city is invented; the caller then says it."""
    return bool(st.session_state.pop("to_say_invented", False))


def charts_here() -> dict[str, object]:
    """Charts of the page as it was drawn last, by the name of their files: the view, the chart and the data."""
    charts: dict[str, object] = st.session_state.setdefault("charts", {})
    return charts


def chart_name(key: str) -> str:
    """A chart's name: its view, its key and the data that is open."""
    return " ".join([str(st.session_state.get("_page", "")), key, str(st.session_state.get("data_name", ""))])


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
    asked = link_number(incoming("place"), num_places)
    if asked >= 0:
        st.session_state["place"] = (shown, asked)
    owner, place = st.session_state.get("place") or (shown, None)
    place = place if owner == shown else None
    write_param("place", None if place is None else str(place))
    return None if place is None else int(place)


def choose_place(shown: Hashable, place: int) -> None:
    st.session_state["place"] = (shown, place)
    write_param("place", str(place))


def theme_palette() -> Palette:
    return palette_of(st.context.theme.type)


def window_width() -> Window:
    """Whether the visitor's window is a phone's, narrow (a projector's or a tablet's) or wide; at first it is wide."""
    found: Window | None = st.session_state.get(WATCH, {}).get("window")
    return found or "wide"


def current_case(num_cases: int, first: Callable[[], int] = int) -> int:
    """The chosen case; a link's bad case gives a message and the first case.

    Args:
        first: the case to open by default.
    """
    asked = incoming("case")
    if asked is not None:
        number = link_number(asked, num_cases)
        st.session_state["case_missing"] = asked if number < 0 else None
        if number >= 0:
            st.session_state["case"] = number
    missing = st.session_state.pop("case_missing", None)
    chosen = st.session_state.get("case")
    case = first() if chosen is None else int(chosen)
    case = case if case < num_cases else 0
    if missing:
        st.warning(
            f"There is no case `{_safe_token(missing)}`; cases run from 0 to {num_cases - 1:,}. This is case {case}."
        )
    st.session_state["case"] = case
    write_param("case", str(case))
    return case


def set_case(case: int) -> None:
    st.session_state["case"], st.session_state["moment"] = case, None
    write_params({"case": str(case)} | dict.fromkeys(ITINERARY))


def current_moment(opened: Workspace) -> Moment | None:
    """The chosen or linked moment of a user that is no case; None where a case is shown.

    A link's bad moment gives a message; one where a test case starts opens that case.
    """
    moment: Moment | None = st.session_state.get("moment")
    asked: Mapping[str, str | None] | None = None
    if incoming("row") is not None or incoming("stops") is not None:
        asked = {name: standing(name) for name in ITINERARY}
    elif incoming("case") is not None or (_went_back() and not {"row", "stops"} & set(st.query_params)):
        moment = None
    elif moment is not None:  # it may be of another dataset
        asked = fields_of(moment)
    if asked is not None:
        try:
            moment = Moment.read(asked, opened.dataset, opened.checkins)
        except (CaseError, ConfigError):
            moment = None
            st.warning("The link's check-in is not one of its user's here, so a case is shown.")
    st.session_state["moment"] = moment
    if moment is None:
        write_params(dict.fromkeys(ITINERARY))
    else:
        set_moment(opened.moment(moment))
    return st.session_state.get("moment")


def set_moment(moment: Moment) -> None:
    """Show a case or a user's moment; then the case stays for views that show cases only."""
    remember(moment)
    if moment.case is not None:
        set_case(moment.case)
    else:
        write_params(dict.fromkeys(ITINERARY) | fields_of(moment))


def remember(moment: Moment) -> None:
    """Show it on the next page, whose link this session may have written before."""
    st.session_state["moment"] = None if moment.case is not None else moment
    if moment.case is not None:
        st.session_state["case"] = moment.case


def fields_of(case: int | Moment) -> dict[str, str]:
    """The fields of the address that name a case or moment."""
    named = case.fields if isinstance(case, Moment) else {"case": case}
    return {name: str(number) for name, number in named.items()}


def _safe_token(text: str) -> str:
    """Letters and digits of an address's text, for a message."""
    return "".join(ch for ch in text if ch.isalnum() or ch in "-_")[:40] or "?"
