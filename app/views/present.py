"""Present: four slides by arrow keys; no navigation, no toolbar, no notices."""

from typing import Any

import streamlit as st

from analysis.cases.slides import SLIDE_STEPS, Number, Slide, case_slide, change_slide, shown_places, why_slide
from analysis.compare.comparison import Comparison
from analysis.compare.words import how_often
from analysis.explain.edits import parse_edits
from analysis.explain.explanation import CaseExplanation
from analysis.figures.compare import draw_how_often
from analysis.figures.elements import png_element
from analysis.formatting import capitalised
from app import state
from app.cached import comparisons, explanations, maps
from app.cached.workspace import open_workspace
from app.components.empty import open_source
from app.components.error_boundary import error_boundary
from app.components.picture import show_picture
from app.components.present import words
from app.components.present.deck import Deck, Presented, current_deck, current_slide, go_to_step
from app.components.text import coloured, key_button, pick
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
    if not source.has_parts:
        _leave(words.PARTS_NEED_RECAP)
        return
    opened = open_workspace(source)
    try:
        deck = current_deck(source, len(opened.cases))
        position = current_slide(deck)
        which, step = deck.slides[position]
        if step == "often":
            _show_how_often(source)
        else:
            _show_slide(source, deck.cases[which], step)
    except RecapError as error:
        _leave(f"{capitalised(str(error))}.")
        return
    _controls(deck, position)


def _show_how_often(source: Source) -> None:
    found = _against_counter(source)
    title, numbers, note = how_often(found, open_workspace(source).dataset.num_pois, invented=source.synthetic)
    st.title(markdown_text(title), anchor=False)
    picture, right = st.columns([3, 1], gap="medium")
    with picture:
        bars = draw_how_often(found.rows, a=found.a, b=found.b, palette=state.theme_palette())
        show_picture(bars, "picture", height=_UNDER_ONE, alt=title)
    with right:
        _numbers([Number(label, value) for label, value in numbers])
        st.markdown(markdown_text(note))


def _against_counter(source: Source) -> Comparison:
    options = comparisons.side_options(source)
    a, b = (options[token] for token in comparisons.default_pair(source))
    return comparisons.compared(a, b, "hr1", 1)


def _show_slide(source: Source, presented: Presented, step: str) -> None:
    # Every argument as Explain passes it, so that both show one explanation.
    moment = open_workspace(source).moment(presented.case)
    shown = explanations.explain(source, moment, about=None, against=None, hide_truth=False)
    if step == "case":
        found = _against_counter(source)
        counter = comparisons.side_options(source)[comparisons.default_pair(source)[0]]
        slide = case_slide(shown, found.a, float(comparisons.read_side(counter).ranks()[presented.case]))
    elif step == "why":
        slide = why_slide(shown)
    else:
        with st.spinner("Trying single changes", show_time=False):
            slide = _change(source, shown, presented)
    _show(source, slide, shown_places(shown))


def _change(source: Source, shown: CaseExplanation, presented: Presented) -> Slide:
    """The edits of a saved view, or the smallest single one."""
    labels, edits, tried = open_workspace(source).labels, parse_edits(presented.edits), 0
    if not edits:
        flip, tried = explanations.smallest_edit(source, shown.moment, shown.target, shown.runner_up, "")
        edits = () if flip is None else (flip.edit,)
    text = ";".join(edit.text for edit in edits)
    # As Explain shows the edits of a case.
    after = explanations.explain(
        source, shown.moment, about=None, against=shown.runner_up, edits=text, hide_truth=False
    )
    return change_slide(shown, after if edits else None, edits, tried, labels)


def _show(source: Source, slide: Slide, places: tuple[int, ...]) -> None:
    st.title(coloured((piece.text, _COLOURS.get(piece.kind)) for piece in slide.title), anchor=False)
    height = _UNDER_TWO if len(slide.text) > _LONG_TITLE else _UNDER_ONE
    picture, right = st.columns([3, 1], gap="medium")
    image = maps.room_picture(source, slide.marks, places, state.theme_palette().theme)
    with picture:
        show_picture(png_element(image), "picture", height=height, alt=f"Map: {slide.text}")
    with right:
        _numbers(slide.numbers)


def _numbers(numbers: "tuple[Number, ...] | list[Number]") -> None:
    for number in numbers:
        st.metric(number.label, number.value)


def _controls(deck: Deck, position: int) -> None:
    which, step = deck.slides[position]
    last = position == len(deck.slides) - 1
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="small"):

        def jump() -> None:
            chosen = st.session_state["present_step"] or step
            go_to_step(deck, deck.slides.index((0 if chosen == "often" else which, chosen)))

        look: dict[str, Any] = {"key": "present_step", "value": step, "format_func": SLIDE_STEPS.__getitem__}
        pick(st.segmented_control, "Slide", list(SLIDE_STEPS), jump, "at", "step", **look)
        st.space("stretch")
        watch_theme()
        _end_button("")
        back: dict[str, Any] = {"type": "tertiary", "disabled": position == 0}
        key_button("Back", "present_back", "Left", go_to_step, deck, position - 1, **back)
        label = "Next case" if step == "change" and which + 1 < len(deck.cases) else "Next"
        key_button(label, "present_next", "Right", go_to_step, deck, position + 1, disabled=last)


def _leave(reason: str) -> None:
    st.title(words.NOTHING_TO_PRESENT, anchor=False)
    st.markdown(markdown_text(reason))
    _end_button("Back")


def _end_button(label: str) -> None:
    """A button to the previous page, or to Cases after a link."""
    if st.button(label, icon=":material/close:", key="present_end", type="tertiary", shortcut="Escape", help="End"):
        before = state.came_from()
        page = next((view for view in PAGES if view.name == before), PAGES[0] if before == "start" else CASES)
        st.switch_page(page.path)


view()
