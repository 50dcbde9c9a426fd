"""What stands over figures of a draw of the test cases: of how many, how sure, and how far the rest is."""

from typing import Final

import pandas as pd
import streamlit as st

from analysis.formatting import duration
from analysis.records.accuracy import METRIC_LABELS
from analysis.records.growing_records import DrawnRecords
from app.cached import reading, refining
from app.cached.refining import Growing
from app.components.text import quiet
from app.settings import AppSettings
from app.sources import Source
from recap.printable import markdown_text

POLL_SECONDS: Final = 2.0
PATIENCE_S: Final = 2.0
"""How long a first view waits for the first draw before it shows that there is none yet."""


def current_draws(source: Source) -> Growing | None:
    """The source's draws where it is shown by draws; None where all cases are, as they always are in small data."""
    if not refining.is_refined(source):
        return None
    draws = refining.refine(source)
    draws.wait_for_draw(PATIENCE_S)
    return draws


def show_progress(draws: Growing, source: Source, shown: DrawnRecords | None) -> None:
    """How far the ranking is; the page is drawn anew when there is a larger draw, and looks no more once all are in.

    Args:
        shown: the draw that the page is made of.
    """
    failure = draws.failure
    with st.container():
        watch = st.fragment(_watch, run_every=None if failure else POLL_SECONDS)
        watch(draws, source, (0 if shown is None else shown.num_drawn, failure))


def show_reading(source: Source) -> None:
    """What is known of a large dataset before it is read; the page is drawn anew when it is."""
    checkins, places = reading.size_of(source)
    st.title(f"{checkins:,} check-ins at {places:,} places are being read", anchor=False)
    st.markdown("Accuracies of a first draw of test cases follow; this page shows them by itself.")
    st.fragment(_await_reading, run_every=POLL_SECONDS)(source)


def _await_reading(source: Source) -> None:
    if reading.is_read(source):
        st.rerun()
    st.progress(0.0, "Reading the dataset")


def draw_sentence(draw: DrawnRecords, groups: pd.DataFrame, metric: str) -> str:
    """Of how many cases the figures are, and how sure the model's is."""
    mine = groups[groups["group"] == "all"].iloc[0]
    return (
        f"From {draw.num_drawn:,} of {draw.num_cases:,} test cases, drawn at random: {METRIC_LABELS[metric]} "
        f"{mine['value']:.3f}, 95 % interval {mine['lower']:.3f} to {mine['upper']:.3f}."
    )


def _moment(draws: Growing) -> tuple[int, str]:
    return 0 if draws.latest is None else draws.latest.num_drawn, draws.failure


def _watch(draws: Growing, source: Source, seen: tuple[int, str]) -> None:
    if _moment(draws) != seen:
        st.rerun()
    if draws.failure:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(f"Ranking further cases stopped: {markdown_text(draws.failure)}. The figures stay as they are.")
            st.button("Try again", key="refine-again", on_click=_again, args=(draws, source))
    elif not draws.is_whole:
        st.progress(draws.share, progress_words(draws.share, draws.num_cases, draws.seconds_left))
        if AppSettings.from_environment().read_only:
            quiet("Nothing is kept: the next start ranks them again. `recap evaluate` keeps them.")


def progress_words(share: float, num_cases: int, seconds_left: float | None) -> str:
    """What the bar says.

    >>> progress_words(0.25, 1000, 300.0)
    '250 of 1,000 test cases ranked, about 5 min left; the figures follow'
    """
    if num_cases == 0:
        return "Opening the models"
    left = "" if seconds_left is None else f", about {duration(seconds_left)} left"
    return f"{int(share * num_cases):,} of {num_cases:,} test cases ranked{left}; the figures follow"


def _again(draws: Growing, source: Source) -> None:
    draws.forget_failure()
    refining.refine(source)
