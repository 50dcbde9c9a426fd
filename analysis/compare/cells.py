"""The four cells of two models' hits, their cases, and a cell as a link's text.

``hits:markov:0123456789ab:20:only_b`` are the cases that the second scorer finds within 20 and the first does not.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from analysis.compare.side import Side
from analysis.records.evaluation_records import label_in_sentence
from recap import columns as c
from recap.errors import ConfigError
from recap.evaluation.cases import is_known_place

CELLS: Final = ("both", "only_a", "only_b", "neither")
_SCORER: Final = r"[a-z0-9_.\-]{1,400}"
_FORM: Final = re.compile(rf"hits:({_SCORER}):({_SCORER}):(\d{{1,4}}):({'|'.join(CELLS)})")


@dataclass(frozen=True)
class HitSelection:
    """The cases of a link to a comparison; ``a`` and ``b`` are the sides' keys."""

    a: str
    b: str
    k: int
    cell: str

    @classmethod
    def parse(cls, text: str) -> "HitSelection":
        """Read the text of a link; raises ConfigError for another form."""
        match = _FORM.fullmatch(text)
        if match is None or int(match[3]) < 1:
            raise ConfigError("a choice of compared cases looks like hits:markov:feature_curves:20:only_b")
        return cls(match[1], match[2], int(match[3]), match[4])

    @property
    def text(self) -> str:
        return f"hits:{self.a}:{self.b}:{self.k}:{self.cell}"


def cell_label(cell: str, a: str, b: str) -> str:
    a, b = both_in_sentence(a, b)
    return {
        "both": "Both find it",
        "only_a": f"Only {a} finds it",
        "only_b": f"Only {b} finds it",
        "neither": "Neither finds it",
    }[cell]


def both_in_sentence(a: str, b: str) -> tuple[str, str]:
    """Two models' labels inside a sentence, in full if the short ones are equal.

    >>> both_in_sentence("Visit count", "LoTNext, trained here"), both_in_sentence("RECAP, a", "RECAP, b")
    (('visit count', 'LoTNext'), ('RECAP, a', 'RECAP, b'))
    """
    short = label_in_sentence(a), label_in_sentence(b)
    return (a, b) if short[0] == short[1] else short


def cell_mask(a: Side, b: Side, k: int, cell: str) -> np.ndarray:
    """Which cases belong to a cell; raises ConfigError for an unknown one."""
    if cell not in CELLS:
        raise ConfigError(f"unknown list {cell!r}; choose one of {', '.join(CELLS)}")
    in_a, in_b = a.hits(k), b.hits(k)
    return (in_a == (cell in ("both", "only_a"))) & (in_b == (cell in ("both", "only_b")))


def listed_cases(a: Side, b: Side, mask: np.ndarray) -> pd.DataFrame:
    """The cases of a list, largest change of rank first.

    ``rank_a, rank_b`` are NaN for a truth outside an imported list; the other columns are those of records.
    """
    columns = [c.CASE, c.SOURCE, c.TARGET, c.TRANSITION_COUNT, c.DESTINATION_COUNT]
    table = a.cases[columns].assign(rank_a=a.ranks(), rank_b=b.ranks(), is_known=is_known_place(a.cases))
    table = table.join(a.cases[c.WITHIN_TWO_HOPS])[mask]
    change = (table["rank_a"].fillna(np.inf) - table["rank_b"].fillna(np.inf)).abs().fillna(0.0)
    return table.iloc[np.argsort(-change.to_numpy(), kind="stable")].reset_index(drop=True)
