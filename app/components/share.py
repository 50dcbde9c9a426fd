"""Share cases: the file's content, how well it hides the users, and the buttons that write it."""

import re
from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st

from analysis.explain.explanation import CaseExplanation
from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from analysis.sharing.shared_case import Reidentification, SharedPage
from app.cached import maps
from app.cached.workspace import open_workspace
from app.components.text import choose_one, quiet
from app.sources import Source
from recap.printable import markdown_text

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
    """A button that opens the sharing of cases.

    Args:
        explained: the cases in full, asked when the dialog opens.
        name: what the files are called.
        title: of a collection; a single case has its finding.
        notes: one for each case, as written.
    """
    if st.button("Share", icon=":material/ios_share:", key=f"{key}-share"):
        _share(source, explained, key, name, title, notes)


@st.dialog("Share", width="medium")
def _share(
    source: Source,
    explained: Callable[[], Sequence[CaseExplanation]],
    key: str,
    name: str,
    title: str,
    notes: Sequence[str],
) -> None:
    manner = choose_one("What is shared", list(_MANNERS), key=f"{key}-manner", named=_MANNERS.__getitem__)
    with st.spinner("Counting who else was there"):
        page = share_cases(
            explained(),
            open_workspace(source),
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


def _report(page: SharedPage, estimate: Reidentification) -> None:
    st.markdown(f"**{markdown_text(page.note)}**")
    st.table({change.what: markdown_text(change.how) for change in page.changes}, border="horizontal")
    st.markdown(f"**{markdown_text(estimate.sentence)}**")
    lines = [f"Counted over all {estimate.users:,} users of the dataset."]
    if page.min_users is not None and estimate.matching_users < page.min_users:
        lines.append(f"Fewer than {page.min_users} match: *Places hidden* also blurs the user's own places.")
    quiet(" ".join(lines))


def _files(page: SharedPage, key: str, name: str) -> None:
    stem = f"recap-{'exact' if page.is_exact else 'shared'}-{file_words(name)}"
    files: list[tuple[str, str, str, str, Callable[[], bytes]]] = [
        ("Page (HTML)", "html", "text/html", ":material/description:", lambda: render_html(page).encode()),
        ("Data (JSON)", "json", "application/json", ":material/data_object:", lambda: page.model_dump_json().encode()),
    ]
    with st.container(horizontal=True):
        for label, ending, mime, icon, write in files:
            st.download_button(
                label,
                data=write,
                file_name=f"{stem}.{ending}",
                mime=mime,
                icon=icon,
                on_click="ignore",
                key=f"{key}-{ending}-{page.is_exact}-{page.cell_km}",
            )


def file_words(name: str) -> str:
    """A name as part of a file's name: whole words, never cut.

    >>> file_words("Lost without past visits"), file_words("?")
    ('lost-without-past-visits', 'cases')
    """
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "cases"
