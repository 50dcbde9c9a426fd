"""Does it hold?: how much of the margin is exact, a measured stamp for each row, and how the chosen row was checked."""

from typing import Final

import pandas as pd
import streamlit as st

from analysis.explain.checks import CaseChecks
from analysis.explain.explanation import FullExplanation
from analysis.explain.placebo import NUM_PLACEBOS
from analysis.explain.row_checks import describe_people, describe_placebos, describe_seeds
from analysis.explain.stamp_table import path_lines, shown_first, stamp_finding, stamp_lines
from analysis.explain.stamps import RowStamp
from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.exact_share import plot_exact_share
from analysis.figures.row_checks import describe_seed_chart, plot_placebos, plot_seeds
from analysis.formatting import percent
from analysis.records.score_rows import ROW_LABELS
from app import state
from app.cached import explanations
from app.cached.checking import Checking
from app.cached.figures import drawn
from app.components.text import quiet, section
from app.sources import Source
from recap.printable import markdown_text

POLL_SECONDS: Final = 1.0
_TABLE, _CHOSEN = "stamps", "checked_row"


def show_checks(source: Source, shown: FullExplanation) -> None:
    """The checks of what is shown; among many places they come when they are ready, and the page is not held."""
    if not explanations.takes_long_to_check(source):
        with st.spinner("Checking what holds"):
            show_stamps(shown, explanations.check(source, shown))
        return
    checking = explanations.checking(source, shown)
    if checking.checks is not None:
        show_stamps(shown, checking.checks)
        return
    section("Does it hold?", help=state.words().say("holds_help"))
    if checking.failure:
        st.warning(f"The checks failed: {markdown_text(checking.failure)}")
        return
    st.fragment(_watch, run_every=POLL_SECONDS)(checking, shown.num_places)


def _watch(checking: Checking, num_places: int) -> None:
    """How far the checks are; the page is drawn anew when they are made."""
    if checking.is_over:
        st.rerun()
    st.progress(checking.share, f"Checking every row against {NUM_PLACEBOS} placebos among {num_places:,} places")


def show_stamps(shown: FullExplanation, checks: CaseChecks) -> None:
    """The bar, the finding that the stamps hold, the table, and the checks of one row."""
    words = state.words()
    section("Does it hold?", help=words.say("holds_help"))
    share = percent(checks.exact_share)
    renamed = {label: words.row(key, label) for key, label in ROW_LABELS.items()}
    finding = stamp_finding(checks)
    for label, name in renamed.items():
        finding = finding.replace(f"hold: {label},", f"hold: {name},")
    st.plotly_chart(
        drawn(plot_exact_share, checks.exact_share),
        theme=None,
        config=PLOT_CONFIG,
        key="exact-share",
        alt=f"Explained exactly: {share} of the margin; the rest is opaque network",
    )
    quiet(f"Of the margin to {markdown_text(shown.contrast.b.name)}, signs aside. {words.sentence(finding)}")
    names = [path.name for path in shown.path_evidence]
    lines = stamp_lines(checks, shown.target_rank, names)
    table = pd.DataFrame(
        [
            (renamed.get(line.label, line.label), line.points, line.rank, [words.sentence(chip) for chip in line.chips])
            for line in lines
        ],
        columns=["Row", "Over mean", "Rank without", "Does it hold?"],
    )
    options = sorted({words.sentence(chip) for line in lines for chip in line.chips})
    rows = [stamp.row for stamp in checks.stamps]
    st.dataframe(
        table,
        hide_index=True,
        key=_TABLE,
        height="content",
        on_select=lambda: _choose(rows),
        selection_mode="single-row",
        column_config={
            "Row": st.column_config.TextColumn(width=185),
            "Over mean": st.column_config.TextColumn(width=85, alignment="right"),
            "Rank without": st.column_config.TextColumn(width=110, alignment="right"),
            # Wide enough for a verdict and its reason: a cut chip would hide the low half of a mixed result.
            "Does it hold?": st.column_config.MultiselectColumn(width=390, options=options, color="gray"),
        },
    )
    quiet(
        words.sentence("● holds in all seeds, beyond the placebos, more than one person's trips. ◐ partly. ○ not. ")
        + "Over mean: points less the mean over all places, so not those of the chart above. Ranks: with the row's "
        "evidence taken away for all places; own visits with their hours."
    )
    with st.container(border=True):
        _how_it_was_checked(checks, names)


def _choose(rows: list[str]) -> None:
    """A ticked row is chosen; path lines belong to the two hops and choose nothing."""
    ticked = st.session_state[_TABLE]["selection"]["rows"]
    if ticked and ticked[0] < len(rows):
        st.session_state[_CHOSEN] = rows[ticked[0]]


def _how_it_was_checked(checks: CaseChecks, path_names: list[str]) -> None:
    """Seeds, placebos and people of one row."""
    by_row = {stamp.row: stamp for stamp in checks.stamps}
    if st.session_state.get(_CHOSEN) not in by_row:
        st.session_state[_CHOSEN] = shown_first(checks)
    chosen = st.selectbox(
        "How it was checked",
        list(by_row),
        key=_CHOSEN,
        format_func=lambda row: state.words().row(row, by_row[row].label),
        width=260,
        help="A row of the table above; ticking it there chooses it too.",
    )
    stamp = by_row[chosen]
    parts = st.grid(3, min_column_width=230)
    with parts.cell():
        _seeds(stamp)
    with parts.cell():
        _placebos(stamp)
    with parts.cell():
        st.markdown("**People** whose trips these are")
        st.markdown(describe_people(stamp))
        lines = path_lines(checks, stamp.row, path_names)
        if lines:
            st.dataframe(pd.DataFrame(lines, columns=["Through", "Whose"]), hide_index=True, key="path-people")


def _seeds(stamp: RowStamp) -> None:
    words = state.words()
    st.markdown(words.say("checked_seeds"))
    if stamp.seed_checks:
        st.plotly_chart(
            drawn(plot_seeds, stamp),
            theme=None,
            config=PLOT_CONFIG,
            key="seed-checks",
            alt=words.sentence(describe_seed_chart(stamp)),
        )
    quiet(words.sentence(describe_seeds(stamp)))


def _placebos(stamp: RowStamp) -> None:
    words = state.words()
    st.markdown(words.say("checked_placebos"))
    if stamp.placebo is not None and stamp.verdict != "no_points":
        st.plotly_chart(
            drawn(plot_placebos, stamp),
            theme=None,
            config=PLOT_CONFIG,
            key="placebo-checks",
            alt=words.sentence(describe_placebos(stamp)),
        )
    quiet(words.sentence(describe_placebos(stamp)))
