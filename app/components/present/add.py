"""Put what a view says on a slide of the collection."""

from base64 import b64encode
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import streamlit as st

from analysis.figures.bars import SlideBar, draw_bars
from analysis.figures.letters import Letters
from analysis.long_tail.overview_headlines import describe_data
from app.cached.workspace import model_key, open_workspace
from app.components.cases.present_button import present_button
from app.components.present import words
from app.components.text import act_button, say_once
from app.library_internals import picture_font
from app.pages import View
from app.settings import AppSettings
from app.sources import Source
from recap.errors import RecapError

_ADDED: Final = "slides_added"
_IN: Final = "slides_in"


class Said(NamedTuple):
    """What a view says, as it may be shared: headline, caveat and picture (PNG)."""

    headline: str
    caveat: str
    picture: bytes


def bar_picture(groups: Sequence[tuple[str, Sequence[SlideBar]]], top: float = 1.0) -> bytes:
    return draw_bars(groups, Letters(picture_font()), top=top)


def slides_button(source: Source, view: View, shown: Hashable, say: Callable[[], Said]) -> None:
    """Add what the view says to the collection; once it is there, present the collection.

    Args:
        shown: what the view depends on besides the source.
        say: called when the button is pressed; everything in it is masked as on a shared page.
    """
    if AppSettings.from_environment().read_only:
        return
    key = (view.name, source.token, shown)
    if key in st.session_state.get(_ADDED, ()):
        present_button({"collection": st.session_state[_IN]}, type="secondary")
    else:
        act_button(words.ADD, "add-slide", _add, source, view, key, say, icon="add_to_photos", help=words.ADD_HELP)
    say_once("slide_refused")


def _add(source: Source, view: View, key: Hashable, say: Callable[[], Said]) -> None:
    from analysis.cases.saved_case import Collection, ViewSlide  # here, so that the button alone does not load torch
    from app.components.cases.exchange import open_library

    library, now = open_library(), datetime.now(UTC)
    try:
        summary, shelf = say(), library.read()
        finding = ViewSlide(
            view=view.title,
            dataset=source.dataset_hash,
            model=model_key(source),
            data=_data_line(source),
            headline=summary.headline,
            caveat=summary.caveat,
            picture=b64encode(summary.picture).decode(),
            saved=now,
        )
        there = shelf.findings.get(finding.name)
        if there is None:
            library.add(finding)
        else:
            library.change(there, finding.model_copy(update={"slide_title": there.value.slide_title}))
        made = Collection(title=words.TITLE, cases=(finding.name,), changed=now)
        stored = shelf.collections.get(str(st.session_state.get("collection"))) or shelf.collections.get(made.name)
        kept = library.add(made) if stored is None else library.change(stored, stored.value.with_case(finding.name))
    except RecapError as error:
        st.session_state["slide_refused"] = str(error)
        return
    st.session_state[_ADDED] = {*st.session_state.get(_ADDED, ()), key}
    st.session_state[_IN] = kept.name


def _data_line(source: Source) -> str:
    opened = open_workspace(source)
    facts = opened.dataset.num_users, opened.dataset.num_pois, len(opened.cases)
    return f"{source.label[:80]} · {describe_data(*facts, invented=source.synthetic)}"
