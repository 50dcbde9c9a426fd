"""The table of all cases of a source, made once for each model and K."""

import pandas as pd
import streamlit as st

from analysis.cases.case_table import case_table
from app.cached import datasets, explanations
from app.cached.keys import BY_DATASET, BY_MODEL
from app.cached.records import read_records
from app.sources import Source
from recap import columns as c


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_MODEL)
def _table(source: Source, k: int) -> pd.DataFrame:
    described = None if not source.has_parts else explanations.described_misses(source)
    return case_table(datasets.open_dataset(source), read_records(source), described, k)


def all_cases(source: Source, k: int = 20) -> pd.DataFrame:
    """See `analysis.cases.case_table`; shared by all visitors, so do not change it."""
    read_records(source)  # outside the cache: what takes long is told while it is made
    return _table(source, k)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_DATASET)
def cases_of_any_model(source: Source) -> pd.DataFrame:
    """The same without what hangs on a model: ranks are unknown, there are no reasons and causes."""
    opened = datasets.open_dataset(source)
    return case_table(opened, pd.DataFrame({c.RANK: [float("nan")] * len(opened.cases)}))
