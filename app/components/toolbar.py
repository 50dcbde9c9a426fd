"""The row of selectors on top of every view: source, metric, downloads."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import pandas as pd
import streamlit as st

from analysis.figures.vector import FORMS, Form, why_no_vectors, write_figure
from analysis.records.accuracy import CHOSEN_METRICS, METRIC_LABELS, fitting_metric
from analysis.sharing.tables import AS_RECORDED, PRIVACY, is_personal, share_table, to_csv
from analysis.workspace import Workspace
from app import address, state
from app.cached.workspace import imported_predictions, open_workspace
from app.components import words
from app.components.text import late_popover, pick, quiet, toggle
from app.pages import View
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap import columns as c
from recap.history.moments import Moment
from recap.machine.printable import markdown_text


def source_picker(source: Source, width: int = 360, *, lists: bool = False) -> None:
    """Choose among all datasets and checkpoints, with ``lists`` also imported predictions of the open dataset."""
    labels = {item.token: item.label for item in find_sources(AppSettings.from_environment())}
    imported = {key: item.label for key, item in imported_predictions(source).items()} if lists else {}
    labels |= imported

    def choose() -> None:
        picked = st.session_state["picked_source"]
        if picked in imported:
            state.choose_predictions(picked)
        else:
            state.choose_source(picked)

    pick(
        st.selectbox,
        "Dataset and model",
        list(labels),
        choose,
        *("source", "predictions"),
        key="picked_source",
        value=source.imported or source.token,
        offered=labels,
        format_func=lambda token: labels.get(token, token),
        width=width,
        help=words.SOURCES_HELP,
    )


SWITCHED: Final = {"true": True, "false": False}
"""By text in links."""


def metric_control(opened: Workspace) -> str:
    """The metric; at first the hit rate of a list that fits how many places a user knows."""
    by_name = {METRIC_LABELS[name]: name for name in CHOSEN_METRICS} | {name: name for name in CHOSEN_METRICS}
    return choice_control("metric", by_name, fitting_metric(opened.places_known), METRIC_LABELS)


def choice_control(name: str, choices: Mapping[str, str], default: str, labels: Mapping[str, str]) -> str:
    """A row of choices (by text in links), always one of them on, see `app.address.current_choice`."""
    key = f"pick_{name}"
    chosen, offered = address.current_choice(name, choices, default), list(dict.fromkeys(choices.values()))
    look: dict[str, Any] = {"required": True, "format_func": labels.__getitem__}

    def choose() -> None:
        address.choose(name, st.session_state[key])

    pick(st.segmented_control, name.capitalize(), offered, choose, name, key=key, value=chosen, **look)
    return str(st.session_state[key])


def legend(*items: str) -> None:
    """Small words under a figure; Markdown without data."""
    with st.container(horizontal=True, gap="small"):
        for item in items:
            st.markdown(f":small[{item}]", width="content")


def open_case_button(
    page: View, source: Source, case: int | Moment, *, key: str, about: int | None = None, **look: Any
) -> None:
    """Open a case or moment on another page; ``about`` is the place to explain."""
    if st.button(page.title, icon=":material/arrow_forward:", icon_position="right", key=key, **look):
        fields = state.fields_of(case) | ({} if about is None else {"about": str(about)})
        address.go(page, state.link_to(source, **fields))


def truth_toggle() -> bool:
    """Whether the true next place is shown; draw it before everything that depends on it."""
    return switch("truth", "Truth", True, help=words.TRUTH_HELP)


def switch(name: str, label: str, default: bool, *, help: str = "") -> bool:
    """A switch that a link turns on or off by its name; with a help mark if there is a ``help``."""
    st.session_state[name] = address.current_choice(name, SWITCHED, default)

    def choose() -> None:
        address.choose(name, st.session_state[name])

    draw = partial(toggle, help=help) if help else st.toggle
    return draw(label, key=name, on_change=address.unless_late(choose, name))


@st.fragment
def downloads(
    tables: Callable[[], Mapping[str, pd.DataFrame]],
    *,
    source: Source,
    key: str,
    **more: Any,
) -> None:
    """A button that offers tables and figures, which are computed when it is pressed; see `download_buttons`."""
    button = late_popover("Download", f"{key}-data", icon=":material/download:")
    if button:
        with button:
            download_buttons(tables(), source=source, key=key, **more)


def download_buttons(
    tables: Mapping[str, pd.DataFrame],
    *,
    source: Source,
    key: str,
    of_one_user: bool = False,
    exact_tables: Mapping[str, Callable[[], pd.DataFrame]] | None = None,
    below: Callable[[], None] | None = None,
    notes: tuple[str, str] = (words.SAFE_FILES, words.KEEP_FILES),
) -> None:
    """The content of `downloads`.

    Args:
        of_one_user: whether the charts name places of one user; those of a real one are offered only as recorded.
        exact_tables: offered only as recorded; computed when their button is pressed.
        below: shows further files.
        notes: what the files contain by default, and as recorded.
    """
    with st.container():
        if tables:
            quiet(words.CSV_TABLES)
        exact = False
        of_one_user = of_one_user and not source.synthetic
        if of_one_user or any(map(callable, state.charts_here().values())) or any(map(is_personal, tables.values())):
            exact = toggle("As recorded", key=f"{key}-exact", help=words.AS_RECORDED_HELP)
            if tables or exact:
                quiet(notes[exact])
            if of_one_user and not exact:
                quiet(words.ONLY_RECORDED)
        files = [(name, "csv", partial(_table_file, source, table, exact)) for name, table in tables.items()]
        files += [(name, "csv", partial(exact_file, make)) for name, make in (exact_tables or {}).items() if exact]
        for name, ending, write in files:
            save_button(name, write, f"{file_words(name)}.{ending}", key=f"{key}-{name}", width="stretch")
        if below is not None:
            below()
        figure_buttons(key, exact=exact, only_maps=of_one_user and not exact)


def figure_buttons(key: str, *, exact: bool = False, only_maps: bool = False) -> None:
    """The page's figures, each in every form that this computer can write; or one line that says what is missing."""
    figures = {name: figure for name, figure in state.charts_here().items() if callable(figure) or not only_maps}
    missing = why_no_vectors() if figures else ""
    for name, figure in figures.items():
        forms = [form for form in FORMS if not missing or (callable(figure) and form == "png")]
        if forms:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                quiet(name)
                for form in forms:
                    write = partial(_figure_file, figure, form, exact)
                    save_button(form.upper(), write, f"{name}.{form}", key=f"{key}-{name}-{form}")
    if missing:
        quiet(f"{markdown_text(missing)}.")


def _figure_file(figure: Any, form: Form, exact: bool) -> bytes:
    if callable(figure) and form == "png":  # needs no browser
        return bytes(figure(exact=exact))
    return write_figure(figure(exact=exact, svg=True) if callable(figure) else figure, form)


def offer_figure(key: str, figure: Any) -> str:
    """Let the page's Download offer a figure; returns the name of its files.

    Args:
        figure: what `write_figure` writes, or for a map a function that draws it as a PNG, or with ``svg`` for
            `write_figure`; it receives whether everything is ``exact``, that is, as recorded.
    """
    name = file_words(state.chart_name(key))
    state.charts_here()[name] = figure
    return name


_KINDS: Final = {
    "csv": ("text/csv", ":material/table:"),
    "md": ("text/markdown", ":material/table:"),
    "tex": ("application/x-tex", ":material/table:"),
    "png": ("image/png", ":material/image:"),
    "svg": ("image/svg+xml", ":material/image:"),
    "pdf": ("application/pdf", ":material/picture_as_pdf:"),
    "pptx": ("application/vnd.openxmlformats-officedocument.presentationml.presentation", ":material/slideshow:"),
    "html": ("text/html", ":material/description:"),
    "json": ("application/json", ":material/data_object:"),
}
"""Type and icon of a file by its ending."""


def save_button(label: str, write: Callable[[], bytes], name: str, *, key: str, **more: Any) -> None:
    """A button that writes and saves a file; its name is given with its ending, without ``recap-``."""
    mime, icon = _KINDS[name.rpartition(".")[2]]
    look: dict[str, Any] = {"mime": mime, "icon": icon, "on_click": "ignore"}
    st.download_button(label, data=write, file_name=f"recap-{name}", key=key, **(look | more))


def file_words(name: str) -> str:
    """A name as part of a file's name.

    >>> file_words("Lost without past visits"), file_words("?")
    ('lost-without-past-visits', 'cases')
    """
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "cases"


def exact_file(make: Callable[[], pd.DataFrame]) -> bytes:
    return to_csv(make().assign(**{PRIVACY: AS_RECORDED}))


def _table_file(source: Source, table: pd.DataFrame, exact: bool) -> bytes:
    opened = open_workspace(source).known
    if exact and opened.own_ids and c.USER in table:
        table = table.assign(**{c.USER_ID: [opened.own_ids[user] for user in table[c.USER]]})
    return to_csv(share_table(table, opened, exact=exact))
