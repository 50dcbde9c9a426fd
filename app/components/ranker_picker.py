"""Choose the models of a page, for all views."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app import address, state
from app.cached.workspace import Ranker
from app.components import words
from app.components.text import pick
from app.sources import Source
from recap.baselines import visit_counter

MODEL, REFERENCE = "model", "reference"
_SIDES = {MODEL: "b", REFERENCE: "a"}
"""Compare opens on the pair chosen last."""


def side_key(side: str) -> str:
    """Where the session keeps Compare's model a or b."""
    return f"side_{side}"


def pick_rankers(source: Source, rankers: Mapping[str, Ranker]) -> tuple[Ranker, Ranker]:
    """The chosen model and the one next to it, by default the source's own and the counter of visits.

    An unknown model in a link gives a message and the default.
    """
    model = _current(MODEL, next(iter(rankers)), rankers)
    counters = (visit_counter(source.reads_time), "count_plus_markov", *rankers)
    default = next(token for token in counters if token in rankers and token != model.token)
    reference = _current(REFERENCE, default, rankers)
    _pick(source, MODEL, model, rankers, "Model", "")
    _pick(source, REFERENCE, reference, rankers, "Model next to it", "vs ")
    return model, reference


def _current(name: str, default: str, rankers: Mapping[str, Ranker]) -> Ranker:
    return rankers[address.current_choice(name, {token: token for token in rankers}, default, words.other_model)]


def _pick(source: Source, name: str, chosen: Ranker, rankers: Mapping[str, Ranker], label: str, before: str) -> None:
    key = f"pick_{name}"

    def choose() -> None:
        picked = rankers[st.session_state[key]]
        is_other = name == MODEL and picked.model is None and picked.source.token != source.token
        if is_other:
            state.choose_source(picked.source.token)  # another checkpoint changes every view
        is_own = name == MODEL and picked.token == next(iter(rankers))
        address.choose(name, None if is_other or is_own else picked.token)
        st.session_state[side_key(_SIDES[name])] = picked.token

    list_rankers(label, rankers, choose, name, key=key, value=chosen.token, before=before, width=225)


def list_rankers(
    label: str, rankers: Mapping[str, Ranker], act: Callable[[], None], *on: str, before: str = "", **look: Any
) -> None:
    """A list of models by label, see `pick`."""

    def named(token: str) -> str:
        return f"{before}{rankers[token].label}" if token in rankers else token

    pick(st.selectbox, label, list(rankers), act, *on, offered=rankers, format_func=named, **look)
