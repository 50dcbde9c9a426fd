"""The row of selectors on top of every view: source, metric, downloads."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from analysis.records.accuracy import METRIC_LABELS
from app import state
from app.components.text import quiet
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap import columns as c
from recap.printable import one_line
from recap.privacy import Generalisation

SHOWN_METRICS = ("hr1", "hr20", "ndcg20", "mrr")


def source_picker(source: Source, width: int = 360) -> None:
    """Choose among all datasets and checkpoints on offer."""
    sources = {item.token: item for item in find_sources(AppSettings.from_environment())}
    st.session_state["picked_source"] = source.token
    st.selectbox(
        "Dataset and model",
        list(sources),
        key="picked_source",
        format_func=lambda token: sources[token].label if token in sources else token,
        label_visibility="collapsed",
        width=width,
        on_change=lambda: state.choose_source(st.session_state["picked_source"]),
        help="From the bundled city, your own folder, and what the app was started with.",
    )


def metric_control() -> str:
    """The metric that accuracies are shown in."""
    chosen = st.segmented_control(
        "Metric",
        SHOWN_METRICS,
        default="hr20",
        required=True,
        format_func=METRIC_LABELS.__getitem__,
        key="metric",
        bind="query-params",
        label_visibility="collapsed",
    )
    return chosen or "hr20"


def register_control() -> None:
    """Whose words the page speaks; `state.words` reads it, also where it is drawn further down."""
    st.segmented_control(
        "Words",
        list(state.REGISTER_LABELS),
        default="stakeholder",
        required=True,
        format_func=state.REGISTER_LABELS.__getitem__,
        key="register",
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
    )


def legend(*items: str) -> None:
    """Small words under a figure that say what its marks mean; Markdown without data in it."""
    with st.container(horizontal=True, gap="medium"):
        for item in items:
            st.markdown(f":small[{item}]", width="content")


def truth_toggle() -> bool:
    """Whether the true next place is shown; drawn before all that depends on it, since a link may hide it."""
    return st.toggle(
        "Truth",
        True,
        key="truth",
        bind="query-params",
        persist_state="session",  # whoever hides it on one page does not meet it on the next
        help="Off: nothing on the page tells it.",
    )


@dataclass(frozen=True)
class File:
    """A file made when it is asked for."""

    name: str
    mime: str
    icon: str
    write: Callable[[], bytes]


def downloads(
    tables: Mapping[str, pd.DataFrame],
    *,
    key: str,
    pictures: Mapping[str, Callable[[], bytes]] | None = None,
    files: Mapping[str, File] | None = None,
) -> None:
    """Every table of a view as CSV; charts are downloaded from their own corner, maps as ``pictures`` from here."""
    with st.popover("Export" if files else "Data", icon=":material/download:", key=f"{key}-data"):
        for name, file in (files or {}).items():
            st.download_button(
                name,
                data=file.write,
                file_name=file.name,
                mime=file.mime,
                on_click="ignore",
                key=f"{key}-{name}",
                icon=file.icon,
                width="stretch",
            )
        quiet("Tables as CSV, numbers unrounded. Each chart has its picture (PNG) in its own corner.")
        for name, table in tables.items():
            st.download_button(
                name,
                data=partial(to_csv, table),
                file_name=f"recap-{re.sub('[^a-z0-9]+', '-', name.lower())}.csv",
                mime="text/csv",
                on_click="ignore",
                key=f"{key}-{name}",
                icon=":material/table:",
                width="stretch",
            )
        for name, draw in (pictures or {}).items():
            st.download_button(
                name,
                data=draw,
                file_name=f"recap-{re.sub('[^a-z0-9]+', '-', name.lower())}.png",
                mime="image/png",
                on_click="ignore",
                key=f"{key}-{name}",
                icon=":material/image:",
                width="stretch",
            )


def to_csv(table: pd.DataFrame) -> bytes:
    """CSV in UTF-8, to be shared: times are moved and coarse, users have other names, coordinates are grid cells.

    Text that a spreadsheet would run as a formula gets an apostrophe in front, controls are shown."""
    rule = Generalisation()
    safe = table.copy()
    for name in safe.columns:
        if pd.api.types.is_datetime64_any_dtype(safe[name]):
            safe[name] = [None if pd.isna(moment) else rule.time(moment.to_pydatetime()) for moment in safe[name]]
        elif name in (c.USER, "walker"):
            safe[name] = [rule.pseudonym(str(user)) for user in safe[name]]
        elif name in (c.LATITUDE, c.LONGITUDE):
            safe[name] = rule.cell(safe[name].to_numpy(float))
    for name in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[name]) and not pd.api.types.is_datetime64_any_dtype(safe[name]):
            safe[name] = safe[name].map(lambda cell: _harmless(cell) if isinstance(cell, str) else cell)
    return safe.to_csv(index=False).encode("utf-8")


def _harmless(cell: str) -> str:
    text = one_line(cell)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
