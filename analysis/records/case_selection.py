"""A bar or a cell as a short text for links, and its cases.

``step:0:0`` are the cases whose transition occurred 0 times in training, ``step:10:-1`` ten times or more.
``place:10:19`` are those whose target was visited 10 to 19 times. ``cohort:1:0:1`` are the tail cases (at most the last
number) whose target is a known place (1) and is not within two hops (0).
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from analysis.formatting import times
from analysis.records.case_groups import COHORTS, cohort_of_cases
from recap import columns as c
from recap.errors import ConfigError

_FORMS: Final = {
    "step": re.compile(r"step:(\d{1,6}):(-1|\d{1,6})"),
    "place": re.compile(r"place:(\d{1,6}):(-1|\d{1,6})"),
    "cohort": re.compile(r"cohort:([01]):([01]):(\d{1,6})"),
}
_COLUMNS: Final = {c.TRANSITION_COUNT: "step", c.DESTINATION_COUNT: "place"}


@dataclass(frozen=True)
class CaseSelection:
    """Cases of one bar or cell, in the forms of this module."""

    kind: str
    numbers: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> "CaseSelection":
        """Read the text of a link; ConfigError for another form."""
        for kind, form in _FORMS.items():
            match = form.fullmatch(text)
            if match:
                return cls(kind, tuple(int(number) for number in match.groups()))
        raise ConfigError("a selection looks like step:0:0, place:10:19 or cohort:1:0:1")

    @classmethod
    def of_bin(cls, by: str, low: int, high: int) -> "CaseSelection":
        return cls(_COLUMNS[by], (low, high))

    @classmethod
    def of_cohort(cls, known: bool, within_two_hops: bool, eta: int) -> "CaseSelection":
        return cls("cohort", (int(known), int(within_two_hops), eta))

    @property
    def text(self) -> str:
        return ":".join([self.kind, *map(str, self.numbers)])

    @property
    def label(self) -> str:
        if self.kind == "cohort":
            known, near, _ = self.numbers
            place = "known place" if known else "new place"
            return f"Rare, {place}, {'within' if near else 'beyond'} two hops"
        low, high = self.numbers
        what = "Transition seen" if self.kind == "step" else "Place visited"
        if high == 0:
            return "Transition never seen" if self.kind == "step" else "Place never visited"
        often = f"{low} or more times" if high < 0 else times(low) if low == high else f"{low} to {high} times"
        return f"{what} {often}"

    def mask(self, cases: pd.DataFrame) -> np.ndarray:
        """Which of the cases (case table or records) belong to it."""
        if self.kind == "cohort":
            known, near, eta = self.numbers
            return np.asarray(cohort_of_cases(cases, eta) == COHORTS.index((bool(known), bool(near))))
        column = c.TRANSITION_COUNT if self.kind == "step" else c.DESTINATION_COUNT
        count = cases[column].to_numpy(np.int64)
        low, high = self.numbers
        return (count >= low) & ((count <= high) | (high < 0))
