"""A list of cases to filter, sort and open: one component for every view that lists cases.

    show_case_table(table, key="cases", open_case=open_in_walk, opens="Walk →")

The table is one of `analysis.cases.case_table`, or a part of it (the cases that flipped, say), with further columns if
wanted. Everything chosen lives in the session under ``key``; one component of a page may carry it in the link too.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st

from analysis.cases.case_filter import CaseFilter
from analysis.cases.case_table import CAUSES, FROM, HOUR, REASON, TO
from analysis.glossary import TERMS
from analysis.records.ablations import ABLATION_LABELS
from app import state
from app.cached.figures import OPEN, known_before, list_cases, options_of
from app.components.text import quiet
from recap import columns as c
from recap.errors import RecapError
from recap.printable import markdown_text, visible

PARAM: Final = "filter"
"""The link's parameter."""
HEIGHT: Final = 330


def show_case_table(
    table: pd.DataFrame,
    *,
    key: str,
    open_case: Callable[[int], None],
    opens: str,
    columns: Mapping[str, Any] | None = None,
    show_truth: bool = True,
    in_link: bool = False,
    more: Mapping[str, Any] | None = None,
    chip: Callable[[], None] | None = None,
) -> None:
    """Filters and table; each row has a button that opens its case.

    Args:
        table: rows of `analysis.cases.case_table.case_table`; further columns are shown where ``more`` names them.
        key: of the widgets and of what is kept in the session.
        open_case: opens the case of the pressed button.
        opens: what the button says.
        columns: the columns shown, in order, with their configuration; all of the usual ones by default.
        show_truth: whether rank, counts, target, category, reason and causes may be shown and filtered by.
        in_link: whether the filter is carried by the link (one component of a page).
        more: column configuration of further columns, by name.
        chip: draws what else the table is limited to, into the row of the filters.
    """
    shown = _columns() if columns is None else columns
    st.fragment(_draw)(table, key, open_case, opens, {**(more or {}), **shown}, show_truth, in_link, chip)


def current_filter(key: str, *, in_link: bool = False) -> CaseFilter:
    """What a component lets pass; a link's filter that cannot be read gets a sentence and lets everything pass."""
    asked = state.incoming(PARAM) if in_link else None
    if asked is not None:
        try:
            _keep(key, CaseFilter.from_text(asked), in_link=in_link)
        except RecapError:
            st.warning("The link's filter of cases cannot be read, so all cases are listed.")
            _keep(key, CaseFilter(), in_link=in_link)
    chosen = CaseFilter.from_text(st.session_state.get(f"{key}_filter", ""))
    if in_link:
        state.write_param(PARAM, chosen.text or None)
    return chosen


def change_filter(key: str, *, in_link: bool = False, **fields: Any) -> None:
    """Change some fields of a component's filter, in a callback: of its own controls, or of a click elsewhere."""
    chosen = CaseFilter.from_text(st.session_state.get(f"{key}_filter", ""))
    _keep(key, CaseFilter.parse(chosen.model_dump() | fields), in_link=in_link)


def _keep(key: str, chosen: CaseFilter, *, in_link: bool) -> None:
    st.session_state[f"{key}_filter"] = chosen.text
    if in_link:
        state.write_param(PARAM, chosen.text or None)


def _draw(
    table: pd.DataFrame,
    key: str,
    open_case: Callable[[int], None],
    opens: str,
    columns: Mapping[str, Any],
    show_truth: bool,
    in_link: bool,
    chip: Callable[[], None] | None,
) -> None:
    chosen = current_filter(key, in_link=in_link)
    change = partial(change_filter, key, in_link=in_link)
    if not show_truth:
        table, chosen, columns = known_before(table), chosen.without_truth(), _columns()
    listed = list_cases(table, chosen.text, tuple(columns), opens)
    pressed = st.session_state.get(f"{key}_open")
    if pressed is not None and pressed["row"] < len(listed.cases):
        open_case(int(listed.cases[pressed["row"]]))
    with st.container(horizontal=True, vertical_alignment="center"):
        if chip is not None:
            chip()
        _controls(table, key, chosen, change, show_truth=show_truth)
        _chips(key, chosen, change)
        st.space("stretch")
        quiet(f"{len(listed.cases):,} of {len(table):,} cases", width="content")
    button = st.column_config.ButtonColumn("", width=92, type="tertiary", key=f"{key}_open")
    st.dataframe(
        listed.rows,
        hide_index=True,
        height=HEIGHT,
        key=f"{key}_rows",
        column_config={**columns, OPEN: button},
        alt="Cases with places, counts and ranks; the last column opens a case",
    )


def _controls(
    table: pd.DataFrame, key: str, chosen: CaseFilter, change: Callable[..., None], *, show_truth: bool
) -> None:
    with st.popover("Filter", icon=":material/filter_alt:", key=f"{key}_more"):
        hours = f"{key}_hours"
        st.session_state[hours] = chosen.hours or (0, 23)

        def set_hours() -> None:
            first, last = st.session_state[hours]
            change(hours=None if (first, last) == (0, 23) else (first, last))

        st.slider("Local hour", 0, 23, key=hours, on_change=set_hours)
        if not show_truth:
            return
        offered = options_of(table)
        words: dict[str, tuple[str, Callable[[str], str]]] = {
            "categories": ("Category of the true place", visible),
            "reasons": ("Kind of miss", lambda name: TERMS[name].word),
            "causes": ("Found with, lost without", _source),
        }
        for name, (label, words_of) in words.items():
            options = offered[name]
            if not options:
                continue
            at = f"{key}_{name}"
            st.session_state[at] = [value for value in getattr(chosen, name) if value in options]
            st.multiselect(
                label,
                options,
                key=at,
                format_func=words_of,
                on_change=lambda name=name, at=at: change(**{name: tuple(st.session_state[at])}),
            )
        search = f"{key}_search"
        st.session_state[search] = chosen.search
        st.text_input(
            "Search a place or category",
            key=search,
            max_chars=80,
            on_change=lambda: change(search=st.session_state[search].strip()),
        )


def _chips(key: str, chosen: CaseFilter, change: Callable[..., None]) -> None:
    """The filters that are on; a click takes one away."""
    words: dict[str, str] = {}
    for name, label in (("rank", "Rank"), ("steps", "Transition seen"), ("visits", "Place visited")):
        low, high = getattr(chosen, name)
        if (low, high) != (None, None):
            words[name] = f"{label} {_bounds(low, high)}"
    if chosen.hours is not None:
        words["hours"] = f"{chosen.hours[0]} to {chosen.hours[1]} h"
    lists = {
        "categories": chosen.categories,
        "reasons": tuple(TERMS[name].word for name in chosen.reasons),
        "causes": tuple(f"without {_source(name)} lost" for name in chosen.causes),
    }
    words |= {name: ", ".join(values) for name, values in lists.items() if values}
    if chosen.search:
        words["search"] = f"“{chosen.search}”"
    empty = CaseFilter()
    for name, text in words.items():
        st.button(
            markdown_text(text),
            icon=":material/close:",
            icon_position="right",
            key=f"{key}_off_{name}",
            on_click=lambda name=name: change(**{name: getattr(empty, name)}),
            help="Take this filter away",
        )


def _bounds(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return f"at most {high:,}" if high is not None else f"{low or 0:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _source(name: str) -> str:
    return ABLATION_LABELS[name]


def _columns() -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    return {
        c.CASE: number("Case", width=58, format="%d"),
        c.RANK: number("Rank", width=62, format="%g", help="Of the true place; a mean over ties."),
        c.TRANSITION_COUNT: number("Seen", width=62, help="In training."),
        c.DESTINATION_COUNT: number("Place visited", width=92, help="In training."),
        c.CATEGORY: text("Category", width=140, help="Of the true place."),
        HOUR: number("Hour", width=52, help="Local hour of the check-in before."),
        REASON: text("Kind of miss", width=160),
        CAUSES: text("Found with, lost without", width=170, help="Ranked within K with it, below K without it."),
        FROM: text("From", width=150),
        TO: text("To", width=150),
        c.USER: text("User", width=90),
    }
