"""A proposal in progress: the columns chosen so far with reasons, and open questions."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from recap.data.parsing.options import FIELDS, ReadOptions
from recap.data.parsing.table_source import open_table
from recap.data.understanding.columns import MOST_COLUMNS, Column, find_twins, read_sample
from recap.data.understanding.missing import how_to_join
from recap.data.understanding.proposal import FIRST_ROWS, ColumnProposal, Question, say
from recap.errors import DataError
from recap.machine.printable import shortened

_CLOSE: Final = 0.5
"""Candidates within this many points are about equally good."""
_FEW_ROWS: Final = 50


class Candidate(NamedTuple):
    """Columns for one field, or for two that belong together."""

    points: float
    columns: dict[str, Column]
    reason: str = ""


class Draft:
    """What is known of a table so far.

    Attributes:
        sample: column -> the values of the first rows.
        taken, reasons: field -> column; column -> why.
        other_places: further columns of places, which are not used.
        where, spots: latitude and longitude of the sample's rows, NaN where unknown; a number for each place, or for
            each 100 m as long as that is unknown.
        can_tell: whether rows are many enough and far enough from each other to tell ids by how they repeat.
    """

    def __init__(self, path: Path, source_format: str, options: ReadOptions) -> None:
        self.path, self.options = path, options
        self.source = open_table(path, source_format, options)
        self.sample = read_sample(self.source, options)
        names = self.source.names
        which = "columns" if len(names) <= MOST_COLUMNS else f"first {MOST_COLUMNS} of {len(names):,} columns"
        self._its_columns = f"its {which}: {shortened(', '.join(names), 200)}"
        for field, column in options.columns.items():
            if column not in self.sample:
                about = {"file": path.name, "column": column, "field": field, "columns": self._its_columns}
                raise DataError(say("no_column", **about))
        self.rows = len(next(iter(self.sample.values())).values)
        self.taken = dict(options.columns)
        self.reasons: dict[str, str] = dict.fromkeys(self.taken.values(), "you named it")
        self.other_places: set[str] = set()
        self._asked: dict[str, Any] = {}
        self.where = pd.DataFrame({"lat": np.nan, "lon": np.nan}, index=range(self.rows))
        self.spots = np.zeros(self.rows, int)
        self.can_tell = False
        self.twins = find_twins(self.sample.values())

    def place_rows(self) -> None:
        """Take over coordinates and places, as soon as they are known."""
        if {"lat", "lon"} <= self.taken.keys():
            self.where = pd.DataFrame({field: self.sample[self.taken[field]].numbers for field in ("lat", "lon")})
            known = self.where.dropna()
            spread = float((known.max() - known.min()).sum())
            self.can_tell = self.rows >= _FEW_ROWS and len(known) > 0.5 * self.rows and spread > 0.02
            self.spots = self.where.round(3).groupby(["lat", "lon"], dropna=False).ngroup().to_numpy()
        if "poi" in self.taken:
            self.spots = self.sample[self.taken["poi"]].codes

    def decide(
        self,
        field: str,
        candidates: Sequence[Candidate],
        replaces: Callable[[Candidate, Candidate], str | None] = lambda first, other: None,
        text: str = "",
        why_not: str = "",
        offers: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Take the best candidate; ask if another is about equally good, or if there is none.

        Args:
            replaces: why the second candidate need not be asked about next to the first; None if it must be.
            text: said before the question.
            why_not: why columns whose names fit were not taken.
            offers: answers where there is no candidate.
        """
        best: list[Candidate] = []
        for item in sorted(candidates, key=lambda item: -item.points):
            is_close = not best or item.points >= best[0].points - _CLOSE
            if is_close and all(replaces(other, item) is None for other in best):
                best = [other for other in best if replaces(item, other) is None] + [item]
        if len(best) == 1:
            others = (replaces(best[0], item) for item in candidates if item is not best[0])
            self.take(best[0].columns, next(filter(None, [best[0].reason, *others]), ""))
            return
        question, join = text + say(f"asked_{field}"), ""
        answers = [{name: column.name for name, column in item.columns.items()} for item in best[:4]]
        if not best:
            join = how_to_join(self.path, self.sample, {field, "lon"} if field == "lat" else {field})
            question += f" {say('unknown', columns=self._its_columns)} {join or why_not}".rstrip()
        known = {" and ".join(answer.values()): answer for answer in answers} or (not join and offers) or {}
        self.ask(field, question, known, is_open=not (join or (why_not and field in ("time", "lat"))))

    def take(self, columns: Mapping[str, Column], reason: str) -> None:
        """Assign columns to fields."""
        for field, column in columns.items():
            if field not in self.taken:
                self.taken[field] = column.name
                self.add_reason(column.name, "by name" if column.meaning[0] == field else "")
                self.add_reason(column.name, reason)

    def add_reason(self, column: str, reason: str) -> None:
        """Say more about a column."""
        self.reasons[column] = ", ".join(dict.fromkeys(filter(None, [self.reasons.get(column), reason])))

    def ask(
        self, about: str, text: str, answers: Mapping[str, Mapping[str, Any]] | None = None, *, is_open: bool = False
    ) -> None:
        """Ask, unless something else was asked before; each answer maps fields to columns, or options to values.
        ``is_open``: without answers the text does not say what to do.
        """
        is_explained = not (answers or is_open)
        self._asked = self._asked or {
            "about": about,
            "text": text,
            "answers": answers or {},
            "is_explained": is_explained,
        }

    def with_answer(self, answer: Mapping[str, Any]) -> ReadOptions:
        """The options with what is known, and an answer."""
        columns = {field: answer.get(field, self.taken.get(field)) for field in FIELDS}
        changes = {name: value for name, value in answer.items() if name not in FIELDS}
        changes["columns"] = {field: column for field, column in columns.items() if column}
        return self.options.model_copy(update=changes)

    def question(self) -> Question | None:
        """The first question; each answer includes everything else that is known."""
        known = {label: self.with_answer(answer) for label, answer in self._asked.get("answers", {}).items()}
        return Question(**self._asked | {"answers": known}) if self._asked else None

    def column_of(self, field: str) -> Column | None:
        """The column that was taken for a field."""
        return self.sample.get(self.taken.get(field, ""))

    def is_at_other_end(self, column: str) -> bool:
        """Whether a column belongs to the end of a trip from which nothing was taken."""
        is_trip = any(not (origin.layouts or origin.is_clock) for origin, *_ in self.twins)
        ends = {item.name: end for *pair, _ in self.twins * is_trip for end, item in enumerate(pair)}
        taken = (ends.get(self.taken.get(field, "")) for field in ("poi", "lat", "lon", "time"))
        chosen = next((end for end in taken if end is not None), None)
        return "to_poi" not in self.taken and chosen is not None and ends.get(column, chosen) != chosen

    def columns(self) -> list[ColumnProposal]:
        """All columns with what they were taken for."""
        fields = {column: field for field, column in reversed(self.taken.items())}
        left = {name for name in self.sample if name not in self.reasons and self.is_at_other_end(name)}
        others = (left | self.other_places) - fields.keys()
        return [
            ColumnProposal(
                name=name,
                field=fields.get(name),
                reason=self.reasons.get(name, "the other end of the trip, not used" * (name in left)),
                first=[shortened(text, 60) for text in column.text.slice(0, FIRST_ROWS).to_pylist()],
                is_other_place=name in others,
            )
            for name, column in self.sample.items()
        ]
