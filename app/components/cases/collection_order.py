"""The order and the titles of a collection's slides."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import streamlit as st

from analysis.cases import words
from analysis.cases.library import Shelf, SlideOf, Stored
from analysis.cases.saved_case import MAX_TITLE, Collection, SavedCase, ViewSlide
from app.components.cases.exchange import open_library
from app.components.text import act_button, quiet, section
from recap.errors import RecapError
from recap.machine.printable import markdown_text, shortened

SAID: Final = "cases_said"


def show_order(shelf: Shelf, collection: Stored[Collection], *, read_only: bool) -> None:
    """The collection's cases and slides in order, with their titles and buttons that move or remove them."""
    section(words.order_title(collection.value.title))
    there = shelf.slides_of(collection.value)
    gone = len(collection.value.cases) - len(there)

    def change(transform: Callable[[Collection], Collection]) -> None:
        change_library(lambda: open_library().change(collection, transform(collection.value)))

    with st.container(gap=None):
        for position, stored in enumerate(there):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                if read_only:
                    st.markdown(f"{position + 1} {markdown_text(shortened(stored.value.title, 44))}")
                    continue
                name = stored.name
                _title_box(stored)
                up, down = (partial(Collection.moved, case=name, by=by) for by in (-1, 1))
                gone_from = partial(Collection.without_case, case=name)
                _move("arrow_upward", f"earlier-{name}", "Earlier", position > 0, change, up)
                _move("arrow_downward", f"later-{name}", "Later", position + 1 < len(there), change, down)
                _move("close", f"leave-{name}", "Remove from this collection", True, change, gone_from)
    if gone:
        quiet(words.gone_line(gone))
    if not read_only:
        remove = partial(open_library().remove, collection)
        act_button(
            "Remove this collection",
            "remove_collection",
            change_library,
            remove,
            type="tertiary",
            help=words.CASES_STAY,
        )


def _title_box(stored: SlideOf) -> None:
    """The title of the slide, or of a case's first slide, to write another one."""
    value, key = stored.value, f"title-{stored.name}-{stored.version[:8]}"

    def rename() -> None:
        typed = {"slide_title": " ".join(str(st.session_state[key]).split())}
        changed = type(value).parse(value.model_dump() | typed)
        change_library(lambda: open_library().change(stored, changed))  # type: ignore[misc]  # of its own kind

    st.text_input(
        "Title of the slide",
        value.slide_title,
        key=key,
        max_chars=MAX_TITLE,
        placeholder=value.headline if isinstance(value, ViewSlide) else value.title,
        label_visibility="collapsed",
        on_change=rename,
    )


def _move(icon: str, key: str, help: str, possible: bool, *act: Any) -> None:
    act_button("", key, *act, icon=icon, type="tertiary", help=help, disabled=not possible)


def change_library(action: Callable[[], object], note: str = "") -> None:
    """Change the library and say so; a refusal becomes a message, and typed text stays."""
    try:
        done = action()
    except RecapError as error:
        st.session_state[SAID] = str(error)
    else:
        if isinstance(done, Stored) and isinstance(done.value, SavedCase):
            note = words.saved_line(done.value.link.case)
        if note:
            st.toast(note)
