"""The table of all cases of a source, made once for each model and K."""

import pandas as pd
import streamlit as st

from analysis.cases.case_table import case_table
from app.cached import datasets, explanations
from app.cached.keys import BY_MODEL
from app.cached.records import read_records
from app.sources import Source


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_MODEL)
def _table(source: Source, k: int) -> pd.DataFrame:
    described = None if not source.has_parts else explanations.described_misses(source)
    return case_table(datasets.open_dataset(source), read_records(source), described, k)


def all_cases(source: Source, k: int = 20) -> pd.DataFrame:
    """See `analysis.cases.case_table`; shared by all visitors, so do not change it."""
    read_records(source)  # outside the cache: what takes long is told while it is made
    return _table(source, k)
