"""`recap cases`: find cases."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.markup import escape
from typer import Option

from analysis.formatting import rank_number
from app.cli.console import console
from app.cli.long_tail import open_named, run_ablations
from app.cli.options import answers, takes
from recap import columns as c

if TYPE_CHECKING:
    from analysis.workspace import Workspace

cases = typer.Typer(help="Find single cases.")

_SHOWN_CASES: Final = 50


@cases.command()
@answers
@takes(opened=open_named)
def find(
    opened: "Workspace",
    show: Annotated[str, Option(help="Filters, with commas: tail, unseen, missed, history, hops.")] = "",
    k: Annotated[int, Option("--k", min=1, help="Missed means a rank above this.")] = 20,
) -> Iterator[Any]:
    """List test cases with the filters of Walk."""
    from analysis.cases.words import seen_words
    from analysis.records.case_filters import CAUSES, filter_cases

    records = opened.records()
    names = [name.strip() for name in show.split(",") if name.strip()]
    removed = None
    if opened.checkpoint is not None and set(names) & set(CAUSES):
        removed = run_ablations(opened)
    numbers = filter_cases(records, opened.with_model("markov").records(), names, k=k, ablations=removed)
    yield {"show": names, "k": k, "n": len(numbers), "of": len(records), "cases": numbers.tolist()}
    shortened = f"; the first {_SHOWN_CASES}, all with --json" if len(numbers) > _SHOWN_CASES else ""
    console.print(f"{len(numbers):,} of {len(records):,} cases{shortened}")
    for case in numbers[:_SHOWN_CASES].tolist():
        row = records.iloc[case]
        places = " → ".join(escape(opened.labels[int(row[name])]) for name in (c.SOURCE, c.TARGET))
        console.print(f"  {case}: {places}, rank {rank_number(row[c.RANK])}, {seen_words(row[c.TRANSITION_COUNT])}")
