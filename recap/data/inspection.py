"""`recap inspect`: what a file contains, its first rows and its problems."""

from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field

from recap import columns as c
from recap.config import Config
from recap.data.card import HISTORY_ONLY_LABEL, dropped_reasons
from recap.data.checks import Problem, check_checkins
from recap.data.cleaning import DataConfig
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import HARMLESS, REASONS, RawRead, ReadReport
from recap.data.preparation import prepare_dataset
from recap.data.reading import read_checkins, understand
from recap.data.understanding.proposal import FIRST_ROWS, Understanding
from recap.errors import DataError


class Preview(Config):
    """What `recap prepare` would keep."""

    checkins: int = Field(0, description="Check-ins of the dataset; 0 where it would refuse.")
    history_only: int = Field(0, description="Rows that would stay as history and open no case.")
    dropped: dict[str, int] = Field({}, description="Reason -> rows the protocol would drop.")
    dataset_hash: str = Field("", description="Content hash of the dataset.")
    config: DataConfig = Field(description="The protocol.")
    refusal: str = Field("", description="Why `recap prepare` would refuse, if it would.")

    @property
    def left_out(self) -> dict[str, int]:
        """Reason -> number of rows that would give no case."""
        reasons = dropped_reasons(self.config)
        aside = {HISTORY_ONLY_LABEL: self.history_only} if self.history_only else {}
        return aside | {f"left out: {reasons[name]}": count for name, count in self.dropped.items() if count}


class Inspection(Config):
    """The result of `recap inspect`."""

    account: ReadReport = Field(description="Where every row went while reading.")
    timezone: str | None = Field(description="Zone of the coordinates that a published format was read with.")
    facts: dict[str, int | float | str] = Field(description="Counts and ranges of the rows read.")
    first_rows: list[dict[str, Any]] = Field(description=f"The first {FIRST_ROWS} rows as understood.")
    problems: list[Problem] = Field(description="Reading problems first, then those of the table as a whole.")
    preview: Preview = Field(description="What the protocol would keep.")


def look_at(
    path: Path, source_format: str = "auto", options: ReadOptions | None = None
) -> tuple[Understanding, RawRead | None]:
    """What the file is, and its rows unless more than the zone is unsure: bad ones are skipped, and a missing zone is
    that of the coordinates. Raises DataError: it looks like no format, or no row can be read.
    """
    found = understand(path, source_format, options)
    options = found.options
    if found.question is not None:
        if found.question.about != "timezone":
            return found, None
        options = next(iter(found.question.answers.values()))
    options = options.model_copy(update={"skip_bad_rows": True, "take_proposed_zone": True})
    return found, read_checkins(path, found.source_format, options)


def describe_read(read: RawRead, config: DataConfig) -> Inspection:
    """Describe the rows read, their problems, and what a protocol would keep."""
    first = read.table.head(FIRST_ROWS)
    first = first.assign(**{c.TIME: first[c.TIME].dt.strftime("%Y-%m-%d %H:%M:%S")})
    if c.SPLIT in first:
        first[c.SPLIT] = [c.SPLIT_NAMES[code] for code in first[c.SPLIT]]
    return Inspection(
        account=read.account,
        timezone=read.proposed_zone,
        facts=_facts(read.table),
        first_rows=first.to_dict("records"),
        problems=find_problems(read),
        preview=_preview(read, config),
    )


def find_problems(read: RawRead) -> list[Problem]:
    """Problems of the rows, then those of the table as a whole, unless a sink took it."""
    problems = check_checkins(read.table, read.zone, read.is_marked) if len(read.table) else []
    for reason, item in reversed(read.account.reported.items()):
        advice = "They are left out and counted."
        if reason not in HARMLESS:
            advice = "They are left out and counted; in a terminal, `recap prepare` needs --skip-bad-rows for that."
        found = {"title": f"rows: {REASONS.get(reason, reason)}", "count": item.rows, "examples": item.examples}
        problems.insert(0, Problem(kind=reason, advice=advice, **found))
    return problems


def _facts(table: pd.DataFrame) -> dict[str, int | float | str]:
    first, last = (f"{time:%Y-%m-%d %H:%M:%S} UTC" for time in (table[c.TIME].min(), table[c.TIME].max()))
    return {
        "check-ins": len(table),
        "users": int(table[c.USER_ID].nunique()),
        "places": int(table[c.POI_ID].nunique()),
        "category ids": int(table[c.CATEGORY_ID].nunique()),
        "first": first,
        "last": last,
        "south": float(table[c.LATITUDE].min()),
        "north": float(table[c.LATITUDE].max()),
        "west": float(table[c.LONGITUDE].min()),
        "east": float(table[c.LONGITUDE].max()),
        "offsets from UTC, minutes": ", ".join(str(value) for value in sorted(table[c.TZ_OFFSET_MINUTES].unique())[:8]),
    }


def _preview(read: RawRead, config: DataConfig) -> Preview:
    try:
        dataset = prepare_dataset(read.table, config, name="", source_format=read.account.source_format)
    except DataError as error:
        return Preview(config=config, refusal=str(error))
    kept = dataset.manifest.report.model_dump(include={"checkins", "history_only", "dropped"})
    return Preview(**kept, dataset_hash=dataset.hash, config=config)
