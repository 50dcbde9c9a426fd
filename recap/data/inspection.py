"""`recap inspect`: what a file seems to be, its first rows and its problems, before anything is written."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import pandas as pd
from pydantic import Field

from recap import columns as c
from recap.config import Config
from recap.data.card import HISTORY_ONLY_LABEL, dropped_reasons
from recap.data.checks import Problem, check_checkins
from recap.data.cleaning import DataConfig, clean_checkins
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import HARMLESS, REASONS, ReadReport
from recap.data.parsing.time_advice import UnreadableTimesError
from recap.data.reading import RawRead, detect_format, read_checkins
from recap.errors import DataError

FIRST_ROWS: Final = 5


class Preview(Config):
    """What `recap prepare` would make of the rows read, under one protocol."""

    checkins: int = Field(description="Check-ins of the dataset; 0 where it would refuse.")
    history_only: int = Field(0, description="Rows that would stay as history and open no case.")
    dropped: dict[str, int] = Field(description="Reason -> rows the protocol would drop.")
    refusal: str = Field("", description="Why `recap prepare` would refuse, if it would.")


class Inspection(Config):
    """Everything `recap inspect` says about a file."""

    path: str = Field(description="The file or folder as named.")
    source_format: str = Field(description="What it was read as.")
    why: str = Field(description="Why.")
    account: ReadReport = Field(description="Where every row went while reading.")
    facts: dict[str, int | float | str] = Field(description="Counts and ranges of the rows read.")
    first_rows: list[dict[str, Any]] = Field(description=f"The first {FIRST_ROWS} rows as understood.")
    problems: list[Problem] = Field(description="Reading problems first, then those of the table as a whole.")
    preview: Preview = Field(description="What the default protocol would keep.")


def inspect_checkins(path: Path, source_format: str, options: ReadOptions, config: DataConfig) -> Inspection:
    """Read a file as far as it goes and report; nothing is written and no bad row refuses it.

    Raises:
        DataError: the file cannot be read at all, or not one row of it.
    """
    why = "you named the format"
    if source_format == "auto":
        found = detect_format(path, options.encoding)
        source_format, why = found.source_format, found.why
    options = options.model_copy(update={"skip_bad_rows": True, "missing_zone_is_utc": True})
    read, remedy = _read(path, source_format, options)
    table = read.table
    return Inspection(
        path=str(path),
        source_format=source_format,
        why=why,
        account=read.account.model_copy(update={"notes": [*remedy, *read.account.notes]}),
        facts=_facts(table),
        first_rows=[_plain(row) for row in table.head(FIRST_ROWS).to_dict("records")],
        problems=[*_reading_problems(read.account), *check_checkins(table)],
        preview=_preview(table, config),
    )


def _read(path: Path, source_format: str, options: ReadOptions) -> tuple[RawRead, list[str]]:
    """The file; where its times have to be told, as the first proposal reads them, with a sentence about that."""
    try:
        return read_checkins(path, source_format, options), []
    except UnreadableTimesError as error:
        if not error.formats:
            raise
        first, *others = error.formats
        text = f"Times are read here with --time-format '{first}'; give that to `recap prepare`"
        text += f", or '{others[0]}' where the month stands first." if others else "."
        return read_checkins(path, source_format, options.model_copy(update={"time_format": first})), [text]


def _facts(table: pd.DataFrame) -> dict[str, int | float | str]:
    return {
        "check-ins": len(table),
        "users": int(table[c.USER_ID].nunique()),
        "places": int(table[c.POI_ID].nunique()),
        "category ids": int(table[c.CATEGORY_ID].nunique()),
        "first": f"{table[c.TIME].min():%Y-%m-%d %H:%M:%S} UTC",
        "last": f"{table[c.TIME].max():%Y-%m-%d %H:%M:%S} UTC",
        "south": float(table[c.LATITUDE].min()),
        "north": float(table[c.LATITUDE].max()),
        "west": float(table[c.LONGITUDE].min()),
        "east": float(table[c.LONGITUDE].max()),
        "offsets from UTC, minutes": ", ".join(str(value) for value in sorted(table[c.TZ_OFFSET_MINUTES].unique())[:8]),
    }


def _plain(record: dict[Hashable, Any]) -> dict[str, Any]:
    """Values that JSON and a page can show."""
    row = {str(name): value.item() if hasattr(value, "item") else value for name, value in record.items()}
    row[c.TIME] = f"{row[c.TIME]:%Y-%m-%d %H:%M:%S}"
    if c.SPLIT in row:
        row[c.SPLIT] = c.SPLIT_NAMES[row[c.SPLIT]]
    return row


def _reading_problems(report: ReadReport) -> list[Problem]:
    return [
        Problem(
            kind=reason,
            title=f"rows: {REASONS.get(reason, reason)}",
            count=item.rows,
            examples=item.examples,
            advice="They are left out and counted."
            if reason in HARMLESS
            else "`recap prepare` refuses the file at the first; --skip-bad-rows leaves them out and counts them.",
        )
        for reason, item in report.reported.items()
    ]


def _preview(table: pd.DataFrame, config: DataConfig) -> Preview:
    try:
        _, report = clean_checkins(table, config)
    except DataError as error:
        return Preview(checkins=0, dropped={}, refusal=str(error))
    return Preview(checkins=report.checkins, history_only=report.history_only, dropped=report.dropped)


def preview_rows(inspection: Inspection, config: DataConfig) -> dict[str, int]:
    """The preview's rows that no case is made of, with what becomes of them and why, for tables."""
    preview, reasons = inspection.preview, dropped_reasons(config)
    aside = {HISTORY_ONLY_LABEL: preview.history_only} if preview.history_only else {}
    return aside | {f"dropped: {reasons[name]}": count for name, count in preview.dropped.items() if count}
