"""What a file contains (`recap inspect`), and what became of its rows (`CARD.md` of a dataset)."""

import tomllib
from pathlib import Path
from typing import Any, Final

import pandas as pd
from pydantic import Field

from recap import columns as c
from recap.config import Config
from recap.data.checks import Problem, check_checkins
from recap.data.cleaning import MERGED, DataConfig
from recap.data.dataset import Dataset
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import HARMLESS, REASONS, RawRead, ReadReport
from recap.data.preparation import prepare_dataset
from recap.data.reading import read_checkins, understand
from recap.data.understanding.proposal import FIRST_ROWS, Understanding
from recap.errors import DataError
from recap.machine.printable import markdown_text
from recap.machine.rendering import render

_REASONS: Final[dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
HISTORY_ONLY_LABEL: Final = _REASONS["history_only"]


def dropped_reasons(config: DataConfig) -> dict[str, str]:
    """Key of `CleaningReport.dropped` -> sentence."""
    texts = {name: text.format(**config.model_dump()) for name, text in _REASONS.items()}
    return texts | {MERGED: texts[f"merged_by_{config.merge_by}"], "short_trajectory": texts[f"short_{config.history}"]}


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
    understood = understand(path, source_format, options)
    options = understood.options
    if understood.question is not None:
        if understood.question.about != "timezone":
            return understood, None
        options = next(iter(understood.question.answers.values()))
    options = options.model_copy(update={"skip_bad_rows": True, "take_proposed_zone": True})
    return understood, read_checkins(path, understood.source_format, options)


def describe_read(read: RawRead, config: DataConfig) -> Inspection:
    """Describe the rows read, their problems, and what a protocol would keep."""
    first = read.table.head(FIRST_ROWS)
    first = first.assign(**{c.TIME: first[c.TIME].dt.strftime("%Y-%m-%d %H:%M:%S")})
    if c.SPLIT in first:
        first[c.SPLIT] = [c.SPLIT_NAMES[code] for code in first[c.SPLIT]]
    try:
        dataset = prepare_dataset(read.table, config, name="", source_format=read.account.source_format)
        kept = dataset.manifest.report.model_dump(include={"checkins", "history_only", "dropped"})
        preview = Preview(**kept, dataset_hash=dataset.hash, config=config)
    except DataError as error:
        preview = Preview(config=config, refusal=str(error))
    return Inspection(
        account=read.account,
        timezone=read.proposed_zone,
        facts=_facts(read.table),
        first_rows=first.to_dict("records"),
        problems=find_problems(read),
        preview=preview,
    )


def find_problems(read: RawRead) -> list[Problem]:
    """Problems of the rows, then those of the table as a whole, unless a sink took it."""
    problems = []
    for reason, item in read.account.reported.items():
        needed = "" if reason in HARMLESS else "; in a terminal, `recap prepare` needs --skip-bad-rows for that"
        words = {"title": f"rows: {REASONS.get(reason, reason)}", "advice": f"They are left out and counted{needed}."}
        problems.append(Problem(kind=reason, count=item.rows, examples=item.examples, **words))
    return problems + (check_checkins(read.table, read.zone, read.is_marked) if len(read.table) else [])


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


def dataset_card(dataset: Dataset) -> str:
    """Markdown; the first table accounts for every row of the file."""
    manifest, report, reading = dataset.manifest, dataset.manifest.report, dataset.manifest.reading
    reasons, times = dropped_reasons(manifest.config), dataset.checkins[c.TIME]
    rows = [("raw", report.raw), *((reasons[name], count) for name, count in report.dropped.items())]
    if report.history_only:
        rows.append((HISTORY_ONLY_LABEL, report.history_only))
    if reading is not None and reading.reported:
        not_read = [(f"not read: {REASONS.get(name, name)}", count) for name, count in reading.dropped().items()]
        rows = [(f"in {', '.join(map(markdown_text, reading.files))}", reading.rows_in), *not_read, *rows]
    first_day, last_day = (f"{time.day} {time:%B %Y}" for time in (times.min(), times.max()))
    text = render(
        "dataset_card.md.j2",
        dataset=dataset,
        first_day=first_day,
        last_day=last_day,
        rows=rows,
        notes=[*(reading.notes if reading else []), *filter(None, [dataset.unseen_line])],
        cases=[(name, len(dataset.cases(split))) for split, name in enumerate(c.SPLIT_NAMES)],
    )
    return f"{text}\n"
