"""`recap explain` of a published model: ranks only."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from analysis.formatting import ordinal, rank_number
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
    """Print ranks, what edits change, and the rank without each visit.

    Raises:
        CaseError: no such case or place.
        EditError: an edit that the model does not read.
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
        f"Case {case.case}: {case.model} ranks {case.about.name} {ordinal(case.about.rank)} of {case.num_places:,}, "
        f"from {case.source}. Its scores have no contributions.",
        markup=False,
    )
    if case.what_if is not None:
        change = case.what_if.target
        console.print(f"With the edits: {ordinal(change.rank_before)} → {ordinal(change.rank)}.", markup=False)
    best = Table("rank", "place", "score", title="Best places", title_justify="left")
    for place in case.best:
        best.add_row(rank_number(place.rank), escape(place.name), f"{place.score:.3f}")
    console.print(best)
    if not case.removed:
        return
    title = f"Rank of {case.about.name} without one visit"
    without = Table("visit", "place", "when", "rank", title=escape(title), title_justify="left")
    for entry in case.removed:
        moment = entry.local_time.replace("T", " ")[:16]
        without.add_row(str(entry.visit), escape(entry.name), moment, rank_number(entry.rank_without))
    console.print(without)
