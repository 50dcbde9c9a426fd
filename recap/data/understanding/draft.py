"""A proposal in progress: a sample of a table, the chosen columns with reasons, and open questions."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from recap.data.parsing.column_names import field_of
from recap.data.parsing.options import FIELDS, ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import decoded
from recap.data.parsing.table_source import open_table
from recap.data.understanding.columns import Column, determines
from recap.data.understanding.proposal import FIRST_ROWS, Choice, ColumnProposal, Question
from recap.errors import DataError
from recap.printable import shortened

MOST_COLUMNS: Final = 300
_SAMPLE_ROWS: Final = 50_000
_SAMPLE_CELLS: Final = 4_000_000
_FEW_ROWS: Final = 50
_ENOUGH: Final = 2.0
"""Points that a column needs for a field."""
_CLOSE: Final = 0.5
"""Columns within this many points are about equally good."""


class Draft:
    """What is known of a table so far.

    Attributes:
        sample: column -> the values of the first rows; a column of points adds one for each of its two numbers.
        options: with what was decided.
        taken: field -> column.
        reasons: column -> why.
        times: columns that can be read as times.
        latitude, longitude: degrees of the sample's rows, NaN where unknown.
        spots: a number for each place, or for each 100 m as long as that is unknown.
        can_tell: whether rows are many enough and far enough from each other to tell ids by how they repeat.
    """

    def __init__(self, path: Path, source_format: str, options: ReadOptions) -> None:
        self.path, self.options = path, options
        self.source = open_table(path, source_format, options)
        self.sample = self._read()
        for field, column in options.columns.items():
            if column not in self.sample:
                raise DataError(f"{path.name} has no column {column!r} for --map {field}={column}{self.its_columns}")
        self.rows = len(next(iter(self.sample.values())).values)
        self.taken = dict(options.columns)
        self.reasons: dict[str, str] = dict.fromkeys(self.taken.values(), "you named it")
        self._asked: list[tuple[str, str, Mapping[str, Mapping[str, Any]]]] = []
        named = {name: field_of(name)[0] for name in self.sample}
        self.times = [column for name, column in self.sample.items() if named[name] in ("", "time") and column.layouts]
        self.latitude = self.longitude = np.full(self.rows, np.nan)
        self.spots = np.zeros(self.rows, np.int64)
        self.can_tell = False

    def _read(self) -> dict[str, Column]:
        given = self.options.columns.values()
        names = [name for place, name in enumerate(self.source.names) if place < MOST_COLUMNS or name in given]
        most = min(_SAMPLE_ROWS, _SAMPLE_CELLS // max(len(names), 1))
        blocks: list[dict[str, pa.Array]] = []
        report, found = RowReport(skip_bad_rows=True), 0
        with closing(self.source.rows(names, report)) as source:
            while found < most and (rows := next(source, None)) is not None:
                good = pa.array(~rows.bad)
                blocks.append({name: values.filter(good) for name, values in rows.columns.items()})
                found += int((~rows.bad).sum())
        if not found:
            report.account("", [self.path.name], sum(report.counts.values()), 0)
        sample = {}
        for name in names:
            values = pa.concat_arrays([decoded(block[name]) for block in blocks]).slice(0, most)
            sample[name] = Column(name, values, self.options.time_format)
            for half, numbers in enumerate(sample[name].point or (), 1):
                sample[f"{name}.{half}"] = Column(f"{name}.{half}", numbers)
        return sample

    @property
    def its_columns(self) -> str:
        """A table's columns, for the end of a message."""
        names = self.source.names
        which = "columns" if len(names) <= MOST_COLUMNS else f"first {MOST_COLUMNS} of {len(names):,} columns"
        return f"; its {which}: {shortened(', '.join(names), 200)}"

    def place_rows(self) -> None:
        """Take over coordinates and places, as soon as they are known."""
        if {"lat", "lon"} <= self.taken.keys():
            numbers = [self.sample[self.taken[field]].numbers for field in ("lat", "lon")]
            self.latitude, self.longitude = (np.where(np.isfinite(number), number, np.nan) for number in numbers)
            known = np.isfinite(self.latitude) & np.isfinite(self.longitude)
            spread = sum(np.ptp(degrees[known]) for degrees in (self.latitude, self.longitude)) if known.any() else 0.0
            self.can_tell = bool(self.rows >= _FEW_ROWS and known.mean() > 0.5 and spread > 0.02)
            self.spots = pd.factorize(np.round(self.latitude, 3) * 1e6 + np.round(self.longitude, 3))[0]
        if "poi" in self.taken:
            self.spots = self.sample[self.taken["poi"]].codes

    def free(self) -> list[Column]:
        """Columns that may be ids or descriptions: not taken, no points, times or clocks."""
        return [
            column
            for name, column in self.sample.items()
            if name not in self.taken.values() and column not in self.times and not (column.point or column.is_clock)
        ]

    def take(self, field: str, column: Column, reason: str) -> None:
        """Assign a column to a field."""
        by_name = "name" if field_of(column.name)[0] == field else ""
        self.taken[field] = column.name
        self.reasons[column.name] = ", ".join(filter(None, [by_name, reason]))

    def ask_which(self, field: str, what: str, answers: Mapping[str, Mapping[str, str]]) -> None:
        """Ask which of some columns is meant, or for a name if none is likely."""
        self.ask(field, f"which column is {what}?" if answers else f"no column is surely {what}", answers)

    def ask(self, about: str, text: str, answers: Mapping[str, Mapping[str, Any]]) -> None:
        """Add a question; each answer maps fields to columns, or options to values."""
        column = "lat=COLUMN,lon=COLUMN" if about == "lat" else f"{about}=COLUMN"
        hint = "" if answers else f"; name it with --map {column}{self.its_columns}"
        self._asked.append((about, text + hint, answers))

    def choose(self, field: str, scored: list[tuple[float, Column, str]]) -> None:
        """Take the best of some columns; ask if two are about equally good and differ.

        Of columns about equally good, one that fixes another is taken before it: a place's number before its name.
        """
        if field in self.taken:
            return
        good = sorted((item for item in scored if item[0] >= _ENOUGH), key=lambda item: -item[0])
        best: list[tuple[float, Column, str]] = []
        for item in good:
            if item[0] < good[0][0] - _CLOSE or any(not _fixes(a[1], item[1]) < 0.99 for a in best):
                continue
            best = [other for other in best if _fixes(item[1], other[1]) < 0.99] + [item]
        if len(best) == 1:
            self.take(field, best[0][1], best[0][2])
        else:
            self.ask_which(field, FIELDS[field], {item[1].name: {field: item[1].name} for item in best})

    def with_answer(self, answer: Mapping[str, Any]) -> ReadOptions:
        """The options with what is known, and an answer."""
        columns = self.taken | {field: name for field, name in answer.items() if field in FIELDS}
        changes = {name: value for name, value in answer.items() if name not in FIELDS}
        changes["columns"] = {field: columns[field] for field in FIELDS if field in columns}
        return self.options.model_copy(update=changes)

    def questions(self) -> list[Question]:
        """The questions; each answer includes everything else that is known."""
        return [
            Question(
                about=about,
                text=text,
                choices=[Choice(label=label, options=self.with_answer(answer)) for label, answer in answers.items()],
            )
            for about, text, answers in self._asked
        ]

    def columns(self) -> list[ColumnProposal]:
        """All columns with what they were taken for."""
        fields = {column: field for field, column in self.taken.items()}
        return [
            ColumnProposal(
                name=name,
                field=fields.get(name),
                reason=self.reasons.get(name, ""),
                first=[shortened(text, 60) for text in column.text.slice(0, FIRST_ROWS).to_pylist()],
            )
            for name, column in self.sample.items()
            if not column.point
        ]


def _fixes(a: Column, b: Column) -> float:
    return determines(a.codes, b.codes)
