"""Leave-one-out: what each evidence item alone means for a candidate, by real forward passes in one batch."""

from typing import Literal

from pydantic import Field

from analysis.explain.edited_case import EditedCase, without_visits
from analysis.explain.effects import Effect, effects
from analysis.explain.evidence_items import EvidenceItem, each_without, evidence_items
from recap.config import Config

Removal = Literal["everywhere", "masked", "own_score", "cut"]
"""How an item is taken away: a visit from history, evidence and window; a token masked in the encoder; a term from the
candidate's own score; a path cut."""

_FEWEST_CHECKINS = 3
"""One visit, the current check-in and the target: the last visit before the source is never removed."""


class LeftOut(Config):
    """One item and what happens to the candidate without it."""

    item: EvidenceItem
    removal: Removal
    outcome: Effect
    masked: Effect | None = Field(
        None, description="For a visit that is removed everywhere: what masking its token alone does."
    )


def leave_one_out(edited_case: EditedCase, candidate: int, *, with_paths: bool = True) -> list[LeftOut]:
    """Take every item away alone; sorted so that the item that supports the candidate most comes first.

    A visit is removed as if it had not happened: an older check-in moves into the window. The current check-in cannot
    be removed, a prediction starts there: its token is masked. Items are not additive: the changes of two items need
    not add up to the change without both.
    """
    items = evidence_items(edited_case, candidate, with_paths=with_paths)
    history = edited_case.variant.history
    current = int(edited_case.visit_H[-2])
    removable = [item for item in items if item.visit not in (None, current) and len(history) > _FEWEST_CHECKINS]
    visits = [item.visit for item in removable if item.visit is not None]
    results = effects(
        edited_case, [*each_without(edited_case, candidate, items), *without_visits(edited_case, visits)], candidate
    )
    everywhere = dict(zip(visits, results[len(items) :], strict=True))
    left_out = [
        LeftOut(item=item, removal="everywhere", outcome=everywhere[item.visit], masked=effect)
        if item.visit in everywhere
        else LeftOut(item=item, removal=_removal(item), outcome=effect)
        for item, effect in zip(items, results[: len(items)], strict=True)
    ]
    return sorted(left_out, key=lambda entry: entry.outcome.logit_change)


def _removal(item: EvidenceItem) -> Removal:
    if item.kind == "path":
        return "cut"
    return "masked" if item.kind in ("checkin", "user", "graph_token") else "own_score"
