"""Leave-one-out: what each evidence item alone means for a candidate, by real forward passes in one batch."""

from analysis.explain.edited_case import EditedCase
from analysis.explain.effects import Effect, effects
from analysis.explain.evidence_items import EvidenceItem, each_without, evidence_items
from recap.config import Config


class LeftOut(Config):
    """One item and what happens to the candidate without it."""

    item: EvidenceItem
    outcome: Effect


def leave_one_out(edited_case: EditedCase, candidate: int, *, with_paths: bool = True) -> list[LeftOut]:
    """Take every item away alone; sorted so that the item that supports the candidate most comes first.

    Items are not additive: the changes of two items need not add up to the change without both.
    """
    items = evidence_items(edited_case, candidate, with_paths=with_paths)
    results = effects(edited_case, each_without(edited_case, candidate, items), candidate)
    left_out = [LeftOut(item=item, outcome=outcome) for item, outcome in zip(items, results, strict=True)]
    return sorted(left_out, key=lambda entry: entry.outcome.logit_change)
