"""The cases that Walk's pills leave."""

import numpy as np
import streamlit as st

from analysis.records.accuracy import is_known, shortest_list
from analysis.records.case_filters import CAUSES, RANKED, cases_of_steps, filter_cases
from app.cached import datasets
from app.cached.records import read_records
from app.cached.removals import read_removals, waits_for_causes
from app.sources import Source


def cases_that_show(source: Source, shown: list[str], k: int) -> np.ndarray:
    """Numbers of the cases that pass every pill."""
    opened = datasets.open_dataset(source)
    if not set(shown) & RANKED:  # how often a step was seen needs no model
        return cases_of_steps(opened.cases, shown) if shown else datasets.all_cases(source)
    records, markov = read_records(source), read_records(source, "markov")
    if not is_known(records, f"hr{k}"):
        st.warning(
            f"Missed and found are not known within {k}: the shortest imported list holds "
            f"{shortest_list(records)} places. Choose a smaller rank in More, or no such filter."
        )
        return datasets.all_cases(source)[:0]
    needs_causes = set(shown) & set(CAUSES) and not waits_for_causes(source)
    return filter_cases(records, markov, shown, k=k, removals=read_removals(source) if needs_causes else None)
