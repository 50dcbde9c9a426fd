"""Share the list in Cases as one page."""

from typing import TYPE_CHECKING, Final

from analysis.cases.words import shared_title
from app.cached import explanations
from app.cached.workspace import open_workspace
from app.components.cases.card_grid import CardEntry
from app.components.share import share_button
from app.sources import Source

if TYPE_CHECKING:
    from analysis.explain.explanation import CaseExplanation

_MOST: Final = 10
"""Cases of one page; each is explained in full when the dialog opens."""


def share_shown(source: Source, entries: list[CardEntry], title: str) -> None:
    """A button for a list by the title of its collection or recipe; nothing for models without parts."""
    if not source.has_parts or not entries:
        return
    first = entries[:_MOST]

    def explained() -> "list[CaseExplanation]":
        return [_explain(source, entry) for entry in first]

    notes = [entry.saved.value.note if entry.saved else "" for entry in first]
    share_button(
        source, explained, key="cases", name=title, title=shared_title(title, len(first), len(entries)), notes=notes
    )


def _explain(source: Source, entry: CardEntry) -> "CaseExplanation":
    moment = open_workspace(source).moment(entry.case)
    if entry.saved is None:
        return explanations.explain(source, moment)
    link = entry.saved.value.link
    return explanations.explain(source, moment, about=link.about, against=link.against, edits=link.edits)
