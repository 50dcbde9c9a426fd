"""Present: slides by arrow keys; no navigation, no toolbar, no notices."""

from typing import Any

import streamlit as st

from analysis.cases.slides import SLIDE_STEPS
from analysis.figures.elements import png_element
from analysis.formatting import capitalised
from analysis.sharing.slides import SharedSlide
from app import address, state
from app.cached.workspace import open_workspace
from app.components.cases.collection_order import SAID
from app.components.empty import open_source
from app.components.error_boundary import error_boundary
from app.components.picture import show_picture
from app.components.present import words
from app.components.present.deck import Deck, current_deck, current_slide, go_to_step
from app.components.present.slides import files_control, slide_at
from app.components.text import coloured, key_button, pick, quiet, say_once
from app.components.theme_watch import watch_theme
from app.pages import CASES, PAGES
from app.sources import Source
from recap.errors import RecapError
from recap.machine.printable import markdown_text

_COLOURS = {"target": "orange", "runner_up": "blue", "revisits": "violet", "paths": "green"}
_LONG_TITLE = 96
# The screen's height without the controls and a title of one or two lines.
_UNDER_ONE, _UNDER_TWO = "calc(100vh - 16rem)", "calc(100vh - 19rem)"


@error_boundary
def view() -> None:
    source = open_source(notices=False)
    state.consume_synthetic_notice()  # the first slide says it
    try:
        deck = current_deck(source, len(open_workspace(source).cases))
        position = current_slide(deck)
        _show(slide_at(source, deck, position, state.theme_palette().theme))
    except RecapError as error:
        st.title(words.NOTHING_TO_PRESENT, anchor=False)
        st.markdown(markdown_text(f"{capitalised(str(error))}."))
        _end_button("Back")
        return
    _controls(source, deck, position)


def _show(slide: SharedSlide) -> None:
    st.title(coloured((piece.text, _COLOURS.get(piece.kind)) for piece in slide.pieces), anchor=False)
    picture, right = st.columns([3, 1], gap="medium")
    with picture:
        height = _UNDER_TWO if len(slide.title) > _LONG_TITLE else _UNDER_ONE
        show_picture(png_element(slide.picture), "picture", height=height, alt=slide.alt)
    with right:
        for number in slide.numbers:
            st.metric(number.label, number.value)
        for line in slide.lines:
            st.markdown(markdown_text(line))


def _controls(source: Source, deck: Deck, position: int) -> None:
    which, step = deck.slides[position]
    last = position == len(deck.slides) - 1
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="small"):

        def jump() -> None:
            chosen = st.session_state["present_step"] or step
            often = [number for number, (_, name) in enumerate(deck.slides) if name == chosen == "often"]
            go_to_step(deck, often[0] if often else deck.slides.index((which, chosen)))

        look: dict[str, Any] = {"key": "present_step", "value": step, "format_func": SLIDE_STEPS.__getitem__}
        if step == "finding":
            quiet(words.SLIDE_NUMBER.format(number=position + 1, slides=len(deck.slides)), width="content")
        else:
            pick(st.segmented_control, "Slide", list(SLIDE_STEPS), jump, "at", "step", **look)
        st.space("stretch")
        files_control(source, deck)
        watch_theme()
        _end_button("")
        back: dict[str, Any] = {"type": "tertiary", "disabled": position == 0}
        key_button("Back", "present_back", "Left", go_to_step, deck, position - 1, **back)
        label = "Next case" if step == "change" and which + 1 < len(deck.entries) else "Next"
        key_button(label, "present_next", "Right", go_to_step, deck, position + 1, disabled=last)
    say_once(SAID)


def _end_button(label: str) -> None:
    """A button to the previous page, or to Cases after a link."""
    if st.button(label, icon=":material/close:", key="present_end", type="tertiary", shortcut="Escape", help="End"):
        before = address.came_from()
        page = next((view for view in PAGES if view.name == before), PAGES[0] if before == "start" else CASES)
        st.switch_page(page.path)


view()
