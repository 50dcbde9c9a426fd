"""Explain: one prediction as a sum of contributions, its paths and visits, and what edits would change."""

from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from analysis.explain.edits import write_edits
from analysis.explain.explanation import CaseExplanation
from analysis.explain.sentences import Sentence
from analysis.explain.types import PathTerms, Role, Without
from app import state
from app.cached import explanations, maps
from app.cached.workspace import first_case, open_workspace
from app.components.cases.present_button import present_button
from app.components.cases.save_case import save_control
from app.components.empty import no_source
from app.components.error_boundary import error_boundary
from app.components.explain.candidate_pair import current_pair, pair_pickers
from app.components.explain.case_input import case_input
from app.components.explain.contributions import show_contributions
from app.components.explain.listed_ranks import show_listed_ranks
from app.components.explain.model_page import show_model_page
from app.components.explain.ranks_only import show_ranks_only
from app.components.explain.tabs import show_tabs
from app.components.explain.what_if import current_edits, show_what_if
from app.components.share import share_button
from app.components.text import coloured
from app.components.toolbar import downloads, source_picker, truth_toggle
from app.sources import Source
from recap import columns as c

NARROW: Final = 234
_HALVES: Final = {"prediction": "This prediction", "model": "The model"}
_COLOURS: Final[dict[Role, str]] = {"truth": "orange", "model": "blue", "other": "gray"}


@error_boundary
def view() -> None:
    source = state.current_source(lists=True)
    if source is None:
        no_source()
        return
    if source.imported is not None:
        show_listed_ranks(source)
        return
    if source.checkpoint_folder is None:
        st.title("No model to explain yet", anchor=False)
        st.markdown("Train a checkpoint first:")
        st.code("recap train DATA --out CHECKPOINT", language=None)
        return
    if not source.has_parts:
        show_ranks_only(source)
        return
    opened = open_workspace(source)
    case = state.current_case(len(opened.cases), first=partial(first_case, source))
    sequence = current_edits(source, case)
    with st.container(horizontal=True, vertical_alignment="center"):
        case_input(len(opened.cases))
        pickers = st.container(horizontal=True, width="content")
        half = _half()
        hide_truth = not truth_toggle()
        usual = explanations.best_place(source, case) if hide_truth else int(opened.case(case)[c.TARGET])
        about, against = current_pair(case, usual, opened.dataset.num_pois)
        more = st.popover("More", icon=":material/tune:", type="tertiary")
        st.space("stretch")
        exports = st.container(horizontal=True, width="content")
    if half == "model":
        with more:
            source_picker(source, lists=True)
        show_model_page(source, case, about=about, against=against)
        return
    edits = write_edits(sequence.done)
    # A container of its own: its lines come and go, and what follows must keep its place in the page. It comes before
    # the rest of the row above, since the answer does not wait for what one may choose next.
    with st.container():
        before = explanations.explain(source, case, about=about, against=against, hide_truth=hide_truth)
        shown = before
        if edits:
            first = before.target if hide_truth else about
            shown = explanations.explain(
                source, case, about=first, against=before.runner_up, edits=edits, hide_truth=hide_truth
            )
        _answer(shown)
    with pickers:
        pair_pickers(source, before, (about, against))
    with more:
        source_picker(source, lists=True)
    with exports:
        if not hide_truth:  # Present tells the truth
            present_button(case, edits=edits)
        save_control(source, shown, about, against)
        _export(source, shown)
    top = st.grid(3, min_column_width=NARROW)
    with top.cell(column_span=2):
        show_contributions(shown)
        tabs = st.container()
    with top.cell(), st.container(border=True, key="tray"):
        show_what_if(source, case, before, shown, sequence)
    with tabs:  # last: score and tray do not wait for it
        show_tabs(source, shown)


def _half() -> str:
    """Which half of the page is shown: this prediction, or the model."""
    return (
        st.segmented_control(
            "Half",
            list(_HALVES),
            default="prediction",
            required=True,
            format_func=_HALVES.__getitem__,
            key="half",
            bind="query-params",
            label_visibility="collapsed",
        )
        or "prediction"
    )


def _export(source: Source, shown: CaseExplanation) -> None:
    pair = [entry.model_dump(exclude={"groups", "terms"}) | entry.terms for entry in (shown.a, shown.b)]
    tables = {
        "Contributions": pd.DataFrame(pair),
        "Paths": pd.DataFrame([path.model_dump() for path in shown.paths], columns=list(PathTerms.model_fields)),
        "Without": pd.DataFrame([entry.model_dump() for entry in shown.without], columns=list(Without.model_fields)),
    }

    def checked() -> list[CaseExplanation]:
        return [shown.model_copy(update={"checks": explanations.check(source, shown)})]

    share_button(source, checked, key="explain")
    draw = partial(maps.explain_image, source, shown, state.theme_palette().theme)
    downloads(lambda: tables, source=source, key="explain", pictures={"Map": lambda exact: draw(exact=exact)})


def _answer(shown: CaseExplanation) -> None:
    first, second = (_COLOURS[role] for role in shown.roles)
    st.title(_coloured(shown.headline, first, second), anchor=False)
    st.markdown(" ".join(_coloured(sentence, first, second) for sentence in shown.sentences))


def _coloured(sentence: Sentence, target: str, runner_up: str) -> str:
    colours = {"target": target, "runner_up": runner_up}
    return coloured((piece.text, colours.get(piece.kind)) for piece in sentence.pieces)


view()
