"""The box next to the cards: notes and tags of the chosen case, its views, and its collection."""

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from analysis.cases import words
from analysis.cases.library import Shelf, Stored
from analysis.cases.saved_case import MAX_NOTE, MAX_TITLE, Collection, SavedCase, parse_tags
from analysis.explain.links import CaseLink
from analysis.formatting import day
from app import address, state
from app.cached.workspace import open_workspace
from app.components.cases.card_grid import CardEntry
from app.components.cases.collection_order import SAID, change_library, show_order
from app.components.cases.exchange import open_library
from app.components.text import act_button, quiet, say_once, section
from app.components.words import READ_ONLY
from app.pages import COMPARE, EXPLAIN, PRESENT, WALK, View
from app.settings import AppSettings
from app.sources import Source
from recap import columns as c
from recap.machine.printable import markdown_text


def show_chosen(source: Source, shelf: Shelf, entry: CardEntry, collection: Stored[Collection] | None) -> None:
    opened = open_workspace(source)
    case = opened.case(entry.case)
    places = [markdown_text(opened.labels[int(case[name])]) for name in (c.SOURCE, c.TARGET)]
    section(f"{places[0]} → {places[1]}")
    when = opened.dataset.local_time.iloc[int(case[c.ROW])]
    quiet(f"Case {entry.case:,} · {markdown_text(opened.user_name(int(case[c.USER])))} · {day(when)}, {when:%H:%M}")
    with st.container(horizontal=True, gap="small"):
        _open_button(source, WALK, entry)
        if source.checkpoint_hash is not None:
            _open_button(source, EXPLAIN, entry)
            if st.button("Compare", key="compare_case"):
                address.go(COMPARE, state.link_to(source, open=str(entry.case)))
            if source.has_parts and st.button("Present", key="present_case"):
                edits = entry.saved.value.link.edits if entry.saved else ""
                address.go(PRESENT, {"case": str(entry.case)} | ({"edits": edits} if edits else {}))
    read_only = AppSettings.from_environment().read_only
    if read_only:
        quiet(READ_ONLY)
    saved = entry.saved or shelf.cases.get(_new_case(source, entry.case, "").name)  # without edits
    _notes(source, entry, saved, read_only=read_only)
    if saved is not None:
        titles = shelf.titles_with(saved.name)
        if titles:
            quiet(f":material/bookmarks: {words.collections_line(titles)}")
        if not read_only:
            _membership(shelf, saved)
    if collection is not None:
        show_order(shelf, collection, read_only=read_only)
    say_once(SAID)


def _open_button(source: Source, page: View, entry: CardEntry) -> None:
    if st.button(page.title, key=f"open_in_{page.name}"):
        params = {"case": str(entry.case)}
        if entry.saved is not None:
            link = entry.saved.value.link
            fields = {"about": link.about, "against": link.against, "edits": link.edits or None}
            params |= {name: str(value) for name, value in fields.items() if value is not None}
        address.go(page, state.link_to(source, **params))


def _new_case(source: Source, case: int, title: str) -> SavedCase:
    link = CaseLink(checkpoint=source.checkpoint_hash or "", dataset=source.dataset_hash, case=case)
    return SavedCase(link=link, title=title[:MAX_TITLE], saved=datetime.now(UTC))


def _notes(source: Source, entry: CardEntry, saved: Stored[SavedCase] | None, *, read_only: bool) -> None:
    """Notes and tags; saving puts the case into the library."""
    value = saved.value if saved else None
    owner = f"{entry.case}-{saved.name if saved else 'new'}-{saved.version[:8] if saved else ''}"
    keys = {field: f"{field}-{owner}" for field in ("note", "tags")}
    st.text_area(
        "Notes", value.note if value else "", key=keys["note"], max_chars=MAX_NOTE, disabled=read_only, height=90
    )
    st.text_input(
        "Tags", ", ".join(value.tags) if value else "", key=keys["tags"], disabled=read_only, help="Separated by commas"
    )
    if read_only:
        return

    def save() -> None:
        # Read typed text from the session; a value from drawing the page would be outdated.
        typed = {field: str(st.session_state.get(key) or "").strip() for field, key in keys.items()}
        changed = typed | {"tags": parse_tags(typed["tags"]), "changed": datetime.now(UTC)}
        if saved is not None:
            base = saved.value
            change_library(lambda: open_library().change(saved, SavedCase.parse(base.model_dump() | changed)))
            return
        opened = open_workspace(source)
        case = opened.case(entry.case)
        title = f"{opened.labels[int(case[c.SOURCE])]} → {opened.labels[int(case[c.TARGET])]}"
        new = _new_case(source, entry.case, title)
        change_library(lambda: open_library().add(SavedCase.parse(new.model_dump() | changed)))

    with st.container(horizontal=True):
        label = "Save changes" if saved else "Save case"
        act_button(label, "save_case", save, icon="bookmark_add", shortcut="S")
        if saved is not None:
            act_button("Remove", "remove_case", change_library, partial(open_library().remove, saved), type="tertiary")


def _membership(shelf: Shelf, saved: Stored[SavedCase]) -> None:
    """Put the case into an existing collection or a new one."""
    there = {stored.value.title: stored for stored in shelf.collections.values()}
    others = [title for title, stored in there.items() if saved.name not in stored.value.cases]
    field = f"add_to-{saved.name}-{len(there)}-{len(others)}"  # a new key empties the field after each addition

    def add() -> None:
        title = " ".join(str(st.session_state.get(field) or "").split())[:100]
        if not title:
            return
        library = open_library()
        made = Collection(title=title, cases=(saved.name,), changed=datetime.now(UTC))
        stored = shelf.collections.get(made.name)
        done = words.added_line(title)
        if stored is None:
            change_library(lambda: library.add(made), done)
        else:
            change_library(lambda: library.change(stored, stored.value.with_case(saved.name)), done)
        st.session_state["collection"] = made.name

    st.selectbox(
        "Add to a collection",
        others,
        index=None,
        key=field,
        placeholder=words.COLLECTION_HINT,
        accept_new_options=True,
        on_change=add,
    )
