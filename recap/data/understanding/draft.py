"""A proposal in the making: a sample of a table, the columns taken so far and why, and what has to be asked."""

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from recap.data.parsing.column_names import field_of
from recap.data.parsing.options import FIELDS, REQUIRED_FIELDS, ReadOptions
from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import decoded
from recap.data.parsing.table_source import halves, open_table
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
"""Points by which two differ that are about equally good."""


class Draft:
    """What is known of a table so far.

    Attributes:
        sample: column -> the values of the first rows; a column of points adds one for each of its two numbers.
        points: columns of points.
        options: with what was decided.
        taken: field -> column.
        reasons: column -> why.
        latitude, longitude: degrees of the sample's rows, NaN where unknown.
        spots: a number for each place, or as long as that is unknown for each 100 m.
        can_tell: whether the rows are many enough and far enough apart to tell ids by how they repeat.
    """

    def __init__(self, path: Path, source_format: str, options: ReadOptions) -> None:
        self.path, self.options = path, options
        self.source = open_table(path, source_format, options)
        self.sample = self._read()
        self.points = {name for name in self.source.names if halves(name)[0] in self.sample}
        for field, column in options.columns.items():
            if column not in self.sample:
                raise DataError(
                    f"{path.name} has no column {column!r} for --map {field}={column}; {self.its_columns()}"
                )
        self.taken = dict(options.columns)
        self.reasons: dict[str, str] = dict.fromkeys(self.taken.values(), "you named it")
        self.others: dict[str, list[str]] = {}
        self._asked: list[tuple[str, str, Mapping[str, Mapping[str, Any]]]] = []
        self.rows = len(next(iter(self.sample.values())).values)
        self.times = {
            column.name: column
            for column in self.sample.values()
            if field_of(column.name)[0] in ("", "time") and column.layouts
        }
        self.latitude = self.longitude = np.full(self.rows, np.nan)
        self.spots = np.zeros(self.rows, np.int64)
        self.can_tell = False

    def _read(self) -> dict[str, Column]:
        names = self.source.names
        if len(names) > MOST_COLUMNS:
            if not set(REQUIRED_FIELDS) <= set(self.options.columns):
                raise DataError(
                    f"{self.path.name} has {len(names):,} columns, and at most {MOST_COLUMNS} are looked at; "
                    f"name yours with --map {','.join(f'{field}=COLUMN' for field in REQUIRED_FIELDS)}"
                )
            names = [name for name in self.options.columns.values() if name in names]
        most = min(_SAMPLE_ROWS, _SAMPLE_CELLS // max(len(names), 1))
        blocks, rows_read = [], 0
        report = RowReport(skip_bad_rows=True)
        with closing(self.source.rows(names, report)) as source:
            for rows in source:
                blocks.append(rows.columns)
                rows_read += len(rows)
                if rows_read >= most:
                    break
        if not rows_read:
            report.account("", [self.path.name], self.source.rows_in, 0)
        sample = {}
        for name in names:
            values = pa.concat_arrays([decoded(block[name]) for block in blocks]).slice(0, most)
            sample[name] = Column(name, values, self.options.time_format)
            if (numbers := sample[name].numbers_of_points) is not None:
                sample |= {half: Column(half, values) for half, values in zip(halves(name), numbers, strict=True)}
        return sample

    def its_columns(self) -> str:
        """For messages."""
        return f"its columns: {shortened(', '.join(self.source.names), 200)}"

    def place_rows(self) -> None:
        """Take over coordinates and places, as soon as they are known."""
        if {"lat", "lon"} <= self.taken.keys():
            self.latitude, self.longitude = (self.sample[self.taken[field]].numbers for field in ("lat", "lon"))
            known = np.isfinite(self.latitude) & np.isfinite(self.longitude)
            spread = sum(np.ptp(degrees[known]) for degrees in (self.latitude, self.longitude)) if known.any() else 0.0
            self.can_tell = bool(self.rows >= _FEW_ROWS and known.mean() > 0.5 and spread > 0.02)
            self.spots = pd.factorize(np.round(self.latitude, 3) * 1e6 + np.round(self.longitude, 3))[0]
        if "poi" in self.taken:
            self.spots = self.sample[self.taken["poi"]].codes

    def free(self) -> list[Column]:
        """Columns that may be ids or descriptions."""
        used = {*self.taken.values(), *self.points, *self.times}
        used |= {half for name in self.points for half in halves(name)}
        return [column for column in self.sample.values() if column.name not in used and not column.is_clock]

    def take(self, field: str, column: Column, reason: str) -> None:
        """Settle a field."""
        by_name = ["name"] if field_of(column.name)[0] == field else []
        self.taken[field] = column.name
        self.reasons[column.name] = ", ".join(filter(None, [*by_name, reason]))

    def ask(self, about: str, text: str, answers: Mapping[str, Mapping[str, Any]]) -> None:
        """Ask; each answer, by its label, maps fields to columns or options to values."""
        self._asked.append((about, text, answers))

    def ask_name(self, field: str, what: str) -> None:
        """Ask for a field of which no column is likely."""
        self.ask(field, f"no column is surely {what}; name it with --map {field}=COLUMN; {self.its_columns()}", {})

    def questions(self) -> list[Question]:
        """What was asked, each answer with all else that is known."""
        return [
            Question(
                about=about,
                text=text,
                choices=[Choice(label=label, options=self.with_answer(answer)) for label, answer in answers.items()],
            )
            for about, text, answers in self._asked
        ]

    def with_answer(self, answer: Mapping[str, Any]) -> ReadOptions:
        """The options with what is known, and an answer."""
        columns = self.taken | {field: name for field, name in answer.items() if field in FIELDS}
        changes = {name: value for name, value in answer.items() if name not in FIELDS}
        return self.options.model_copy(
            update={"columns": {field: columns[field] for field in FIELDS if field in columns}, **changes}
        )

    def choose(
        self, field: str, scored: list[tuple[float, Column, str]], is_better: Callable[[Column, Column], bool]
    ) -> None:
        """Take the best of some columns, with points and reasons; ask where two are about equally good and differ."""
        if field in self.taken:
            return
        good = sorted((item for item in scored if item[0] >= _ENOUGH), key=lambda item: -item[0])
        for _, column, _ in good:
            self.others.setdefault(column.name, []).append(field)
        near = [item for item in good if item[0] >= good[0][0] - _CLOSE]
        best = [item for item in near if not any(is_better(other[1], item[1]) for other in near if other is not item)]
        best = best[:1] + [item for item in best[1:] if not _mean_the_same(item[1], best[0][1])]
        if len(best) == 1:
            self.take(field, best[0][1], best[0][2])
        elif best:
            self.ask(field, f"which column is {FIELDS[field]}?", {item[1].name: {field: item[1].name} for item in best})
        else:
            self.ask_name(field, FIELDS[field])

    def described(self) -> list[ColumnProposal]:
        """All columns with what they were taken for."""
        fields = {column: field for field, column in self.taken.items()}
        return [
            ColumnProposal(
                name=column.name,
                field=fields.get(column.name),
                reason=self.reasons.get(column.name, ""),
                alternatives=[field for field in self.others.get(column.name, []) if field != fields.get(column.name)],
                first=[shortened(text, 60) for text in column.text.slice(0, FIRST_ROWS).to_pylist()],
            )
            for column in self.sample.values()
            if column.name not in self.points
        ]


def _mean_the_same(a: Column, b: Column) -> bool:
    return not min(determines(a.codes, b.codes), determines(b.codes, a.codes)) < 0.99
