"""Share cases: the file's content, how well it hides the users, and the buttons that write it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from analysis.cases.words import shared_title
from analysis.explain.explanation import CaseExplanation
from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from analysis.sharing.shared_case import Reidentification, SharedPage
from app.cached import explanations, maps
from app.cached.workspace import open_workspace
from app.components import words
from app.components.cases.card_grid import CardEntry
from app.components.cases.case_choice import Listed
from app.components.text import choose_one, quiet
from app.components.toolbar import file_words, save_button
from app.sources import Source
from recap.machine.printable import markdown_text

if TYPE_CHECKING:
    from analysis.explain.explanation import CaseExplanation


_MANNERS: Final = {"masked": "Masked", "hidden": "Places hidden", "exact": "As recorded"}


def share_button(
    source: Source,
    explained: Callable[[], Sequence[CaseExplanation]],
    *,
    key: str,
    name: str = "case",
    title: str = "",
    notes: Sequence[str] = (),
) -> None:
    """A button that opens the sharing of cases, which are explained then.

    Args:
        title: of a collection, with a note for each case; a single case has its finding.
    """

    @st.dialog("Share", width="medium")
    def share() -> None:
        manner = choose_one("What is shared", list(_MANNERS), key=f"{key}-manner", named=_MANNERS.__getitem__)
        with st.spinner("Counting who else was there"):
            shown = explained()
            page = share_cases(
                shown,
                open_workspace(source).at(shown[0].moment),
                exact=manner == "exact",
                hide_places=manner == "hidden",
                title=title,
                notes=notes,
                basemap=maps.shared_basemap(source),
            )
        if page.estimate is None:
            st.warning(markdown_text(page.note))
        else:
            _report(page, page.estimate)
        _files(page, key, name)

    if st.button("Share", icon=":material/ios_share:", key=f"{key}-share"):
        share()


def _report(page: SharedPage, estimate: Reidentification) -> None:
    st.markdown(f"**{markdown_text(page.note)}**")
    st.table({change.what: markdown_text(change.how) for change in page.changes}, border="horizontal")
    st.markdown(f"**{markdown_text(estimate.sentence)}**")
    lines = [words.COUNTED_OVER.format(users=estimate.users)]
    if page.min_users is not None and estimate.matching_users < page.min_users:
        lines.append(words.FEW_MATCH.format(users=page.min_users))
    quiet(" ".join(lines))


def _files(page: SharedPage, key: str, name: str) -> None:
    stem = f"{'exact' if page.is_exact else 'shared'}-{file_words(name)}"
    manner = f"{page.is_exact}-{page.cell_km}"
    with st.container(horizontal=True):
        save_button("Page (HTML)", lambda: render_html(page).encode(), f"{stem}.html", key=f"{key}-html-{manner}")
        save_button("Data (JSON)", lambda: page.model_dump_json().encode(), f"{stem}.json", key=f"{key}-json-{manner}")


def share_shown(source: Source, listed: Listed) -> None:
    """A button for a list by the title of its collection or recipe; nothing for models without parts."""
    if not source.has_parts or not listed.entries:
        return

    def explained() -> "list[CaseExplanation]":
        return [_explain(source, entry) for entry in listed.shared]

    notes = [entry.saved.value.note if entry.saved else "" for entry in listed.shared]
    title = shared_title(listed.name, len(listed.shared), len(listed.entries))
    share_button(source, explained, key="cases", name=listed.name, title=title, notes=notes)


def _explain(source: Source, entry: CardEntry) -> "CaseExplanation":
    moment = open_workspace(source).moment(entry.case)
    if entry.saved is None:
        return explanations.explain(source, moment)
    link = entry.saved.value.link
    return explanations.explain(source, moment, about=link.about, against=link.against, edits=link.edits)
