"""The table of all cases of a source, made once for each model and K."""

import pandas as pd
import streamlit as st

from analysis.cases.case_table import case_table
from app.cached import datasets, explanations
from app.cached.ablations import waits_for_causes
from app.cached.keys import BY_DATASET, BY_MODEL
from app.cached.records import read_records
from app.sources import Source
from recap import columns as c


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_MODEL)
def _table(source: Source, k: int, has_causes: bool) -> pd.DataFrame:
    described = explanations.described_misses(source) if has_causes else None
    return case_table(datasets.open_dataset(source), read_records(source), described, k)


def all_cases(source: Source, k: int = 20) -> pd.DataFrame:
    """See `analysis.cases.case_table`; shared by all visitors, so do not change it."""
    read_records(source)  # outside the cache: what takes long is told while it is made
    # Where the cases are many, ablations are not made while somebody waits: the table has no kinds of misses then.
    has_causes = source.has_parts and not waits_for_causes(source)
    return _table(source, k, has_causes)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=BY_DATASET)
def cases_of_any_model(source: Source) -> pd.DataFrame:
    """The same without what hangs on a model: ranks are unknown, there are no reasons and causes."""
    opened = datasets.open_dataset(source)
    return case_table(opened, pd.DataFrame({c.RANK: [float("nan")] * len(opened.cases)}))
