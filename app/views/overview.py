"""Overview: the model beside baselines, the long tail in one picture, three cases worth opening."""

import pandas as pd
import streamlit as st

from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.overview import PANELS, plot_distribution, plot_lollipops
from analysis.formatting import ordinal, percent
from analysis.long_tail import headlines
from analysis.long_tail.accuracy_tables import tail_share
from analysis.long_tail.notable_cases import NotableCase, describe_absent
from analysis.phrases import phrase
from analysis.records.case_filters import filter_labels
from analysis.records.causes import describe_carriers
from app import state
from app.cached import tables
from app.cached.figures import drawn
from app.cached.workspace import kept_causes, model_label, open_workspace
from app.components.card import model_card
from app.components.cases.present_button import present_button
from app.components.chart_table import chart_table
from app.components.empty import no_source
from app.components.error_boundary import error_boundary
from app.components.text import quiet, section
from app.components.toolbar import downloads, metric_control, source_picker
from app.pages import WALK
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text

BADGE_COLOURS = {"history": "violet", "hops": "green", "missed": "gray"}
# The first number of a card whose cause was measured.
REMOVED = {"history": "Without own visits"}


@error_boundary
def view() -> None:
    source = state.current_source()
    if source is None:
        no_source()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        source_picker(source)
        metric = metric_control()
        st.space("stretch")
        facts = st.container(width="content", horizontal=True, vertical_alignment="center")
    opened = open_workspace(source)
    with facts:
        model_card(source)
        data = st.container(width="content")
    if opened.cases.empty:
        st.info("This dataset has no test case, so there is no accuracy to show.")
        return
    title = st.container()
    halves = st.grid(2, min_column_width=380, gap="medium")
    accuracy, long_tail = halves.cell(), halves.cell()
    distribution = tables.distribution(source)
    with long_tail:  # before the accuracies: it needs no model, so it is there at once
        show_distribution(distribution)
    with title:
        groups = tables.by_group(source, metric)
    finding = headlines.overview_finding(groups, metric)
    with title:
        st.title(finding, anchor=False)
        show_model(source)
        quiet(
            f"{opened.dataset.num_users:,} users, {opened.dataset.num_pois:,} places, {len(opened.cases):,} test "
            f"cases. {_caveat(source)}"
        )
    with accuracy:
        section(f"{tables.metric_label(metric)} against baselines")
        panels = st.grid(3, min_column_width=170)
        for group, label in PANELS:
            with panels.cell():
                st.plotly_chart(
                    drawn(plot_lollipops, groups, group=group),
                    theme=None,
                    config=PLOT_CONFIG,
                    key=f"lollipops-{group}",
                    alt=f"{label}: {finding}",
                )
        quiet("Over cases. Tail: the step occurred at most once in training. Brackets: 95 % interval over users.")
        chart_table({"Accuracy": groups}, "lollipops")
    show_notable(source)
    with data:
        downloads({"Accuracy by group": groups, "Sorted step counts": distribution}, source=source, key="overview")


def _caveat(source: Source) -> str:
    """What a reader must know of the source beforehand."""
    if state.takes_over_saying_invented():
        return "This city is invented: nobody in it is real, and its people are more regular than real ones."
    if source.checkpoint_folder is None:
        return "No model was trained on this dataset yet, so a counting baseline predicts; `recap train` makes one."
    return ""


def show_model(source: Source) -> None:
    """Which model this is, and what carries it; nothing for a baseline."""
    if source.checkpoint_folder is None:
        return
    if not source.has_parts:
        st.markdown(markdown_text(f"Shown is {source.variant}: one score for each place, without parts."))
        return
    carriers = tables.carriers(source)
    carried = "What carries it is not measured yet." if carriers is None else describe_carriers(carriers)
    told = f"Shown is {source.variant}. {carried} {tables.curves_finding(source)}"
    st.markdown(markdown_text(told.strip()))


def show_distribution(distribution: pd.DataFrame) -> None:
    """The long tail in one picture."""
    share = tail_share(distribution, 1)
    section(f"{percent(share)} of distinct next steps are tail")
    st.plotly_chart(
        drawn(plot_distribution, distribution),
        theme=None,
        config=PLOT_CONFIG,
        key="distribution",
        alt=f"Training counts of the distinct test steps, most frequent first; {percent(share)} are tail",
    )
    over_cases = tail_share(distribution, 1, "case_share")
    quiet(f"Shares are over distinct steps, {percent(over_cases)} over cases. Square-root scale.")


def show_notable(source: Source) -> None:
    """Three cards that lead to their cases: causes where ablations are there, else coincidences, called so."""
    causes = kept_causes(source) is not None
    cases = tables.notable(source, causes=causes)
    if cases:
        counted = {1: "One case", 2: "Two cases", 3: "Three cases"}[len(cases)]
        section(f"{counted} worth opening")
        cards = st.grid(3, min_column_width=300, border=True)
        for notable in cases:
            with cards.cell():
                show_card(source, notable)
    absent = describe_absent(cases, causes=causes)
    if absent:
        quiet(absent)
    if source.has_parts and not causes:
        quiet("Why these cases are found is not measured yet: the filters of Walk do it.")


def show_card(source: Source, notable: NotableCase) -> None:
    """One notable case: what kind, which places, two ranks and the reason."""
    opened = open_workspace(source)
    case = opened.case(notable.case)
    with st.container(horizontal=True, vertical_alignment="center"):
        label = filter_labels(causes=notable.rank_without is not None) | {"missed": "Still missed"}
        st.markdown(f":{BADGE_COLOURS[notable.kind]}-badge[{label[notable.kind]}]", width="content")
        st.space("stretch")
        if source.has_parts:
            present_button(notable.case, key=f"present-{notable.kind}")
        if st.button(
            "Open", icon=":material/arrow_forward:", icon_position="right", type="tertiary", key=f"open-{notable.kind}"
        ):
            st.switch_page(WALK.path, query_params=state.link_to(source, case=str(notable.case)))
    places = [markdown_text(opened.labels[int(case[name])]) for name in (c.SOURCE, c.TARGET)]
    st.markdown(f"**{places[0]} → {places[1]}**")
    with st.container(horizontal=True):
        if notable.rank_without is None:
            st.metric("Markov", _large(notable.markov_rank), width="content")
        else:
            st.metric(
                REMOVED.get(notable.kind) or phrase("without_two_hops"),
                _large(notable.rank_without),
                width="content",
            )
        st.metric(model_label(source), _large(notable.rank), width="content")
    quiet(markdown_text(notable.reason))


def _large(rank: float) -> str:
    """A rank in large letters, where a tie's two ranks say enough."""
    return ordinal(rank).removeprefix("tied ")


view()
