"""The page to share that `recap explain` writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from recap.errors import ConfigError

if TYPE_CHECKING:
    from analysis.explain.explanation import CaseExplanation
    from analysis.workspace import Workspace


@dataclass(frozen=True)
class Sharing:
    """The page that was asked for, if any, and what it hides."""

    html: Path | None
    exact: bool
    hide_places: bool

    def write(self, explanations: "Sequence[CaseExplanation]", opened: "Workspace") -> list[str]:
        """Write the page if one was asked for; returns lines on the file and its content."""
        if self.html is None:
            return []
        from analysis.basemap.stored import find_basemap
        from analysis.sharing.page import write_html
        from analysis.sharing.share import share_cases

        invented = opened.dataset.manifest.synthetic
        page = share_cases(
            explanations,
            opened,
            exact=self.exact,
            hide_places=self.hide_places,
            basemap=find_basemap(
                opened.dataset.hash, opened.bundle, opened.latitude, opened.longitude, synthetic=invented
            ),
        )
        write_html(page, self.html)
        content = page.note if page.estimate is None else page.estimate.sentence
        return [f"Wrote {self.html}: open it in any browser, also offline.", content]


def sharing_options(
    html: Annotated[
        Path | None, Option(help="Write one page to share; it opens offline and blurs people, places and times.")
    ] = None,
    exact: Annotated[bool, Option("--exact", help="Write everything as recorded; the file says so.")] = False,
    hide_places: Annotated[bool, Option("--hide-places", help="Also blur the user's own places.")] = False,
) -> Sharing:
    """Raises ConfigError for options that contradict each other or mean nothing."""
    if (exact or hide_places) and html is None:
        raise ConfigError("--exact and --hide-places need --html FILE")
    if exact and hide_places:
        raise ConfigError("use either --exact or --hide-places, not both")
    return Sharing(html, exact, hide_places)
