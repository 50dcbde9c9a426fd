"""`recap cases`: find cases, and the library of saved ones."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
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

cases = typer.Typer(help="Find, keep and share single cases.")

_SHOWN_CASES: Final = 50
CollectionOption = Annotated[str | None, Option(help="Title of a collection.")]
NamesArgument = Annotated[list[str] | None, Argument(help="Names of saved cases.")]


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
    found = filter_cases(records, opened.with_model("markov").records(), names, k=k, ablations=removed)
    yield {"show": names, "k": k, "n": len(found), "of": len(records), "cases": found.tolist()}
    shortened = f"; the first {_SHOWN_CASES}, all with --json" if len(found) > _SHOWN_CASES else ""
    console.print(f"{len(found):,} of {len(records):,} cases{shortened}")
    for case in found[:_SHOWN_CASES].tolist():
        row = records.iloc[case]
        places = " → ".join(escape(opened.labels[int(row[name])]) for name in (c.SOURCE, c.TARGET))
        console.print(f"  {case}: {places}, rank {rank_number(row[c.RANK])}, {seen_words(row[c.TRANSITION_COUNT])}")


@cases.command()
@answers
def save(
    case: Annotated[int, Argument(min=0, help="Number of the test case.")],
    data: DataOption,
    checkpoint: CheckpointOption,
    edits: Annotated[str, Option(help="Edits in text form, such as `hour:17`.")] = "",
    title: Annotated[str, Option(help="What the case shows; its two places if empty.")] = "",
    note: Annotated[str, Option(help="What you want to remember.")] = "",
    tag: Annotated[list[str] | None, Option(help="A tag; repeatable.")] = None,
    collection: CollectionOption = None,
    given_time: GivenTimeOption = False,
) -> Iterator[Any]:
    """Save one case with a note; the same view saved before is refused, so that no note is lost."""
    from analysis.cases.library import Library
    from analysis.cases.saved_case import MAX_TITLE, Collection, SavedCase
    from analysis.explain.edited_case import build_edited_case
    from analysis.explain.edits import parse_edits
    from analysis.explain.links import CaseLink
    from analysis.workspace import Workspace

    opened = Workspace.open(data, checkpoint, given_time=given_time)
    predictor = opened.predictor
    edited = build_edited_case(predictor, case, parse_edits(edits))
    labels = predictor.dataset.poi_labels
    link = CaseLink.to(predictor, case, edits=edits)
    full = {"checkpoint": predictor.checkpoint.hash, "dataset": predictor.dataset.hash}
    value = SavedCase.parse(
        {
            "link": link.model_dump() | full,
            "title": title or f"{labels[edited.source]} → {labels[edited.target]}"[:MAX_TITLE],
            "note": note,
            "tags": tuple(tag or ()),
            "saved": datetime.now(UTC),
        }
    )
    library = Library.of_user()
    shelf = library.read()
    there = None if collection is None else _find_collection(shelf, collection)
    stored = library.add(value)
    if there is not None:
        library.change(there, there.value.with_case(stored.name))
    elif collection is not None:
        library.add(Collection(title=collection, cases=(stored.name,), changed=datetime.now(UTC)))
    say_what_is_new(opened.match)
    yield {"name": stored.name, "file": str(library.folder / f"{stored.name}.json")}
    console.print(f"Saved case {case} as {stored.name}.", highlight=False)


@cases.command()
def export(names: NamesArgument = None, collection: CollectionOption = None) -> None:
    """Print saved cases as plain JSON: those named, a collection's, or all, with your notes."""
    from analysis.cases.exchange import export_text

    shelf = _shelf()
    chosen = None if collection is None else _collection(shelf, collection)
    wanted = _known(shelf, names)
    text = export_text(shelf, wanted if wanted or chosen else list(shelf.cases), [chosen.name] if chosen else None)
    sys.stdout.write(text)


@cases.command("import")
@answers
def take_in(
    file: Annotated[Path, Argument(help="What `recap cases export` wrote, or one saved case's file.")],
) -> Iterator[Any]:
    """Import saved cases; yours are never replaced."""
    from analysis.cases.exchange import import_text
    from analysis.cases.library import Library

    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not a file of saved cases: it is not UTF-8 text") from error
    done = import_text(Library.of_user(), text)
    yield vars(done)
    console.print(escape(done.sentence), highlight=False)


@cases.command()
@takes(sharing=sharing_options)
def share(
    data: DataOption,
    checkpoint: CheckpointOption,
    names: NamesArgument = None,
    collection: CollectionOption = None,
    given_time: GivenTimeOption = False,
    *,
    sharing: Sharing,
) -> None:
    """Write saved cases or a collection as one page to share, blurred unless --exact."""
    from analysis.explain.edits import parse_edits
    from analysis.explain.explain_case import explain_case
    from analysis.workspace import Workspace

    if sharing.html is None:
        raise ConfigError("nothing to write; give --html FILE")
    shelf = _shelf()
    chosen = None if collection is None else _collection(shelf, collection)
    stored = [shelf.cases[name] for name in _known(shelf, names)] or (shelf.in_order(chosen.value) if chosen else [])
    if not stored:
        raise CaseError("no case to share: give names of saved cases, or --collection TITLE of a collection with cases")
    opened = Workspace.open(data, checkpoint, given_time=given_time)
    predictor, explained = opened.predictor, []
    for kept in stored:
        link = kept.value.link
        link.check(predictor)
        explained.append(
            explain_case(
                predictor,
                link.case,
                about=link.about,
                against=link.against,
                edits=parse_edits(link.edits),
                split=link.split,
            )
        )
    say_what_is_new(opened.match)
    title, notes = chosen.value.title if chosen else "", [kept.value.note for kept in stored]
    for line in sharing.write(explained, opened, title=title, notes=notes):
        console.print(line, markup=False)


def _shelf() -> "Shelf":
    from analysis.cases.library import Library

    return Library.of_user().read()


def _known(shelf: "Shelf", names: list[str] | None) -> list[str]:
    missing = [name for name in names or [] if name not in shelf.cases]
    if missing:
        raise CaseError(f"there is no saved case {missing[0]!r}; `recap cases export` prints all")
    return list(names or [])


def _find_collection(shelf: "Shelf", title: str) -> "Stored[Collection] | None":
    wanted = " ".join(title.casefold().split())
    fits = [stored for stored in shelf.collections.values() if stored.value.title.casefold() == wanted]
    return fits[0] if fits else None


def _collection(shelf: "Shelf", title: str) -> "Stored[Collection]":
    found = _find_collection(shelf, title)
    if found is None:
        known = ", ".join(repr(stored.value.title) for stored in shelf.collections.values()) or "none yet"
        raise CaseError(f"there is no collection {title!r}; there are: {known}")
    return found
