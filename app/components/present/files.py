"""A presentation as files, and the order and titles of a collection's slides."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from analysis.sharing.slides import SharedSlide, write_pptx, write_slides_html
from app.components.cases.collection_order import show_order
from app.components.present import words
from app.components.present.deck import Deck
from app.components.present.slides import slide_at
from app.components.text import quiet
from app.components.toolbar import file_words, save_button
from app.settings import AppSettings
from app.sources import Source


def files_control(source: Source, deck: Deck) -> None:
    """A button that offers the files and, for a collection, changes order and titles."""
    button = st.popover("Slides", icon=":material/slideshow:", type="tertiary", key="present-files", on_change="rerun")
    if not button.open:
        return
    title = deck.collection.value.title if deck.collection else words.TITLE
    with button:
        quiet(words.FILES_MASKED)
        with st.container(horizontal=True):
            for label, ending, write in (
                ("PowerPoint", "pptx", write_pptx),
                ("Page (HTML)", "html", write_slides_html),
            ):
                made = partial(_written, source, deck, title, write)
                save_button(label, made, f"{file_words(title)}.{ending}", key=f"present-{ending}")
        if deck.shelf is not None and deck.collection is not None:
            show_order(deck.shelf, deck.collection, read_only=AppSettings.from_environment().read_only)


def _written(source: Source, deck: Deck, title: str, write: Callable[[list[SharedSlide], str], bytes]) -> bytes:
    return write([slide_at(source, deck, position) for position in range(len(deck.slides))], title)
