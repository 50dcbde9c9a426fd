"""Every slide of a presentation, masked as a shared page, on the screen and in files; numbers as in the views."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from analysis.cases.saved_case import ViewSlide
from analysis.cases.slides import Number, Slide, Step, case_slide, change_slide, why_slide
from analysis.compare.words import cases_sentence, how_often
from analysis.explain.edits import parse_edits
from analysis.explain.explanation import CaseExplanation
from analysis.explain.types import Piece
from analysis.figures.bars import draw_bars
from analysis.figures.compare import comparison_bars
from analysis.figures.letters import Letters
from analysis.figures.palette import Theme, palette_of
from analysis.sharing.case_image import draw_case_image
from analysis.sharing.masking import Masking
from analysis.sharing.share import masked_cases
from analysis.sharing.shared_case import SharedPage
from analysis.sharing.slides import SharedSlide, share_slide, view_slide, write_pptx, write_slides_html
from app.cached import comparisons, explanations, maps
from app.cached.workspace import BY_MODEL, open_workspace
from app.components.cases.collection_order import show_order
from app.components.present import words
from app.components.present.deck import Deck, Presented
from app.components.text import late_popover, quiet
from app.components.toolbar import file_words, save_button
from app.library_internals import picture_font
from app.settings import AppSettings
from app.sources import Source


def slide_at(source: Source, deck: Deck, position: int, theme: Theme = "light") -> SharedSlide:
    entry_number, step = deck.slides[position]
    entry = deck.entries[entry_number]
    if isinstance(entry, ViewSlide):
        return view_slide(entry)
    if step == "often":
        return _how_often(source, theme)
    shown = _explained(source, entry.case)
    page, masking, picture = _shared(source, entry.case, theme)
    slide = share_slide(_slide_of(source, entry, step, shown, masking), shown, page, masking, picture)
    return slide.retitled(entry.title) if step == "case" else slide


def _how_often(source: Source, theme: Theme) -> SharedSlide:
    options = comparisons.side_options(source)
    a, b = (options[token] for token in comparisons.default_pair(source))
    result = comparisons.compared(a, b, "hr1", 1)
    title, numbers, note = how_often(result, open_workspace(source).dataset.num_pois, invented=source.synthetic)
    bars = comparison_bars(result.rows, "hr1", a=result.a, b=result.b)
    picture = draw_bars(bars, Letters(picture_font()), palette=palette_of(theme))
    shown = tuple(Number(label, value) for label, value in numbers)
    return SharedSlide((Piece(text=title),), shown, (note,), picture, title, f"{note}\n{cases_sentence(result)}")


def _explained(source: Source, case: int) -> CaseExplanation:
    # Every argument as Explain passes it, so that both show one explanation.
    moment = open_workspace(source).moment(case)
    return explanations.explain(source, moment, about=None, against=None, hide_truth=False)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=BY_MODEL)
def _shared(source: Source, case: int, theme: Theme) -> tuple[SharedPage, Masking, bytes]:
    explained, basemap = [_explained(source, case)], maps.shared_basemap(source)
    page, masking = masked_cases(explained, open_workspace(source), basemap=basemap)
    return page, masking, draw_case_image(page, palette=palette_of(theme), font=picture_font())


def _slide_of(source: Source, presented: Presented, step: Step, shown: CaseExplanation, masking: Masking) -> Slide:
    if step == "case":
        counter = comparisons.side_options(source)[comparisons.default_pair(source)[0]]
        rank = float(comparisons.read_side(counter).ranks()[presented.case])
        return case_slide(shown, counter.label, rank)
    if step == "why":
        return why_slide(shown)
    edits, tried = parse_edits(presented.edits), 0
    if not edits:
        with st.spinner("Trying single changes", show_time=False):
            flip, tried = explanations.smallest_edit(source, shown.moment, shown.target, shown.runner_up, "")
        edits = () if flip is None else (flip.edit,)
    text = ";".join(edit.text for edit in edits)
    # As Explain shows the edits of a case.
    after = explanations.explain(
        source, shown.moment, about=None, against=shown.runner_up, edits=text, hide_truth=False
    )
    return change_slide(shown, after if edits else None, edits, tried, masking.name)


def files_control(source: Source, deck: Deck) -> None:
    """A button that offers the files and, for a collection, changes order and titles."""
    button = late_popover("Slides", "present-files", icon=":material/slideshow:", type="tertiary")
    if not button:
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
