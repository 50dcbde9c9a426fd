"""Options and output of shared pages, for every command that exports cases."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recap.errors import ConfigError

if TYPE_CHECKING:
    from analysis.explain.explanation import CaseExplanation
    from analysis.sharing.shared_case import SharedPage
    from analysis.workspace import Workspace

HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", help="Write one page to share; it opens offline and blurs people, places and times."),
]
ExactFlag = Annotated[bool, typer.Option("--exact", help="Write everything as recorded; the file says so.")]
HidePlacesFlag = Annotated[bool, typer.Option("--hide-places", help="Also blur the user's own places.")]


def check_manner(*, exact: bool, hide_places: bool) -> None:
    """Refuse contradictory options.

    Raises:
        ConfigError: both were given.
    """
    if exact and hide_places:
        raise ConfigError("use either --exact or --hide-places, not both")


def share(
    explanations: "Sequence[CaseExplanation]",
    opened: "Workspace",
    *,
    exact: bool = False,
    hide_places: bool = False,
    title: str = "",
    notes: Sequence[str] = (),
) -> "SharedPage":
    from analysis.basemap.stored import find_basemap
    from analysis.sharing.share import share_cases

    invented = opened.dataset.manifest.synthetic
    basemap = find_basemap(opened.dataset.hash, opened.bundle, opened.latitude, opened.longitude, synthetic=invented)
    return share_cases(
        explanations,
        opened,
        exact=exact,
        hide_places=hide_places,
        title=title,
        notes=notes,
        basemap=basemap,
    )


def write_shared(page: "SharedPage", html: Path | None) -> list[str]:
    """Write the requested page; returns lines on the file and its content.

    Raises:
        RecapError: the disk refused.
    """
    lines = []
    if html is not None:
        from analysis.sharing.page import write_html

        write_html(page, html)
        lines.append(f"Wrote {html}: open it in any browser, also offline.")
    if lines:
        lines.append(page.note if page.estimate is None else page.estimate.sentence)
    return lines
