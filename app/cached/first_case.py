"""The case that Walk and Explain open on."""

import streamlit as st

from analysis.records.evaluation_records import records_key
from analysis.records.first_case import first_case as best_first_case
from app.cached import datasets
from app.cached.ablations import kept_causes
from app.cached.keys import BY_MODEL
from app.cached.records import read_records
from app.sources import Source


@st.cache_data(max_entries=8, show_spinner=False, hash_funcs=BY_MODEL)
def first_case(source: Source) -> int:
    """See `analysis.records.first_case`; from what is kept alone, so that nobody waits for it."""
    is_ranked = records_key(source.dataset_hash, datasets.model_key(source)).is_kept(source.bundle)
    records = read_records(source) if is_ranked and source.imported is None else None
    return best_first_case(datasets.open_dataset(source).cases, records, kept_causes(source))
