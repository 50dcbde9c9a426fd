"""`recap explain` of a model without parts: what is true of any scorer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from analysis.formatting import ordinal, rank_number, signed
from app.cli.console import console, print_json

if TYPE_CHECKING:
    from analysis.explain.edits import Edit
    from analysis.explain.ranks_only import RanksOnly
    from recap.predictor import CaseRanker


def explain_by_ranks(
    ranker: "CaseRanker",
    numbers: Sequence[int],
    *,
    about: int | None,
    edits: "tuple[Edit, ...]",
    top: int,
    split: int,
    as_json: bool,
) -> None:
    """Print ranks, what edits change, and each visit left out.

    Raises:
        CaseError: no such case or place.
        EditError: an edit that needs a model with parts.
    """
    from analysis.explain.ranks_only import explain_ranks

    found = [explain_ranks(ranker, n, about=about, edits=edits, top=top, split=split) for n in numbers]
    if as_json:
        plain = [case.model_dump(mode="json") for case in found]
        print_json(plain if len(plain) > 1 else plain[0])
        return
    for case in found:
        _print(case)


def _print(case: "RanksOnly") -> None:
    console.print(
        f"Case {case.case}: {case.model} puts {case.about.name} {ordinal(case.about.rank)}, from {case.source}. "
        "One score for each place, no sum of parts.",
        markup=False,
    )
    if case.what_if is not None:
        change = case.what_if.target
        console.print(
            f"With {case.what_if.edits}: {ordinal(change.rank_before)} before, {ordinal(change.rank)} now, all "
            f"{case.what_if.num_places:,} places ranked again.",
            markup=False,
        )
    best = Table("rank", "place", "score", title="Best places", title_justify="left")
    for place in case.best:
        best.add_row(rank_number(place.rank), escape(place.name), f"{place.score:.3f}")
    console.print(best)
    if not case.left_out:
        return
    title = f"Without one visit, {case.about.name} stands"
    without = Table("visit", "place", "when", "rank", "score change", title=escape(title), title_justify="left")
    for entry in case.left_out:
        change_text = signed(entry.outcome.logit_change)
        without.add_row(str(entry.visit), escape(entry.name), entry.when, rank_number(entry.outcome.rank), change_text)
    console.print(without)
