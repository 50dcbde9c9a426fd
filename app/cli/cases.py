"""`recap cases`: find cases, and share saved ones."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.markup import escape
from typer import Argument, Option

from analysis.formatting import rank_number
from app.cli.console import console, say_what_is_new
from app.cli.long_tail import open_named, run_ablations
from app.cli.options import CheckpointOption, DataOption, GivenTimeOption, answers, takes
from app.cli.sharing import Sharing, sharing_options
from recap import columns as c
from recap.errors import CaseError, ConfigError

if TYPE_CHECKING:
    from analysis.cases.library import Shelf, Stored
    from analysis.cases.saved_case import Collection
    from analysis.workspace import Workspace

cases = typer.Typer(help="Find and share single cases.")

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


@cases.command()
@takes(sharing=sharing_options)
def share(
    data: DataOption,
    checkpoint: CheckpointOption,
    names: Annotated[list[str] | None, Argument(help="Names of saved cases.")] = None,
    collection: Annotated[str | None, Option(help="Title of a collection.")] = None,
    given_time: GivenTimeOption = False,
    *,
    sharing: Sharing,
) -> None:
    """Write saved cases or a collection as one page to share, blurred unless --exact."""
    from analysis.cases.library import Library
    from analysis.explain.edits import parse_edits
    from analysis.explain.explain_case import explain_case
    from analysis.workspace import Workspace

    if sharing.html is None:
        raise ConfigError("nothing to write; give --html FILE")
    shelf = Library.of_user().read()
    chosen = None if collection is None else _collection(shelf, collection)
    stored = [shelf.cases[name] for name in _known(shelf, names)] or (shelf.in_order(chosen.value) if chosen else [])
    if not stored:
        raise CaseError("no case to share: give names of saved cases, or --collection TITLE of a collection with cases")
    opened = Workspace.open(data, checkpoint, given_time=given_time)
    predictor, explained = opened.predictor, []
    for kept in stored:
        link = kept.value.link
        link.check(predictor)
        asked: dict[str, Any] = {"about": link.about, "against": link.against, "split": link.split}
        explained.append(explain_case(predictor, link.case, edits=parse_edits(link.edits), **asked))
    say_what_is_new(opened.match)
    title, notes = chosen.value.title if chosen else "", [kept.value.note for kept in stored]
    for line in sharing.write(explained, opened, title=title, notes=notes):
        console.print(line, markup=False)


def _known(shelf: "Shelf", names: list[str] | None) -> list[str]:
    missing = [name for name in names or [] if name not in shelf.cases]
    if missing:
        raise CaseError(f"there is no saved case {missing[0]!r}; an export of Cases names all")
    return list(names or [])


def _collection(shelf: "Shelf", title: str) -> "Stored[Collection]":
    wanted = " ".join(title.casefold().split())
    collection = next((kept for kept in shelf.collections.values() if kept.value.title.casefold() == wanted), None)
    if collection is None:
        known = ", ".join(repr(stored.value.title) for stored in shelf.collections.values()) or "none yet"
        raise CaseError(f"there is no collection {title!r}; there are: {known}")
    return collection
