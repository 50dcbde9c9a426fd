"""A filter of cases as data, for links."""

from typing import Final, Self
from urllib.parse import parse_qs, urlencode

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from analysis.cases.case_table import CAUSE_NAMES, FROM, HOUR, KNOWN_BEFORE, REASON, TO
from analysis.long_tail.misses import Miss
from analysis.records.ablations import ABLATIONS
from recap import columns as c
from recap.config import Config
from recap.errors import ConfigError

MAX_TEXT: Final = 2000
_WORDS: Final = {"categories": c.CATEGORY, "reasons": REASON}


class CaseFilter(Config):
    """A filter of cases; every field that is set must match."""

    hours: tuple[int, int] | None = Field(None, description="First and last hour; (22, 2) runs over midnight.")
    categories: tuple[str, ...] = Field((), max_length=50, description="Of the target, any of them.")
    reasons: tuple[Miss, ...] = Field((), description="Why the case is missed, any of them.")
    causes: tuple[str, ...] = Field((), description="Ablations that lose the case, any of them.")
    search: str = Field("", max_length=80, description="In the name of either place or in the category.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.hours is not None and not all(0 <= hour <= 23 for hour in self.hours):
            raise ValueError("hours are between 0 and 23")
        if not set(self.causes) <= set(ABLATIONS):
            raise ValueError(f"causes are some of {', '.join(ABLATIONS)}")
        return self

    @property
    def text(self) -> str:
        """The text that `from_text` reads; empty for a filter without fields."""
        values: dict[str, list[str]] = {}
        values["hours"] = ["-".join(map(str, self.hours))] if self.hours else []
        values |= {name: list(getattr(self, name)) for name in ("categories", "reasons", "causes")}
        values["search"] = [self.search] if self.search else []
        return urlencode(values, doseq=True)

    @classmethod
    def from_text(cls, text: str) -> "CaseFilter":
        """Read the text of a link or of a file; ConfigError for another text or a value out of range."""
        if len(text) > MAX_TEXT:
            raise ConfigError(f"a filter of cases has at most {MAX_TEXT:,} characters, got {len(text):,}")
        values: dict[str, object] = {}
        try:
            given = parse_qs(text, strict_parsing=True) if text else {}
            for name, parts in given.items():
                if name == "hours":
                    first, last = parts[0].split("-")
                    values[name] = (int(first), int(last))
                else:
                    values[name] = parts[0] if name == "search" else tuple(parts)
        except ValueError as error:
            raise ConfigError("a filter of cases looks like hours=17-22&categories=Bar&search=park") from error
        return cls.parse(values)

    def without_truth(self) -> "CaseFilter":
        """The filter without fields that reveal the truth: target, reason and cause."""
        return CaseFilter(hours=self.hours)

    def mask(self, table: pd.DataFrame) -> np.ndarray:
        kept = np.ones(len(table), dtype=bool)
        if self.hours is not None:
            first, last = self.hours
            hour = table[HOUR].to_numpy()
            kept &= (hour >= first) & (hour <= last) if first <= last else (hour >= first) | (hour <= last)
        for name, column in _WORDS.items():
            if getattr(self, name):
                kept &= table[column].isin(getattr(self, name)).to_numpy()
        if self.causes:
            wanted = set(self.causes)
            kept &= np.array([not wanted.isdisjoint(causes) for causes in table[CAUSE_NAMES]], dtype=bool)
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
