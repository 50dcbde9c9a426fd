"""Present: cases as full screens by arrow keys, for people in a room; no navigation, no toolbar, no logo."""

import streamlit as st

from analysis.cases.screen import Screen
from analysis.cases.story import STEPS, tell_limits
from analysis.records.case_filters import MISSED_ABOVE
from app import state
from app.cached import explanations, maps, tables
from app.cached.workspace import open_workspace
from app.components.empty import no_source
from app.components.error_boundary import error_boundary
from app.components.present.deck import LIMITS, Deck, current_deck
from app.components.text import coloured
from app.pages import CASES
from app.sources import Source
from recap.errors import RecapError
from recap.printable import markdown_text

_COLOURS = {"truth": "orange", "model": "blue", "path": "green"}
_LONG_TITLE = 96


@error_boundary
def view() -> None:
    source = state.current_source()
    if source is None:
        no_source()
        return
    state.consume_synthetic_notice()  # the last screen says it
    if source.checkpoint_hash is not None and not source.has_parts:
        st.title("Nothing to present", anchor=False)
        st.markdown(markdown_text(f"{source.variant} has no parts to take away, so there is no why. Choose a RECAP."))
        _leave()
        return
    if source.checkpoint_hash is None:
        st.title("No model to present yet", anchor=False)
        st.markdown("A counting baseline has nothing to take away, so there is no why. `recap train` makes a model.")
        _leave()
        return
    opened = open_workspace(source)
    try:
        deck = current_deck(source, len(opened.cases))
        position = _position(deck)
        which, step = deck.screens[position]
        told = deck.cases[which]
        with st.spinner("Ranking all places again", show_time=False):
            story = explanations.story(source, told.case, told.edits)
    except RecapError as error:
        st.title("Nothing to present", anchor=False)
        st.markdown(markdown_text(str(error)[:1].upper() + str(error)[1:] + "."))
        _leave()
        return
    if step == LIMITS:
        found = tables.share_found(source, MISSED_ABOVE)
        _show_limits(tell_limits(found, len(opened.cases), invented=source.synthetic))
    else:
        _show(source, story.screens[step], story.places)  # type: ignore[index]  # one of STEPS
    _controls(deck, position)


def _position(deck: Deck) -> int:
    """Which screen: of the link at first, then of the keys."""
    at, step = state.standing("at") or "1", state.standing("step") or "where"
    wanted = (int(at) - 1 if at.isascii() and at.isdigit() and len(at) < 6 else 0, step)
    position = deck.screens.index(wanted) if wanted in deck.screens else 0
    _go(deck, position)
    return position


def _go(deck: Deck, position: int) -> None:
    which, step = deck.screens[min(max(position, 0), len(deck.screens) - 1)]
    state.write_param("at", str(which + 1))
    state.write_param("step", step)


def _show(source: Source, screen: Screen, places: tuple[int, ...]) -> None:
    """Title, picture and numbers."""
    _title(screen)
    is_long = len(screen.text) > _LONG_TITLE
    picture, numbers = st.columns([13, 7] if is_long else [16, 7], gap="medium")
    assert screen.marks is not None
    drawn = maps.room_picture(source, screen.marks, places, state.theme_palette().theme)
    picture.image(drawn, width="stretch", alt=f"Map: {screen.text}")
    with numbers:
        _numbers(screen)


def _numbers(screen: Screen) -> None:
    for number in screen.numbers:
        st.metric(number.label, number.value)
    if screen.detail:
        st.markdown(screen.detail)


def _show_limits(screen: Screen) -> None:
    _title(screen)
    st.markdown(screen.detail)
    row = st.columns(len(screen.numbers))
    for column, number in zip(row, screen.numbers, strict=True):
        column.metric(number.label, number.value)


def _title(screen: Screen) -> None:
    st.title(coloured((piece.text, _COLOURS.get(piece.kind)) for piece in screen.title), anchor=False)


def _controls(deck: Deck, position: int) -> None:
    """Steps of this case, and back and next by the arrow keys."""
    which, step = deck.screens[position]
    last = position == len(deck.screens) - 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.session_state["present_step"] = step if step in STEPS else None

        def jump() -> None:
            chosen = st.session_state["present_step"]
            _go(deck, deck.screens.index((which, chosen or step)))

        st.segmented_control(
            "Screen",
            list(STEPS),
            key="present_step",
            format_func=STEPS.__getitem__,
            label_visibility="collapsed",
            on_change=state.unless_late(jump, "at", "step"),
        )
        st.space("stretch")
        if st.button("", icon=":material/close:", key="present_end", type="tertiary", shortcut="Escape", help="End"):
            st.switch_page(CASES.path)
        st.button(
            "Back",
            key="present_back",
            type="tertiary",
            shortcut="Left",
            disabled=position == 0,
            on_click=_go,
            args=(deck, position - 1),
        )
        ends_case = step == "change" and which + 1 < len(deck.cases)
        st.button(
            "Next case" if ends_case else "Next",
            key="present_next",
            shortcut="Right",
            disabled=last,
            on_click=_go,
            args=(deck, position + 1),
        )


def _leave() -> None:
    if st.button("To Cases", key="present_end", shortcut="Escape"):
        st.switch_page(CASES.path)


view()
