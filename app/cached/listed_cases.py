"""What a list of cases shows of a table, made once for all visitors: the readable rows and the choices."""

from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from analysis.cases.case_filter import CaseFilter, hide_truth
from analysis.cases.case_table import CAUSES, REASON
from analysis.formatting import user_name
from analysis.glossary import TERMS
from analysis.long_tail.misses import MISS_LABELS
from analysis.records.ablations import ABLATION_LABELS
from app.cached.figures import as_sent
from app.cached.keys import HashFuncs
from app.cached.per_object import PerObject
from recap import columns as c

_numbers = count()
BY_OBJECT: Final[HashFuncs] = {
    pd.DataFrame: PerObject(lambda table: next(_numbers)),
}
"""A table of 25,000 cases takes longer to hash than to filter, so two tables of the same content count as two."""

known_before: Final = PerObject(hide_truth)
"""See `analysis.cases.case_filter.hide_truth`."""


@dataclass(frozen=True)
class ListedCases:
    """The rows that pass a filter.

    Attributes:
        cases: their cases, in the order of the rows.
        rows: the rows in words, as they are sent.
    """

    cases: np.ndarray
    rows: pa.Table | pd.DataFrame


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=BY_OBJECT)
def list_cases(table: pd.DataFrame, chosen: str, columns: tuple[str, ...]) -> ListedCases:
    """Filter a table of `analysis.cases.case_table` and put it into words.

    Args:
        chosen: text of the filter; for a table of `known_before` without what it says of the truth.
        columns: which are shown after the case, as far as they are there and hold something.
    """
    shown = table[CaseFilter.from_text(chosen).mask(table)]
    return ListedCases(shown[c.CASE].to_numpy(), as_sent(_readable(shown, columns)))


def _readable(shown: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """The table in words; words as categories, which are a tenth of the text to send."""
    known = [name for name in dict.fromkeys([c.CASE, *columns]) if name in shown]
    readable = shown[[name for name in known if name not in (REASON, CAUSES) or shown[name].map(bool).any()]].copy()
    if REASON in readable:
        readable[REASON] = shown[REASON].map({name: TERMS[name].word for name in MISS_LABELS}).fillna("")
    if CAUSES in readable:
        names = ABLATION_LABELS
        readable[CAUSES] = [", ".join(names[source] for source in found) for found in shown[CAUSES]]
    if c.USER in readable:
        readable[c.USER] = shown[c.USER].map(user_name)
    in_words = [name for name in readable if not pd.api.types.is_numeric_dtype(readable[name])]
    return readable.astype(dict.fromkeys(in_words, "category"))


def _options(table: pd.DataFrame) -> dict[str, list[str]]:
    reasons, causes = set(table[REASON]), {cause for found in table[CAUSES] for cause in found}
    return {
        "categories": sorted(set(table[c.CATEGORY])),
        "reasons": [name for name in MISS_LABELS if name in reasons],
        "causes": [name for name in ABLATION_LABELS if name in causes],
    }


options_of: Final = PerObject(_options)
"""What a table's categories, reasons and causes can be filtered by."""
