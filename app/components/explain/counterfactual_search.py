"""Questions to one explanation that take a second or more."""

from typing import Final

import streamlit as st

from analysis.explain.explanation import FullExplanation
from analysis.explain.minimal_sets import describe_set
from analysis.formatting import share, signed_points
from app import state
from app.cached import explanations
from app.components.text import quiet, section
from app.sources import Source
from recap.printable import markdown_text

SECONDS_A_PLACE: Final = 2e-5
"""What a search takes, measured among a million places: twenty seconds of processor, more with sets of evidence."""


def show_counterfactual_search(source: Source, shown: FullExplanation) -> None:
    """Questions that take a second or more: asked for, never on their own."""
    section("Harder questions")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        k = st.selectbox("Top K", (1, 5, 10, 20), index=3, key="sets_k", width=110)
        asked = st.button("Search", icon=":material/search:", key="search")
    words = state.words()
    quiet(words.say("search_note"))
    seconds = round(shown.num_places * SECONDS_A_PLACE)
    if seconds > 1:
        quiet(f"Among {shown.num_places:,} places expect {seconds} seconds and more.")
    key = (source.token, shown.case, shown.target, shown.rival, shown.edits, k)
    if asked:
        st.session_state["searched"] = key
    if st.session_state.get("searched") != key:
        return
    with st.spinner("Trying edits and sets of evidence"):
        weighs = explanations.open_predictor(source).weighs_clues
        within = k if shown.target_rank <= k and not weighs else None
        hide_truth = shown.truth is None
        deeper = explanations.search(source, shown.case, shown.target, shown.rival, shown.edits, within, hide_truth)
    flip, tried = deeper.contrast.flip, deeper.contrast.tried
    if flip is None:
        st.markdown(f"None of {tried} single edits turns the order round.")
    else:
        margin = signed_points(flip.margin)
        st.markdown(
            f"Of {tried} single edits, the smallest that turns the order round is `{flip.text}`: then {margin}."
        )
    if weighs:
        st.markdown("Sets of evidence are not searched: in this model a clue's points change with what it reads.")
    elif deeper.minimal_sets is None:
        st.markdown(f"It is not within the top {k}, so there is no set of evidence that keeps it there.")
    for found in deeper.minimal_sets or []:
        st.markdown(markdown_text(describe_set(found)))
    if deeper.faithfulness is not None:
        curve = deeper.faithfulness
        st.markdown(
            words.say(
                "faithfulness",
                comprehensiveness=share(curve.comprehensiveness),
                sufficiency=share(curve.sufficiency),
                deletion=share(curve.deletion_auc),
                random=share(curve.random_auc),
            )
        )
