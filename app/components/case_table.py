"""Long tail's list of cases: filtered, sorted, and opened by the button of a row."""

import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from analysis.cases.case_filter import CaseFilter
from analysis.cases.case_table import FROM, HOUR
from analysis.glossary import TERMS
from analysis.long_tail import headlines
from analysis.records.ablations import ABLATION_LABELS
from app import address, state
from app.cached.figures import OPEN_COLUMN, TWO_LINES_PX, known_before, list_cases, options_of
from app.components.case_selection import selection_chip
from app.components.text import act_button, pick, quiet
from recap import columns as c
from recap.machine.printable import markdown_text, visible

_PARAM: Final = "filter"
"""The link's parameter."""
HEIGHT: Final = 330
_LABELLED: Final = {"label_visibility": "visible"}


@st.fragment
def show_case_table(
    table: pd.DataFrame, *, open_case: Callable[[int], None], opens: str, columns: Mapping[str, Any], show_truth: bool
) -> None:
    """Filters and table; each row has a button that opens its case.

    Args:
        table: rows of `analysis.cases.case_table.case_table`, with further columns if wanted.
        show_truth: whether the table and its filters may depend on the truth.
    """
    chosen = current_filter()
    if not show_truth:
        table, chosen, columns = known_before(table), chosen.without_truth(), _known_columns()
    listed = list_cases(table, chosen.text, tuple(columns), opens)
    key = button_key(listed.cases)
    pressed = st.session_state.get(key)
    if pressed is not None:
        open_case(int(listed.cases[pressed["row"]]))
    with st.container(horizontal=True, vertical_alignment="center"):
        selection_chip()
        _controls(table, chosen, show_truth=show_truth)
        _chips(chosen)
        st.space("stretch")
        quiet(headlines.listed_of(len(listed.cases), len(table)), width="content")
    button = st.column_config.ButtonColumn("Open", width=92, type="tertiary", key=key)
    st.dataframe(
        listed.rows,
        hide_index=True,
        height=HEIGHT,
        row_height=None if state.window_width() == "wide" else TWO_LINES_PX,
        column_config={**columns, OPEN_COLUMN: button},
        alt=headlines.CASES_ALT,
    )


def button_key(cases: np.ndarray) -> str:
    """Key of the buttons of a list; after a change of the list, a pressed button opens nothing."""
    return f"cases_open_{zlib.crc32(cases.tobytes()):08x}"


def current_filter() -> CaseFilter:
    """The list's filter; an unreadable link gives a message and passes every case."""
    kept = address.current_text(_PARAM, lambda text: CaseFilter.from_text(text).text, headlines.UNREADABLE_FILTER)
    return CaseFilter.from_text(kept)


def change_filter(**fields: Any) -> None:
    """Change some fields of the filter, in a callback."""
    kept = CaseFilter.from_text(str(address.chosen(_PARAM) or ""))
    address.choose(_PARAM, CaseFilter.parse(kept.model_dump() | fields).text)


def _controls(table: pd.DataFrame, chosen: CaseFilter, *, show_truth: bool) -> None:
    with st.popover("Filter", icon=":material/filter_alt:", key="cases_more"):

        def set_hours() -> None:
            first, last = st.session_state["cases_hours"]
            change_filter(hours=None if (first, last) == (0, 23) else (first, last))

        look: dict[str, Any] = {"max_value": 23, "value": chosen.hours or (0, 23), **_LABELLED}
        pick(st.slider, "Local hour", 0, set_hours, _PARAM, key="cases_hours", **look)
        if not show_truth:
            return
        offered = options_of(table)
        words: dict[str, tuple[str, Callable[[str], str]]] = {
            "categories": ("Category of the true place", visible),
            "reasons": ("Kind of miss", lambda name: TERMS[name].word),
            "causes": ("Found, but lost without", ABLATION_LABELS.__getitem__),
        }
        for name, (label, words_of) in words.items():
            options = offered[name]
            if not options:
                continue
            key = f"cases_{name}"

            def choose(name: str = name, key: str = key) -> None:
                change_filter(**{name: tuple(st.session_state[key])})

            value = [value for value in getattr(chosen, name) if value in options]
            look = {"key": key, "value": value, "offered": options, "format_func": words_of, **_LABELLED}
            pick(st.multiselect, label, options, choose, _PARAM, **look)

        def search() -> None:
            change_filter(search=st.session_state["cases_search"].strip())

        look = {"key": "cases_search", "value": chosen.search, "max_chars": 80, **_LABELLED}
        pick(st.text_input, "Search a place or category", "", search, _PARAM, **look)


def _chips(chosen: CaseFilter) -> None:
    """The active filters; a click removes one."""
    words: dict[str, str] = {}
    if chosen.hours is not None:
        words["hours"] = f"{chosen.hours[0]} to {chosen.hours[1]} h"
    lists = {
        "categories": chosen.categories,
        "reasons": tuple(TERMS[name].word for name in chosen.reasons),
        "causes": tuple(f"without {ABLATION_LABELS[name]} lost" for name in chosen.causes),
    }
    words |= {name: ", ".join(values) for name, values in lists.items() if values}
    if chosen.search:
        words["search"] = f"“{chosen.search}”"
    for name, text in words.items():
        act_button(
            markdown_text(text),
            f"cases_off_{name}",
            partial(change_filter, **{name: getattr(CaseFilter(), name)}),
            icon="close",
            icon_position="right",
            help="Remove this filter",
        )


def _known_columns() -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    return {
        c.CASE: number("Case", width=64),
        c.USER: text("User", width=90),
        HOUR: number("Hour", width=64, help=headlines.HOUR_HELP),
        FROM: text("From", width=330),
    }
