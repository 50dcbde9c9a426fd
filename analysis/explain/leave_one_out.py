"""Leave-one-out: what each evidence item alone means for a candidate, by real forward passes in one batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from analysis.explain.edited_case import EditedCase, without_visits
from analysis.explain.effects import Effect, effects
from analysis.explain.evidence_items import EvidenceItem, evidence_items, without
from recap.config import Config
from recap.counterfactuals import Counterfactual

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
        None, description="For a visit that is removed everywhere: what masking its token alone does, if it is read."
    )


def leave_one_out(edited_case: EditedCase, candidate: int) -> list[LeftOut]:
    """Take every item away alone; sorted so that the item that supports the candidate most comes first.

    A visit is removed as if it had not happened: an older check-in moves into the window. The current check-in cannot
    be removed, a prediction starts there: its token is masked. Items are not additive: the changes of two items need
    not add up to the change without both.
    """
    removals = Removals.of(edited_case, candidate)
    return removals.told(effects(edited_case, removals.variants, candidate))


@dataclass(frozen=True, eq=False)
class Removals:
    """What leave-one-out scores, apart from scoring it: other questions to the case are scored beside it.

    Attributes:
        items: that are taken away.
        visits: of the items, those that are removed everywhere too.
        variants: each without one item (of `alone`), then each without one visit.
        alone: positions of the items of the first variants: all, but for check-ins whose token nothing reads.
    """

    items: list[EvidenceItem]
    visits: list[int]
    variants: list[Counterfactual]
    alone: list[int]

    @classmethod
    def of(cls, edited_case: EditedCase, candidate: int) -> "Removals":
        """Those of a candidate."""
        items = evidence_items(edited_case, candidate, with_paths=True, with_unread=True)
        history, current = edited_case.variant.history, int(edited_case.visit_H[-2])
        may_go = len(history) > _FEWEST_CHECKINS
        visits = [item.visit for item in items if item.visit is not None and item.visit != current and may_go]
        has_tokens = edited_case.config.reads_state
        if not has_tokens:  # a check-in that cannot go has no token to mask either
            items = [item for item in items if item.visit is None or item.visit in visits]
        alone = [at for at, item in enumerate(items) if has_tokens or item.visit is None]
        masked = [without(edited_case, candidate, items[at]) for at in alone]
        return cls(items, visits, [*masked, *without_visits(edited_case, visits)], alone)

    def told(self, results: Sequence[Effect]) -> list[LeftOut]:
        """What the variants' effects say of each item, see `leave_one_out`."""
        masked = dict(zip(self.alone, results[: len(self.alone)], strict=True))
        everywhere = dict(zip(self.visits, results[len(self.alone) :], strict=True))
        left_out = [
            LeftOut(item=item, removal="everywhere", outcome=everywhere[item.visit], masked=masked.get(at))
            if item.visit in everywhere
            else LeftOut(item=item, removal=_removal(item), outcome=masked[at])
            for at, item in enumerate(self.items)
        ]
        return sorted(left_out, key=lambda entry: entry.outcome.logit_change)


def _removal(item: EvidenceItem) -> Removal:
    if item.kind == "path":
        return "cut"
    return "masked" if item.kind in ("checkin", "user", "graph_token") else "own_score"
