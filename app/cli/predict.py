"""`recap predict`: where users go next."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from app.cli.console import JsonFlag, console, print_json, progress_console, progress_line
from app.cli.data import (
    BoxOption,
    FormatOption,
    LayoutOption,
    LocalFlag,
    MapOption,
    SkipOption,
    TextOption,
    ZoneOption,
    read_options,
)
from app.cli.frames import frame_table
from app.cli.options import DataOption, ModelArgument

if TYPE_CHECKING:
    import pandas as pd

    from recap.data.dataset import Dataset
    from recap.data.extension import Extension
    from recap.data.parsing.options import ReadOptions
    from recap.prediction import Chosen

_TABLES: Final = 5
"""So many users are shown as tables, more as a line each."""
_LINES: Final = 50
_IN_A_LINE: Final = 3
_HEADINGS: Final = {
    "rank": "rank",
    "place": "place",
    "category": "category",
    "km": "km",
    "visits": "visits",
    "score": "score",
    "probability": "probability",
}
_BY_PLACE: Final = {"place": "place", "category": "category", "expected": "expected visits", "counted": "counted"}


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
        str | None, typer.Option("--at", metavar="TIME", help="Time of the next check-in, for models that read it.")
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
    shard: Annotated[
        str | None, typer.Option("--shard", metavar="I/N", help="Take every N-th user, from the I-th on.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write all rows to a .csv, .parquet or .jsonl file.")
    ] = None,
    mapping: MapOption = None,
    timezone: ZoneOption = None,
    local_times: LocalFlag = False,
    time_format: LayoutOption = None,
    bbox: BoxOption = None,
    text: TextOption = None,
    source_format: FormatOption = "auto",
    skip_bad_rows: SkipOption = False,
    as_json: JsonFlag = False,
) -> None:
    """Predict where users go next, from their last check-in or as of a moment."""
    from recap.data.dataset import Dataset
    from recap.errors import ConfigError
    from recap.storage.frames import check_suffix, plain_records, write_frames

    started = time.perf_counter()
    if out is not None:
        check_suffix(out)
    if by_place and (why or new_places):
        raise ConfigError("--by-place counts all places: leave out --why and --new-places")
    part = _parse_shard(shard)
    options = read_options(mapping, timezone, local_times, time_format, bbox, text, skip_bad_rows=skip_bad_rows)

    from recap.open_model import open_model
    from recap.prediction import Moment, choose, expected_visits, later_rows
    from recap.prediction import predict as run

    moment = None if as_of is None else Moment.parse(as_of)
    next_time = None if at is None else Moment.parse(at, "--at")
    with progress_console.status("Opening the model"):
        dataset = Dataset.load(data)
        extension = None if checkins is None else _extend(dataset, checkins, source_format, options)
        opened = open_model(model, dataset, extension=extension)
    chosen = choose(opened, user, moment)
    chosen = chosen if part is None else chosen.shard(*part)
    notes = [*([extension.line] if extension is not None else []), *chosen.notes]
    shown = chosen if out is not None or as_json else chosen.first(_LINES)
    facts: dict[str, Any] = {"model": opened.label, "users": len(chosen), "notes": notes}
    if by_place:
        with progress_console.status(f"Predicting {len(chosen):,} users"):
            table = expected_visits(opened, chosen, at=next_time)
        facts["users_with_later_checkin"] = len(later_rows(opened, chosen))
        frames = iter([table])
    else:
        frames = (
            _in_words(frame) for frame in run(opened, shown, top=top, new_places=new_places, why=why, at=next_time)
        )
    if out is not None:
        with progress_line("Predicting") as report:
            rows = write_frames(frames if by_place else _reported(frames, chosen, report), out)
        facts |= {"out": str(out), "rows": rows, "seconds": time.perf_counter() - started}
        if as_json:
            print_json(facts)
            return
        _print_notes(notes)
        console.print(f"Wrote {rows:,} rows for {len(chosen):,} users to {out}.", markup=False, soft_wrap=True)
        return
    if as_json:
        print_json(facts | {"places" if by_place else "predictions": [row for f in frames for row in plain_records(f)]})
        return
    found = _labelled(list(frames), opened.dataset)
    _print_notes(notes)
    if by_place:
        console.print(frame_table(f"Expected next visits of {len(chosen):,} users", found.head(top), _BY_PLACE))
        if "counted" in found:
            console.print(f"Counted: the next check-ins of {facts['users_with_later_checkin']:,} of these users.")
        return
    _print_users(found, chosen, as_tables=len(chosen) <= _TABLES)


def _parse_shard(text: str | None) -> tuple[int, int] | None:
    """Number and count of a shard.

    Raises:
        ConfigError: not ``I/N`` with I from 1 to N.
    """
    from recap.errors import ConfigError

    if text is None:
        return None
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise ConfigError(f"--shard expects I/N with I from 1 to N, such as 2/8, got {text!r}")
    return int(number), int(of)


def _extend(dataset: "Dataset", path: Path, source_format: str, options: "ReadOptions") -> "Extension":
    """The dataset with the check-ins of a file.

    Raises:
        DataError: the file cannot be read, leaves a question open, or is older than the dataset.
    """
    from recap.data.extension import extend_dataset
    from recap.data.reading import read_checkins, understand
    from recap.errors import DataError

    found = understand(path, source_format, options)
    if found.question is not None:
        raise DataError(found.refusal())
    return extend_dataset(dataset, read_checkins(path, found.source_format, found.options).table)


def _in_words(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Contributions under the names that Explain gives their groups."""
    from analysis.explain.sentences import part_label
    from recap.prediction import CONTRIBUTION

    names = [str(name) for name in frame.columns]
    groups = {n: part_label(n.removeprefix(CONTRIBUTION)) for n in names if n.startswith(CONTRIBUTION)}
    return frame.rename(columns=groups)


def _reported(frames: "Iterator[pd.DataFrame]", chosen: "Chosen", report: Any) -> "Iterator[pd.DataFrame]":
    done = 0
    for frame in frames:
        yield frame
        done += frame["user_id"].nunique()
        report(done, len(chosen))


def _labelled(frames: "list[pd.DataFrame]", dataset: "Dataset") -> "pd.DataFrame":
    """All rows, with the label of each place as ``place``."""
    import pandas as pd

    found = pd.concat(frames, ignore_index=True)
    number = pd.Index(dataset.pois["poi_id"]).get_indexer(found["poi_id"])
    return found.assign(place=[dataset.poi_labels[poi] for poi in number])


def _print_notes(notes: list[str]) -> None:
    for note in notes:
        console.print(note, markup=False, soft_wrap=True)


def _print_users(found: "pd.DataFrame", chosen: "Chosen", *, as_tables: bool) -> None:
    """Up to five users as tables, more as a line each."""
    from analysis.formatting import chance

    def named(place: Any) -> str:
        return place.place + (f" ({chance(place.probability)})" if place.probability == place.probability else "")

    for user, rows in found.groupby("user_id", sort=False):
        best = list(rows.itertuples())
        if not as_tables:
            places = ", ".join(named(place) for place in best[:_IN_A_LINE])
            console.print(f"{user}: {places}", markup=False, highlight=False, soft_wrap=True)
            continue
        console.print(f"User {user} will most likely go to {named(best[0])} next.", markup=False, soft_wrap=True)
        columns = [str(name) for name in rows.columns]
        groups = {name: name for name in columns[columns.index("probability") + 1 : -1]}
        headings = _HEADINGS | groups
        if rows["probability"].isna().all():
            del headings["probability"]
        console.print(frame_table(f"After {best[0].as_of_local:%a %d %b %Y, %H:%M}", rows, headings))
    missing = len(chosen) - found["user_id"].nunique()
    if missing > 0 and not as_tables:
        console.print(f"{missing:,} more users: write all with --out FILE.")
