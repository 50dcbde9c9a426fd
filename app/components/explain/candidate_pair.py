"""The two places that Explain compares."""

from functools import partial
from typing import Final

import streamlit as st

from analysis.explain import sentences
from analysis.explain.edited_case import build_edited_case
from analysis.explain.explanation import CaseExplanation
from analysis.formatting import ordinal
from analysis.trajectories.case_names import places_named
from app import address, state
from app.cached.explanations import open_ranker
from app.cached.workspace import open_workspace
from app.components.text import act_button, pick, say_once
from app.sources import Source
from recap.history.moments import Moment, link_number
from recap.machine.printable import markdown_text, shortened

PlacePair = tuple[int | None, int | None]
_KEY: Final = "pair"
_FIELDS: Final = ("about", "against")
_LONGEST: Final = 20


def current_pair(moment: Moment, usual: int, num_places: int) -> PlacePair:
    """The chosen or linked places; None for the usual place, and for the best other one.

    Args:
        usual: the truth, or the best place while the truth is hidden (so that no choice reveals it) or unknown.
    """
    owner, pair = st.session_state.get(_KEY) or (None, (None, None))
    chosen = list(pair) if owner == moment else [None, None]
    for which, asked in enumerate((address.linked(*_FIELDS) or {}).values()):
        number = link_number(asked, num_places)
        chosen[which] = None if number < 0 else number
        if number < 0 and asked is not None:
            address.refuse(sentences.other_place(which))
    if chosen[1] is not None and chosen[1] == (usual if chosen[0] is None else chosen[0]):
        chosen[1] = None
    about, against = (None if chosen[0] == usual else chosen[0]), chosen[1]
    _keep(moment, (about, against))
    address.write(
        **{name: None if poi is None else str(poi) for name, poi in zip(_FIELDS, (about, against), strict=True)}
    )
    return about, against


def runner_up_picker(source: Source, shown: CaseExplanation, pair: PlacePair) -> None:
    """``vs Curlew Lido, 2nd``: lists the best places and accepts any other name."""
    names = {entry.poi: f"{shortened(entry.name, _LONGEST)}, {ordinal(entry.rank)}" for entry in shown.candidates}
    if shown.truth is not None:
        names[shown.truth] = f"◎ {names.get(shown.truth, shown.truth_name)}"
    pick(
        st.selectbox,
        "Compared with",
        [poi for poi in names if poi != shown.target],
        partial(_picked, source, shown, pair),
        *(*state.MOMENT, *_FIELDS),
        key="pair_against",
        value=shown.runner_up,
        format_func=lambda poi: f"vs {names.get(poi, poi)}",
        accept_new_options=True,
        width=255,
        help=sentences.RUNNER_UP_HELP,
    )
    say_once("place_missing", st.toast, sentences.no_such_place)


def back_to_truth(shown: CaseExplanation, pair: PlacePair) -> None:
    """A button that explains the true place again."""
    if pair[0] is not None and shown.truth is not None:
        label = f"Explain {markdown_text(shown.truth_name)} instead"
        act_button(label, "explain-truth", _keep, shown.moment, (None, None), icon="undo", type="tertiary")


def search_place(source: Source, moment: Moment, text: str, taken: int) -> int | None:
    """The best-ranked place with this name or else containing it, or None."""
    places = places_named(open_workspace(source).at(moment).labels, text, taken)
    if not places:
        return None
    total_P = build_edited_case(open_ranker(source, moment), moment).total_P
    return max(places, key=lambda poi: float(total_P[poi]))


def _picked(source: Source, shown: CaseExplanation, pair: PlacePair) -> None:
    chosen = st.session_state["pair_against"]
    poi = search_place(source, shown.moment, chosen, shown.target) if isinstance(chosen, str) else chosen
    if poi is None:
        st.session_state["place_missing"] = str(chosen)
        return
    _keep(shown.moment, (pair[0], poi))


def _keep(moment: Moment, pair: PlacePair) -> None:
    st.session_state[_KEY] = (moment, pair)
