"""Explain: one prediction as a sum of contributions, and what changes it; or how the model scores."""

from functools import partial
from typing import Final

import pandas as pd
import streamlit as st

from analysis.explain.edits import write_edits
from analysis.explain.explanation import CaseExplanation
from analysis.explain.sentences import MORE_HELP
from app import state
from app.cached import explanations, maps
from app.cached.workspace import first_case, open_workspace
from app.components.cases.present_button import present_button
from app.components.cases.save_case import save_control
from app.components.empty import source_with_cases, train_button
from app.components.error_boundary import error_boundary
from app.components.explain.candidate_pair import PlacePair, back_to_truth, current_pair, runner_up_picker
from app.components.explain.case_picker import case_picker
from app.components.explain.contributions import show_contributions
from app.components.explain.model_page import show_model_page
from app.components.explain.ranks_only import show_listed_ranks, show_ranks_only
from app.components.explain.tabs import COLOURS, show_tabs
from app.components.explain.what_if import current_edits, show_what_if
from app.components.next.asked_time import at_usual_time
from app.components.share import share_button
from app.components.text import shown_sentence
from app.components.toolbar import choice_control, download_buttons, offer_figure, source_picker, truth_toggle
from app.sources import Source
from recap.history.moments import Moment

_NARROW: Final = 234
_HALVES: Final = {"prediction": "This prediction", "model": "The model"}
# By text in links; older ones have the label.
_HALVES_IN_LINKS: Final = {name: name for name in _HALVES} | {label: name for name, label in _HALVES.items()}
_FEATURE_COLOURS: Final = {"revisits": "violet", "paths": "green"}


@error_boundary
def view() -> None:
    source, opened = source_with_cases(lists=True)
    only_cases = source.imported is not None
    moment = state.current_moment(opened, partial(first_case, source), only_cases=only_cases)
    if source.reads_time and moment.next_place(opened.known.dataset) is None:
        moment = at_usual_time(opened.known, moment)
        state.set_moment(moment)
    state.write_moment(moment)
    if source.imported is not None and moment.case is not None:
        show_listed_ranks(source, moment)
    elif source.checkpoint_hash is None:
        st.title("No model to explain yet", anchor=False)
        train_button()
    elif not source.has_parts:
        show_ranks_only(source, moment)
    else:
        _explain(source, moment)


def _explain(source: Source, moment: Moment) -> None:
    opened = open_workspace(source).at(moment)
    edits = current_edits(source, moment)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        case_picker(source, moment)
        against_slot = st.container(width="content")
        half = choice_control("half", _HALVES_IN_LINKS, "prediction", _HALVES)
        st.space("stretch")
        exports = st.container(horizontal=True, width="content", gap="xsmall")
        more = st.popover("", icon=":material/tune:", key="more", help=MORE_HELP)
    with more:
        source_picker(source, lists=True)
        usual = moment.next_place(opened.dataset)
        hide_truth = usual is not None and not truth_toggle()
    if usual is None or hide_truth:
        usual = explanations.best_place(source, moment, hide_truth=hide_truth)
    pair = current_pair(moment, usual, opened.dataset.num_pois)
    explain = partial(explanations.explain, source, moment, hide_truth=hide_truth)
    before = explain(about=pair[0], against=pair[1])
    with against_slot:
        runner_up_picker(source, before, pair)
    if half == "model":
        first = usual if hide_truth and pair[0] is None else pair[0]
        show_model_page(source, moment, about=first, against=pair[1], hide_truth=hide_truth)
        with more:
            download_buttons({}, source=source, key="explain", of_one_user=True)
        return
    shown = before
    if edits:
        about = before.target if before.truth is None else pair[0]
        shown = explain(about=about, against=before.runner_up, edits=write_edits(edits))
    # A separate container, so that its changing lines do not move what follows.
    with st.container():
        _answer(shown)
        back_to_truth(shown, pair)
    top = st.grid(3, min_column_width=_NARROW)
    with top.cell(column_span=2):
        show_contributions(shown)
        show_tabs(source, before, shown, edits)
    with top.cell(), st.container(border=True, key="tray"):
        show_what_if(source, before, shown, edits)
    with exports:
        if moment.case is not None:
            if not hide_truth:  # Present shows the truth
                present_button(state.fields_of(moment) | ({"edits": shown.edits} if shown.edits else {}))
            save_control(source, shown, *pair)
        if not moment.is_changed:  # what is shared is masked as a recorded check-in is
            _share(source, shown)
    with more:
        _files(source, shown, pair)


def _share(source: Source, shown: CaseExplanation) -> None:
    def checked() -> list[CaseExplanation]:
        return [shown.model_copy(update={"checks": explanations.check(source, shown)})]

    share_button(source, checked, key="explain")


def _files(source: Source, shown: CaseExplanation, pair: PlacePair) -> None:
    given = {"time_given": pd.Timestamp(shown.time_given)} if shown.time_given else {}
    both = [entry.model_dump(exclude={"groups", "terms"}) | given | entry.terms for entry in (shown.a, shown.b)]
    if not shown.moment.is_changed:
        draw = partial(maps.explain_image, source, shown, state.theme_palette().theme)
        offer_figure("Map, time given" if shown.time_given else "Map", draw)
    download_buttons({"Contributions": pd.DataFrame(both)}, source=source, key="explain", of_one_user=True)


def _answer(shown: CaseExplanation) -> None:
    colours = _FEATURE_COLOURS | dict(zip(("target", "runner_up"), map(COLOURS.__getitem__, shown.roles), strict=True))
    st.title(shown_sentence(shown.headline, colours), anchor=False)
    st.markdown(" ".join(shown_sentence(sentence, colours) for sentence in shown.sentences))


view()
