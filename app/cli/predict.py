"""`recap predict`: where users go next."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.markup import escape
from rich.table import Table

from analysis.formatting import chance, next_sentence, on_day, points, signed_points
from app.cli.console import (
    JsonFlag,
    console,
    frame_table,
    print_json,
    progress_console,
    rich_table,
    say_what_is_new,
    steps_progress,
)
from app.cli.options import DataOption, ModelArgument, takes
from app.cli.reading import ReadingOptions, SkipOption, read_options
from recap.machine.printable import count_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    import pandas as pd

    from recap.asking.prediction import Chosen
    from recap.data.dataset import Dataset

_TABLES: Final = 5
"""So many users are shown as tables, more as a line each."""
_LINES: Final = 50
_IN_A_LINE: Final = 3
_WHEN: Final = "%a %d %b %Y, %H:%M"
_BY_PLACE: Final = {
    "place": "place",
    "category": "category",
    "expected": "expected visits",
    "expected_counted": "of users counted",
    "counted": "counted",
}
_CHANGED: Final = {
    "place": "place",
    "category": "category",
    "expected_before": "before",
    "expected": "after",
    "change": "difference",
}
_THERE: Final = "users there, if all check in then"


@takes(reading=read_options)
def predict(
    model: ModelArgument,
    data: DataOption,
    user: Annotated[
        list[str] | None, typer.Option("--user", metavar="ID", help="A user as in the raw table; repeatable.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many places to list for each user.")] = 20,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME", help="Leave out later check-ins; local times unless it has a zone."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="Ask where at this time: 2012-10-22T18:00, or 'mon 18:00'."),
    ] = None,
    checkins: Annotated[
        Path | None,
        typer.Option("--checkins", metavar="FILE", help="Add later check-ins, read as `recap prepare` does."),
    ] = None,
    new_places: Annotated[
        bool, typer.Option("--new-places", help="List only places where the user has never been.")
    ] = False,
    why: Annotated[bool, typer.Option("--why", help="Add what each group of features contributes.")] = False,
    by_place: Annotated[bool, typer.Option("--by-place", help="Show the expected next visits of each place.")] = False,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="ID", help="A closed place, no candidate; repeatable.")
    ] = None,
    shard: Annotated[
        str | None, typer.Option("--shard", metavar="I/N", help="Take every N-th user, from the I-th on.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write all rows to a .csv, .xlsx, .parquet or .jsonl file."),
    ] = None,
    *,
    reading: ReadingOptions,
    skip_bad_rows: SkipOption = False,
    as_json: JsonFlag = False,
) -> None:
    """Predict where users go next, from their last check-in or as of a moment."""
    from recap.data.dataset import Dataset
    from recap.data.parsing.options import ReadOptions
    from recap.errors import ConfigError
    from recap.storage.frames import check_suffix, plain_records, write_frames

    started = time.perf_counter()
    if out is not None:
        check_suffix(out)
    if by_place and (why or new_places):
        raise ConfigError("--by-place counts all places: leave out --why and --new-places")
    part = _parse_shard(shard)
    options = reading.skipping(skip_bad_rows)
    if checkins is None and (reading.source_format != "auto" or options != ReadOptions()):
        raise ConfigError("options that say how a file is read need --checkins FILE")

    from recap.asking.open_model import open_for_prediction
    from recap.asking.prediction import SEEN_DAYS, choose, expected_visits, is_counted
    from recap.asking.prediction import predict as run
    from recap.data.reading import read_understood
    from recap.history.asked_times import parse_next_time, parse_time

    moment, next_time = parse_time(as_of), parse_next_time(at)
    with progress_console.status("Opening the model") as status:
        dataset = Dataset.load(data)
        raw = None if checkins is None else read_understood(checkins, reading.source_format, options).table
        opened, notes = open_for_prediction(model, dataset, raw, given_time=next_time is not None, say=status.update)
    seen = SEEN_DAYS if by_place and next_time is not None else None
    chosen = choose(opened, user, moment, next_time, seen_days=seen, without=without or ()).part(part)
    notes = [*notes, *chosen.notes]
    facts: dict[str, Any] = {"model": opened.label, "users": len(chosen), "notes": notes}
    frames: Iterator[pd.DataFrame]
    if by_place:
        with progress_console.status(f"Predicting {len(chosen):,} users"):
            frames = iter([expected_visits(opened, chosen)])
        facts["users_with_later_checkin"] = int(is_counted(opened, chosen).sum())
    else:
        shown = chosen if out is not None or as_json else chosen.part(slice(_LINES))
        frames = map(_in_words, run(opened, shown, top=top, new_places=new_places, why=why))
    if out is not None:
        with steps_progress("Predicting") as report:
            rows = write_frames(frames if by_place else _reported(frames, len(chosen), report), out)
        facts |= {"out": str(out), "rows": rows, "seconds": time.perf_counter() - started}
    elif as_json:
        facts["places" if by_place else "predictions"] = [row for frame in frames for row in plain_records(frame)]
    if raw is None and not opened.is_baseline:  # else the notes say what is new
        say_what_is_new(opened.checkpoint.match(dataset))
    if as_json:
        print_json(facts)
        return
    table = None if out is not None else _labelled(list(frames), opened.dataset)
    for note in notes:
        console.print(note, markup=False, soft_wrap=True)
    if table is None:
        users = count_of(len(chosen), "user")
        console.print(f"Wrote {count_of(rows, 'row')} for {users} to {out}.", markup=False, soft_wrap=True)
    elif by_place:
        _print_places(table, chosen, top, facts["users_with_later_checkin"])
    else:
        _print_users(table, len(chosen), only_new=new_places)


def _print_places(places: "pd.DataFrame", chosen: "Chosen", top: int, followed: int) -> None:
    """The places with most expected visits; with closed ones those whose number changes most."""
    from recap.asking.prediction import COUNTED_MINUTES

    headings, title, near = _BY_PLACE, f"Expected next visits of {count_of(len(chosen), 'user')}", ""
    if chosen.next_N is not None and len(chosen):
        headings, title, best = _BY_PLACE | {"expected": _THERE}, _THERE, places.iloc[0]
        when, near = chosen.next_N[0].astype("datetime64[s]").item(), f" within {COUNTED_MINUTES} minutes of this time"
        line = f"At {when:{_WHEN}}, if they check in then: {best['place']} leads"
        console.print(f"{line}, {best['expected']:.1f} users there.", markup=False, soft_wrap=True)
    if chosen.closed:
        headings, places = _CHANGED, places.sort_values("change", key=abs, ascending=False, kind="stable")
    console.print(frame_table(title, places.head(top), headings))
    if "counted" in places:
        console.print(f"Counted: the next check-ins of {followed:,} of these users{near}.", soft_wrap=True)


def _parse_shard(text: str | None) -> slice:
    """The users of shard ``I/N``; all users without one. Raises ConfigError: not ``I/N`` with I from 1 to N."""
    from recap.errors import ConfigError

    number, _, of = ("1/1" if text is None else text).partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise ConfigError(f"--shard expects I/N with I from 1 to N, such as 2/8, got {text!r}")
    return slice(int(number) - 1, None, int(of))


def _in_words(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Contributions under the names that Explain gives their groups."""
    from analysis.records.ablations import part_label
    from recap.asking.prediction import CONTRIBUTION

    names = [str(name) for name in frame.columns]
    groups = {n: part_label(n.removeprefix(CONTRIBUTION)) for n in names if n.startswith(CONTRIBUTION)}
    return frame.rename(columns=groups)


def _reported(frames: "Iterator[pd.DataFrame]", total: int, report: Any) -> "Iterator[pd.DataFrame]":
    done = 0
    for frame in frames:
        yield frame
        done += frame["user_id"].nunique()
        report(done, total)


def _labelled(frames: "list[pd.DataFrame]", dataset: "Dataset") -> "pd.DataFrame":
    """All rows, with the label of each place as ``place``."""
    import pandas as pd

    table = pd.concat(frames, ignore_index=True)
    number = pd.Index(dataset.pois["poi_id"]).get_indexer(table["poi_id"])
    return table.assign(place=[dataset.poi_labels[poi] for poi in number])


def _print_users(table: "pd.DataFrame", total: int, *, only_new: bool) -> None:
    """Up to five users as tables, more as a line each."""
    if only_new and (without := min(total, _LINES) - table["user_id"].nunique()):
        console.print(f"Nothing is left for {count_of(without, 'user')}: they have been to every place.")
    if total > _TABLES and "at_local" in table and len(table):
        console.print(f"At {table['at_local'].iloc[0]:{_WHEN}}, if they check in then:")
    for user, rows in table.groupby("user_id", sort=False):
        best = rows.to_dict("records")
        if total <= _TABLES:
            place, probability = str(best[0]["place"]), best[0]["probability"]
            when = on_day(best[0]["at_local"], best[0]["as_of_local"]) if "at_local" in table else ""
            asked: dict[str, Any] = {"only_new": only_new, "when": when}
            sentence = next_sentence(f"user {user}", place, probability, _chance(probability), **asked)
            console.print(sentence, markup=False, soft_wrap=True)
            console.print(_places_table(best))
        else:
            places = ", ".join(map(_named, best[:_IN_A_LINE]))
            console.print(f"{user}: {places}", markup=False, highlight=False, soft_wrap=True)
    if total > _LINES:
        console.print(f"{count_of(total - _LINES, 'more user')}: write all with --out FILE.")


def _named(row: "Mapping[Hashable, Any]") -> str:
    probability = _chance(row["probability"])
    return f"{row['place']} ({probability})" if probability else str(row["place"])


def _chance(probability: float) -> str:
    """In words; empty for a model without probabilities."""
    return chance(probability) if probability == probability else ""


def _places_table(best: "list[dict[Hashable, Any]]") -> Table:
    """The places of one user; with --why, what adds up to each score."""
    names = list(map(str, best[0]))
    groups = names[names.index("probability") + 1 : names.index("place")]
    has_probability = best[0]["probability"] == best[0]["probability"]
    title = f"After {best[0]['as_of_local']:{_WHEN}}"
    title += f", at {best[0]['at_local']:{_WHEN}}" if "at_local" in best[0] else ""
    facts = [] if groups else ["category", "km", "visits"]
    headings = ["rank", "place", *facts, "score", *["probability"] * has_probability]
    table = rich_table(title, *headings, left=("place", "category"))
    if groups:
        table.add_column("what adds up to the score")
    for row in best:
        about = [] if groups else [escape(row["category"]), f"{row['km']:.1f}", f"{row['visits']:,}"]
        cells = [str(row["rank"]), escape(row["place"]), *about, points(row["score"])]
        cells += [chance(row["probability"])] * has_probability
        added = sorted(groups, key=lambda group, row=row: -abs(row[group]))  # type: ignore[misc]
        why = ", ".join(f"{group} {signed_points(row[group])}" for group in added if points(row[group]) != "0.00")
        table.add_row(*cells, *[why] * bool(groups))
    return table
