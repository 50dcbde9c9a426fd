"""A filter of cases as data, for links."""

from typing import Final, Self
from urllib.parse import parse_qs, urlencode

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from analysis.cases.case_table import CAUSES, FROM, HOUR, KNOWN_BEFORE, REASON, TO
from analysis.long_tail.misses import Miss
from analysis.records.ablations import ABLATIONS
from recap import columns as c
from recap.config import Config
from recap.errors import ConfigError

MAX_TEXT: Final = 2000
Bounds = tuple[int | None, int | None]
_COLUMNS: Final = {"rank": c.RANK, "steps": c.TRANSITION_COUNT, "visits": c.DESTINATION_COUNT}
_WORDS: Final = {"categories": c.CATEGORY, "reasons": REASON}


class CaseFilter(Config):
    """A filter of cases; every field that is set must match."""

    rank: Bounds = Field((None, None), description="Lowest and highest rank of the truth.")
    steps: Bounds = Field((None, None), description="How often the transition occurred in training.")
    visits: Bounds = Field((None, None), description="How often the target occurred in training.")
    hours: tuple[int, int] | None = Field(None, description="First and last hour; (22, 2) runs over midnight.")
    categories: tuple[str, ...] = Field((), max_length=50, description="Of the target, any of them.")
    reasons: tuple[Miss, ...] = Field((), description="Why the case is missed, any of them.")
    causes: tuple[str, ...] = Field((), description="Ablations that lose the case, any of them.")
    search: str = Field("", max_length=80, description="In the name of either place or in the category.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in _COLUMNS:
            low, high = getattr(self, name)
            if (low or 0) < 0 or (high is not None and high < (low or 0)):
                raise ValueError(f"{name} runs from {low} to {high}; the second must not be below the first")
        if self.hours is not None and not all(0 <= hour <= 23 for hour in self.hours):
            raise ValueError("hours are between 0 and 23")
        if not set(self.causes) <= set(ABLATIONS):
            raise ValueError(f"causes are some of {', '.join(ABLATIONS)}")
        return self

    @property
    def text(self) -> str:
        """The text that `from_text` reads; empty for a filter without fields."""
        values: dict[str, list[str]] = {}
        for name in (*_COLUMNS, "hours"):
            bounds = getattr(self, name)
            if bounds not in (None, (None, None)):
                values[name] = ["-".join("" if end is None else str(end) for end in bounds)]
        values |= {name: list(getattr(self, name)) for name in ("categories", "reasons", "causes")}
        values["search"] = [self.search] if self.search else []
        return urlencode(values, doseq=True)

    @classmethod
    def from_text(cls, text: str) -> "CaseFilter":
        """Read the text of a link or of a file.

        Raises:
            ConfigError: not such a text, or a value out of range.
        """
        if len(text) > MAX_TEXT:
            raise ConfigError(f"a filter of cases has at most {MAX_TEXT:,} characters, got {len(text):,}")
        values: dict[str, object] = {}
        try:
            given = parse_qs(text, strict_parsing=True) if text else {}
            for name, parts in given.items():
                if name in (*_COLUMNS, "hours"):
                    low, high = parts[0].split("-")
                    values[name] = (int(low) if low else None, int(high) if high else None)
                else:
                    values[name] = parts[0] if name == "search" else tuple(parts)
        except ValueError as error:
            raise ConfigError(
                "a filter of cases looks like rank=21-&steps=0-1&hours=17-22&categories=Bar&search=park"
            ) from error
        return cls.parse(values)

    def without_truth(self) -> "CaseFilter":
        """The filter without fields that reveal the truth: rank, counts, target, reason and cause."""
        return CaseFilter(hours=self.hours)

    def mask(self, table: pd.DataFrame) -> np.ndarray:
        """Mask of the rows of a `case_table` that pass."""
        kept = np.ones(len(table), dtype=bool)
        for name, column in _COLUMNS.items():
            low, high = getattr(self, name)
            values = table[column].to_numpy() if column in table else None
            if values is not None:
                kept &= values >= low if low is not None else True
                kept &= values <= high if high is not None else True
        if self.hours is not None:
            first, last = self.hours
            hour = table[HOUR].to_numpy()
            kept &= (hour >= first) & (hour <= last) if first <= last else (hour >= first) | (hour <= last)
        for name, column in _WORDS.items():
            if getattr(self, name):
                kept &= table[column].isin(getattr(self, name)).to_numpy()
        if self.causes:
            wanted = set(self.causes)
            kept &= np.array([not wanted.isdisjoint(found) for found in table[CAUSES]], dtype=bool)
        wanted_text = " ".join(self.search.casefold().split())
        if wanted_text:
            named = [column for column in (FROM, TO, c.CATEGORY) if column in table]
            kept &= np.logical_or.reduce(
                [table[column].str.casefold().str.contains(wanted_text, regex=False).to_numpy(bool) for column in named]
            )
        return kept


def hide_truth(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of a `case_table` that do not reveal the truth."""
    return table[[name for name in KNOWN_BEFORE if name in table]]
