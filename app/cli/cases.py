"""`recap cases`: find cases, recipes, and the library of saved ones; the numbers and files are the app's."""

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.markup import escape
from rich.table import Table

from analysis.formatting import rank_number, times
from app.cli.app import start_app
from app.cli.console import JsonFlag, console, print_json, progress_console
from app.cli.long_tail import BaselineOption, CheckpointArgument, DataOption, EtaOption, OpenedRecords, open_records
from app.cli.sharing import ExactFlag, HidePlacesFlag, HtmlOption, check_manner, write_shared
from app.cli.sharing import share as share_page
from recap import columns as c
from recap.errors import CaseError, ConfigError

if TYPE_CHECKING:
    from analysis.cases.library import Shelf, Stored
    from analysis.cases.recipes import RecipeTables
    from analysis.cases.saved_case import Collection

_ROOM_THEME: Final[dict[str, Any]] = {
    "theme_baseFontSize": 24,
    "theme_headingFontSizes": ["1.6rem", "1.1rem", "1.1rem", "1rem", "1rem", "1rem"],
    "theme_metricValueFontSize": "1.7rem",
    "theme_paddingTop": "1rem",
    "theme_paddingBottom": "0.5rem",
}
"""What a presentation changes of the theme: 24 px for text, so that a room can read it."""


class _CasesGroup(typer.core.TyperGroup):
    """Refuses the form of before the group with the command that does the same now."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help",):
            raise ConfigError(
                f"`recap cases` is a group of commands now ({', '.join(self.commands)}); "
                "what it listed before, with the same options and JSON: `recap cases find ...`"
            )
        return super().parse_args(ctx, args)


cases = typer.Typer(cls=_CasesGroup, help="Find, keep and present single cases.")

KOption = Annotated[int, typer.Option("--k", min=1, help="Found means a rank of at most this.")]
CollectionOption = Annotated[str | None, typer.Option(help="Title of a collection.")]
NamesArgument = Annotated[list[str] | None, typer.Argument(help="Names of saved cases, as `recap cases list` prints.")]


@cases.callback()
def about() -> None:
    """Find, keep and present single cases."""


@cases.command()
def find(
    data: DataOption,
    checkpoint: CheckpointArgument = None,
    baseline: BaselineOption = None,
    show: Annotated[str, typer.Option(help="tail, unseen, missed, history, hops; several with commas.")] = "",
    k: Annotated[int, typer.Option("--k", min=1, help="Missed means a rank above this.")] = 20,
    eta: EtaOption = 1,
    limit: Annotated[int, typer.Option(min=1, help="Cases to print; --json has them all.")] = 50,
    as_json: JsonFlag = False,
) -> None:
    """List test cases by what they show, as the filters of Walk do."""
    from analysis.records.case_filters import CAUSES, filter_cases
    from app.cli.causes import removals

    read = open_records(data, checkpoint, baseline)
    opened, records = read.dataset, read.records
    names = [name.strip() for name in show.split(",") if name.strip()]
    removed = None
    if read.checkpoint is not None and set(names) & set(CAUSES):
        removed = removals(read.checkpoint, opened, read.bundle)
    found = filter_cases(records, read.records_of("markov"), names, k=k, eta=eta, removals=removed)
    if as_json:
        print_json({"show": names, "k": k, "eta": eta, "n": len(found), "of": len(records), "cases": found.tolist()})
        return
    shortened = f"; the first {limit:,}, more with --limit" if len(found) > limit else ""
    console.print(f"{len(found):,} of {len(records):,} cases{shortened}")
    for case in found[:limit].tolist():
        row = records.iloc[case]
        places = " → ".join(escape(opened.labels[int(row[name])]) for name in (c.SOURCE, c.TARGET))
        console.print(f"  {case}: {places}, rank {rank_number(row[c.RANK])}, seen {times(row[c.TRANSITION_COUNT])}")


@cases.command()
def recipes(
    data: DataOption,
    checkpoint: CheckpointArgument = None,
    baseline: BaselineOption = None,
    recipe: Annotated[str | None, typer.Option(help="One recipe: list its cases, the telling ones first.")] = None,
    against: Annotated[list[str] | None, typer.Option(help="A ranker to compare with; repeatable.")] = None,
    k: KOption = 20,
    limit: Annotated[int, typer.Option(min=1, help="Cases to print; --json has them all.")] = 12,
    as_json: JsonFlag = False,
) -> None:
    """Search all test cases by named recipes; each with its count, or why it has none."""
    from analysis.cases.recipes import find as find_recipe
    from analysis.cases.recipes import find_all

    read = open_records(data, checkpoint, baseline)
    opened, tables = read.dataset, _tables(read, baseline, against, k)
    found = find_all(tables, first=limit) if recipe is None else {recipe: find_recipe(tables, recipe, first=limit)}
    if as_json:
        entries = [
            {
                "recipe": entry.recipe,
                "label": entry.label,
                "meaning": entry.meaning,
                "n": entry.count,
                "absent": entry.absent,
                "cases": entry.cases.tolist(),
            }
            for entry in found.values()
        ]
        print_json({"k": k, "of": len(tables.records), "causes": tables.removals is not None, "recipes": entries})
        return
    for entry in found.values():
        console.print(f"{escape(entry.label)} ({entry.recipe}): {entry.count:,} of {entry.of:,} cases", highlight=False)
        console.print(f"  {escape(entry.absent or entry.meaning)}", highlight=False)
        for case in entry.cases[:limit].tolist() if recipe is not None else []:
            row = tables.records.iloc[case]
            places = " → ".join(escape(opened.labels[int(row[name])]) for name in (c.SOURCE, c.TARGET))
            console.print(f"  {case}: {places}, rank {rank_number(row[c.RANK])}", highlight=False)


@cases.command("list")
def list_saved(
    search: Annotated[str, typer.Option(help="Words that stand in title, note, tags or audience.")] = "",
    collection: CollectionOption = None,
    as_json: JsonFlag = False,
) -> None:
    """List saved cases, latest first, or a collection's in its order; damaged files are named."""
    shelf = _shelf()
    shown = list(shelf.cases.values())
    if collection is not None:
        shown = shelf.in_order(_collection(shelf, collection).value)
    shown = [stored for stored in shown if stored.value.holds(search)]
    if as_json:
        print_json(
            {
                "n": len(shown),
                "cases": [{"name": stored.name} | stored.value.model_dump(mode="json") for stored in shown],
                "collections": [stored.value.model_dump(mode="json") for stored in shelf.collections.values()],
                "damaged": [vars(entry) for entry in shelf.damaged],
            }
        )
        return
    table = Table(title=f"{len(shown):,} saved cases", title_justify="left")
    for heading in ("name", "case", "title", "tags", "note"):
        table.add_column(heading)
    for stored in shown:
        value = stored.value
        cells = (stored.name, str(value.link.case), value.title, ", ".join(value.tags), value.note[:60])
        table.add_row(*map(escape, cells))
    console.print(table)
    for kept in shelf.collections.values():
        there = len(shelf.in_order(kept.value))
        console.print(f"Collection {escape(kept.value.title)}: {there:,} cases", highlight=False)
    for entry in shelf.damaged:
        progress_console.print(f"{escape(entry.file)} cannot be read: {escape(entry.reason)}", highlight=False)


@cases.command()
def save(
    case: Annotated[int, typer.Argument(min=0, help="Number of the test case.")],
    data: DataOption,
    checkpoint: Annotated[Path, typer.Option(help="A checkpoint folder.")],
    edits: Annotated[str, typer.Option(help="Edits in text form, such as `hour:17`.")] = "",
    title: Annotated[str, typer.Option(help="What the case shows; its two places if empty.")] = "",
    note: Annotated[str, typer.Option(help="What you want to remember.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="A tag; repeatable.")] = None,
    audience: Annotated[str, typer.Option(help="Whom it is kept for.")] = "",
    collection: Annotated[str | None, typer.Option(help="Put it at the end of this collection, made if new.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Save one case with a note; the same view saved before is refused, so that no note is lost."""
    from analysis.cases.library import Library
    from analysis.cases.saved_case import MAX_TITLE, Collection, SavedCase
    from analysis.explain.edited_case import build_edited_case
    from analysis.explain.edits import parse_edits
    from analysis.explain.links import CaseLink
    from recap.predictor import Predictor

    predictor = Predictor.load(checkpoint, data)
    edited = build_edited_case(predictor, case, parse_edits(edits))
    labels = predictor.dataset.poi_labels
    link = CaseLink.to(predictor, case, edits=edits)
    full = {"checkpoint": predictor.checkpoint.hash, "dataset": predictor.dataset.hash}
    value = SavedCase.parse(
        {
            "link": link.model_dump() | full,
            "title": title or f"{labels[edited.source]} → {labels[edited.case.target]}"[:MAX_TITLE],
            "note": note,
            "tags": tuple(tag or ()),
            "audience": audience,
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
    if as_json:
        print_json({"name": stored.name, "file": str(library.folder / f"{stored.name}.json")})
        return
    console.print(f"Saved case {case} as {stored.name}.", highlight=False)


@cases.command()
def export(
    names: NamesArgument = None,
    collection: CollectionOption = None,
    out: Annotated[Path | None, typer.Option(help="Write a file instead of printing.")] = None,
) -> None:
    """Write saved cases as plain JSON: those named, a collection's, or all. Titles and notes go along as written."""
    from analysis.cases.exchange import export_text
    from recap.storage.atomic import write_text

    shelf = _shelf()
    chosen = None if collection is None else _collection(shelf, collection)
    wanted = list(names or [])
    missing = [name for name in wanted if name not in shelf.cases]
    if missing:
        raise CaseError(f"there is no saved case {missing[0]!r}; `recap cases list` prints their names")
    text = export_text(shelf, wanted if wanted or chosen else list(shelf.cases), [chosen.name] if chosen else None)
    if out is None:
        sys.stdout.write(text)
        return
    write_text(out, text)
    progress_console.print(f"Wrote {out}.", markup=False)


@cases.command("import")
def take_in(
    file: Annotated[Path, typer.Argument(help="What `recap cases export` wrote, or one saved case's file.")],
    as_json: JsonFlag = False,
) -> None:
    """Take saved cases in; what differs from yours stays yours and is named."""
    from analysis.cases.exchange import import_text
    from analysis.cases.library import Library

    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is no file of saved cases: it is no UTF-8 text") from error
    done = import_text(Library.of_user(), text)
    if as_json:
        print_json(vars(done))
        return
    console.print(escape(done.sentence), highlight=False)


@cases.command()
def share(
    data: DataOption,
    checkpoint: Annotated[Path, typer.Option(help="The checkpoint folder the cases were saved with.")],
    names: NamesArgument = None,
    collection: CollectionOption = None,
    html: HtmlOption = None,
    exact: ExactFlag = False,
    hide_places: HidePlacesFlag = False,
) -> None:
    """Write saved cases or a collection as one page or a deck of PNGs, told coarsely unless --exact."""
    from analysis.explain.edits import parse_edits
    from analysis.explain.explanation import explain_fully
    from recap.predictor import Predictor

    if html is None:
        raise ConfigError("nothing to write; give --html FILE")
    check_manner(exact=exact, hide_places=hide_places)
    shelf = _shelf()
    chosen = None if collection is None else _collection(shelf, collection)
    missing = [name for name in names or [] if name not in shelf.cases]
    if missing:
        raise CaseError(f"there is no saved case {missing[0]!r}; `recap cases list` prints their names")
    stored = [shelf.cases[name] for name in names or []] or (shelf.in_order(chosen.value) if chosen else [])
    if not stored:
        raise CaseError("which cases? give names of saved cases, or --collection TITLE of one that holds some")
    predictor = Predictor.load(checkpoint, data)
    explained = []
    for kept in stored:
        link = kept.value.link
        link.check(predictor)
        explained.append(
            explain_fully(
                predictor,
                link.case,
                about=link.about,
                against=link.against,
                edits=parse_edits(link.edits),
                split=link.split,
            )
        )
    page = share_page(
        explained,
        predictor,
        data,
        exact=exact,
        hide_places=hide_places,
        title=chosen.value.title if chosen else "",
        notes=[kept.value.note for kept in stored],
    )
    for line in write_shared(page, html):
        console.print(line, markup=False)


@cases.command()
def present(
    collection: CollectionOption = None,
    case: Annotated[int | None, typer.Option(min=0, help="One test case.")] = None,
    recipe: Annotated[str | None, typer.Option(help="The first cases of a recipe.")] = None,
    data: Annotated[Path | None, typer.Option("--data", help="A dataset folder; the demo city without.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="A checkpoint trained on it.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8501,
) -> None:
    """Start the app with letters for a room, and print the address of the presentation."""
    from urllib.parse import urlencode

    from analysis.cases.recipes import RECIPES

    if sum(value is not None for value in (collection, case, recipe)) > 1:
        raise ConfigError("present one thing: --collection, --case or --recipe")
    if recipe is not None and recipe not in RECIPES:
        raise ConfigError(f"unknown recipe {recipe!r}; choose one of {', '.join(RECIPES)}")
    query: dict[str, Any] = {"recipe": recipe or RECIPES[0]}
    if collection is not None:
        query = {"collection": _collection(_shelf(), collection).name}
    if case is not None:
        query = {"case": case}
    query |= link_of_first(data, checkpoint)
    # As it is, however narrow the terminal: a broken address cannot be clicked.
    progress_console.print(
        f"Present: http://127.0.0.1:{port}/present?{urlencode(query)}", markup=False, highlight=False, soft_wrap=True
    )
    start_app(data, checkpoint, port, "127.0.0.1", [], **_ROOM_THEME)


def link_of_first(data: Path | None, checkpoint: Path | None) -> dict[str, str]:
    """What a link says of the dataset and checkpoint that the app opens first, so that no screen has to ask."""
    from analysis.link_hashes import link_hashes
    from app.settings import AppSettings
    from app.sources import find_sources

    sources = find_sources(replace(AppSettings.from_environment(), data=data, checkpoint=checkpoint))
    if not sources:
        return {}
    return {"source": sources[0].token, **link_hashes(sources[0].dataset_hash, sources[0].checkpoint_hash)}


def _tables(read: OpenedRecords, baseline: str | None, against: list[str] | None, k: int) -> "RecipeTables":
    """What recipes search: removals where they are kept, as in the app."""
    from analysis.cases.recipes import RecipeTables
    from analysis.records.evaluation_records import records_key
    from analysis.records.loaded_dataset import MODEL_LABELS
    from recap.baselines import BASELINES, EVIDENCE

    dataset = read.dataset.dataset
    kept = [name for name in BASELINES if records_key(dataset.hash, name).is_kept(read.bundle)]
    names = list(dict.fromkeys([*(against or ["count_plus_markov", "markov"]), *kept]))
    unknown = [name for name in names if name not in BASELINES]
    if unknown:
        raise ConfigError(f"unknown ranker {unknown[0]!r}; choose from {', '.join(BASELINES)}")
    others = {MODEL_LABELS[name]: read.records_of(name) for name in names if name != baseline}
    train_checkins = dataset.pois[c.TRAIN_CHECKINS].to_numpy()
    is_share = baseline is None or baseline == EVIDENCE
    return RecipeTables(read.records, train_checkins, others, read.kept_removals(), probabilistic=is_share, k=k)


def _shelf() -> "Shelf":
    from analysis.cases.library import Library

    return Library.of_user().read()


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
