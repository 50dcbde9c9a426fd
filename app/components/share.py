"""Share cases: what the file will tell, how well it hides the users, and the buttons that write it."""

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, get_args

import streamlit as st

from analysis.explain.explanation import CaseExplanation
from analysis.formatting import percent
from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from analysis.sharing.shared_case import Reidentification, SharedPage
from app.cached import maps
from app.cached.workspace import open_workspace
from app.components.text import quiet
from app.sources import Source
from recap.printable import markdown_text

Manner = Literal["told", "hidden", "exact"]
_MANNERS: Final[dict[Manner, str]] = {"told": "To share", "hidden": "Places hidden", "exact": "As recorded"}


def share_button(
    source: Source,
    explained: Callable[[], Sequence[CaseExplanation]],
    *,
    key: str,
    title: str = "",
    notes: Sequence[str] = (),
) -> None:
    """A button that opens the sharing of cases.

    Args:
        explained: the cases in full, asked when the dialog opens.
        title: of a collection; a single case has its finding.
        notes: one for each case, told as written.
    """
    if st.button("Share", icon=":material/ios_share:", key=f"{key}-share"):
        _share(source, explained, key, title, notes)


@st.dialog("Share", width="medium")
def _share(
    source: Source, explained: Callable[[], Sequence[CaseExplanation]], key: str, title: str, notes: Sequence[str]
) -> None:
    manner: Manner = (
        st.segmented_control(
            "What is told",
            get_args(Manner),
            default="told",
            required=True,
            format_func=_MANNERS.__getitem__,
            key=f"{key}-manner",
            label_visibility="collapsed",
        )
        or "told"
    )
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
    _files(page, key)


def _report(page: SharedPage, estimate: Reidentification) -> None:
    st.table({change.what: markdown_text(change.how) for change in page.changes}, border="horizontal")
    st.markdown(f"**{markdown_text(estimate.sentence)}**")
    lines = [f"Counted on {estimate.users:,} users: who was at the places of a case, at such times."]
    if estimate.unicity is not None and estimate.unicity_as_recorded is not None:
        lines.append(
            f"Given {estimate.points} points of their own, {percent(estimate.unicity)} of users are unique; as "
            f"recorded, {percent(estimate.unicity_as_recorded)} (unicity, de Montjoye et al. 2013)."
        )
    if page.min_users is not None and estimate.matching_users < page.min_users:
        lines.append(
            f"Fewer than {page.min_users} fit: whoever knows where and when this person was can recognise them. "
            "*Places hidden* tells the user's own places as wide cells."
        )
    quiet(" ".join(lines))


def _files(page: SharedPage, key: str) -> None:
    title = re.sub("[^a-z0-9]+", "-", page.title.lower())[:40].strip("-")
    name = f"recap-{'exact' if page.is_exact else 'shared'}-{title}"
    files: list[tuple[str, str, str, str, Callable[[], bytes]]] = [
        ("Page (HTML)", "html", "text/html", ":material/description:", lambda: render_html(page).encode()),
        ("Data (JSON)", "json", "application/json", ":material/data_object:", lambda: page.model_dump_json().encode()),
    ]
    with st.container(horizontal=True):
        for label, ending, mime, icon, write in files:
            st.download_button(
                label,
                data=write,
                file_name=f"{name}.{ending}",
                mime=mime,
                icon=icon,
                on_click="ignore",
                key=f"{key}-{ending}-{page.is_exact}-{page.cell_km}",
            )
