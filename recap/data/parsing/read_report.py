"""The result of a reader: the raw table, and an account of every row of the file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

import pandas as pd
from pydantic import Field, model_validator

from recap.config import Config
from recap.data.parsing.formats import read_words
from recap.errors import DataError

EXAMPLES: Final = 3
"""Examples kept of each reason."""

HARMLESS: Final = {"blank_line", "outside_bbox"}
"""Reasons that are reported but never refuse a file."""

_WORDS: Final = read_words("read_report")
TRACK: Final[str] = _WORDS["track"]
NO_PLACES: Final[str] = _WORDS["no_places"]
REASONS: Final[dict[str, str]] = _WORDS["reasons"]


class Reported(Config):
    """Rows left out for one reason."""

    rows: int = Field(ge=1, description="How many.")
    examples: list[str] = Field(description=f"The first {EXAMPLES}, each with its place in the file.")


class ReadReport(Config):
    """What became of every row of the file: ``rows_in == rows_kept + sum of the reported``."""

    source_format: str = Field(description="Format it was read as.")
    files: list[str] = Field(description="Names of the files read.")
    rows_in: int = Field(ge=0, description="Rows of the check-in files, headers not counted.")
    rows_kept: int = Field(ge=0, description="Rows of the raw table.")
    reported: dict[str, Reported] = Field({}, description="Reason -> rows left out.")
    columns: dict[str, str] = Field({}, description="Field -> column, where the reader had to map them.")
    notes: list[str] = Field([], description="What else a reader of the numbers should know, one sentence each.")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        reported = sum(item.rows for item in self.reported.values())
        if self.rows_in != self.rows_kept + reported:
            raise ValueError(f"{self.rows_in} rows in, but {self.rows_kept} kept and {reported} reported")
        return self

    def dropped(self) -> dict[str, int]:
        """Reason -> rows left out."""
        return {reason: item.rows for reason, item in self.reported.items()}


@dataclass(frozen=True, eq=False)
class RawRead:
    """A raw check-in table (columns in `recap.columns`, file order) and its account; the rest as in `Moments`."""

    table: pd.DataFrame
    account: ReadReport
    proposed_zone: str | None = None
    zone: str | None = None
    is_marked: bool = False


@dataclass
class RowReport:
    """Counts rows and why some are left out; at the first bad one it refuses the file unless ``skip_bad_rows``."""

    skip_bad_rows: bool
    rows_in: int = 0
    reported: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _bad: list[tuple[int, str]] = field(default_factory=list)

    def report(self, reason: str, rows: int, first: Sequence[tuple[int, str]]) -> None:
        """Count rows left out for a reason; ``first``: places and messages of the first few."""
        if rows:
            before, kept = self.reported.get(reason, (0, []))
            self.reported[reason] = before + rows, [*kept, *(text for _, text in first)][:EXAMPLES]
            self._bad += first[:1] if reason not in HARMLESS and not self.skip_bad_rows else []

    def refuse(self) -> None:
        """Raises DataError: there is a bad row, and they are not skipped; the message names the earliest."""
        if self._bad:
            raise DataError(f"{min(self._bad)[1]}; fix the file, or skip and report such rows with --skip-bad-rows")

    def note(self, sentence: str) -> None:
        """Remember a remark once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def account(self, files: list[str], rows_kept: int, **facts: Any) -> ReadReport:
        """The final account, with further fields of it. Raises DataError: no row is left."""
        if rows_kept == 0:
            first = next((text for _, texts in self.reported.values() for text in texts), "")
            why = f": all {self.rows_in} rows were left out, the first because: {first}" if first else ""
            raise DataError(f"{', '.join(files)} has no check-ins{why}")
        facts |= {"files": files, "rows_in": self.rows_in, "rows_kept": rows_kept, "notes": self.notes}
        counts = sorted(self.reported.items(), key=lambda item: item[0] == "wrong_columns")
        reported = {reason: Reported(rows=rows, examples=texts) for reason, (rows, texts) in counts}
        return ReadReport(**facts, reported=reported)
