"""Long tail: accuracy by how often a transition and a place were seen, and what one more hop adds."""

from functools import partial

import streamlit as st

from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.long_tail import (
    COUNT_AXES,
    accuracy_axis,
    plot_accuracy_by_count,
    plot_cohorts,
    plot_hops,
)
from analysis.figures.overview import plot_ablations
from analysis.long_tail import headlines
from analysis.phrases import phrase
from analysis.records.case_selection import CaseSelection
from analysis.records.evaluation_records import MODEL_LABELS
from app import state
from app.cached import tables
from app.cached.figures import drawn
from app.cached.tables import all_cases
from app.cached.workspace import imported_predictions, model_key, model_label, open_workspace
from app.components.case_table import show_case_table
from app.components.chart_table import chart_table
from app.components.empty import no_source
from app.components.error_boundary import error_boundary
from app.components.misses import CASES, MISS_K, show_miss_map, show_misses
from app.components.text import quiet, section
from app.components.toolbar import downloads, legend, metric_control, source_picker
from app.components.walk.open_cases import open_cases
from app.pages import EXPLAIN, WALK
from app.sources import Source
from recap import columns as c
from recap.baselines import BASELINES, COUNTING_BASELINES

NARROW = 380  # half a projector of 960 pixels
OWN = "own"  # the source's model; None as an option would read "Choose an option"


@error_boundary
def view() -> None:
    source = state.current_source()
    if source is None:
        no_source()
        return
    opened = open_workspace(source)
    own = model_key(source)
    with st.container(horizontal=True, vertical_alignment="center"):
        metric = metric_control()
        chosen = st.selectbox(
            "Model",
            [OWN, *(name for name in (*BASELINES, *imported_predictions(source)) if name != own)],
            key="model",
            format_func=lambda name: model_label(source, None if name == OWN else name),
            bind="query-params",
            label_visibility="collapsed",
            width=160,
        )
        model = None if chosen == OWN else chosen
        beside = st.selectbox(
            "Baseline beside it",
            (*COUNTING_BASELINES, *tables.known_imports(source, metric)),
            index=COUNTING_BASELINES.index("markov"),
            key="beside",
            format_func=lambda name: f"with {model_label(source, name)}",
            bind="query-params",
            label_visibility="collapsed",
            width=170,
        )
        with st.popover("More", icon=":material/tune:", type="tertiary", key="long-tail-more"):
            source_picker(source)
        st.space("stretch")
        data = st.container(width="content")
    if opened.cases.empty:
        st.info("This dataset has no test case, so there is no accuracy to show.")
        return
    by_step = tables.by_count(source, model, beside, c.TRANSITION_COUNT, metric)
    by_place = tables.by_count(source, model, beside, c.DESTINATION_COUNT, metric)
    rises = tables.rises(source, model, metric)
    st.title(headlines.long_tail_finding(rises), anchor=False)
    eta = st.slider("Tail means seen at most η times", 0, 9, 1, key="eta", bind="query-params", width=420)
    label = model_label(source, model)
    trends = [headlines.trend_words(row) for row in rises.to_dict(orient="records")[:2]]
    top = accuracy_axis(by_step, by_place)
    halves = st.grid(2, min_column_width=NARROW)
    for table, by, name, trend in (
        (by_step, c.TRANSITION_COUNT, "By step", trends[0]),
        (by_place, c.DESTINATION_COUNT, "By place", trends[1]),
    ):
        figure = drawn(
            plot_accuracy_by_count,
            table,
            metric=metric,
            by=by,
            top=top,
            tail_up_to=eta if by == c.TRANSITION_COUNT else None,
            reference=model_label(source, beside),
            title=f"<b>{name}</b>: {trend}",
        )
        with halves.cell():
            event = st.plotly_chart(
                figure,
                theme=None,
                config=PLOT_CONFIG,
                key=f"bars-{by}",
                on_select="rerun",
                selection_mode="points",
                alt=f"{label}, {name.lower()}: {trend}. {COUNT_AXES[by]}",
            )
        open_selected(source, event)
    bins = {"By step": by_step, "By place": by_place}

    def open_bin(name: str, row: int) -> None:
        chosen = bins[name].iloc[row]
        by = c.TRANSITION_COUNT if name == "By step" else c.DESTINATION_COUNT
        open_cases(source, CaseSelection.of_bin(by, int(chosen["low"]), int(chosen["high"])))

    legend(
        f":blue[■] :gray[{label}, 95 % interval over users]",
        f"**–** :gray[{model_label(source, beside)}]",
        ":gray[Small numbers: cases in the bin. Click a bar, or tick its row in the table, to open its cases.]",
    )
    chart_table(bins, "bars", open_bin)
    show_cohorts(source, model, beside, metric, eta)
    if model is None:
        show_cases(source)
    with data:
        downloads(
            {
                "Accuracy by step count": by_step,
                "Accuracy by place count": by_place,
                "Rises over both": rises,
                "Accuracy by cohort": tables.by_cohort(source, model, "visit_count", metric, eta),
                "Hop sweep": tables.hops(source),
                "Sorted step counts": tables.distribution(source),
                "Evaluation records": tables.flat_records(source, model),
            },
            source=source,
            key="long-tail",
        )


def show_cohorts(source: Source, model: str | None, beside: str, metric: str, eta: int) -> None:
    """Cohorts beside the hop sweep, ablations beside reasons of misses, and the map of misses."""
    cohorts = tables.by_cohort(source, model, "visit_count", metric, eta)
    halves = st.grid(2, min_column_width=NARROW, gap="medium")
    with halves.cell():
        section("Where a tail step leads")
        event = st.plotly_chart(
            drawn(
                plot_cohorts,
                cohorts,
                reference=MODEL_LABELS["visit_count"],
                within=phrase("inside_two_hops"),
                beyond=phrase("beyond_two_hops"),
            ),
            theme=None,
            config=PLOT_CONFIG,
            key="cohorts",
            on_select="rerun",
            selection_mode="points",
            alt=phrase("cohorts_alt"),
        )
        open_selected(source, event, eta)
        quiet(
            f"{tables.metric_label(metric)} over the {int(cohorts['n'].sum()):,} tail cases. Cells say where the true "
            "place lies, not what found it. "
            "Click a cell, or tick its row in the table, to open its cases."
        )

        def open_cohort(_: str, row: int) -> None:
            chosen = cohorts.iloc[row]
            reach = bool(chosen[c.IN_HISTORY]), bool(chosen[c.WITHIN_TWO_HOPS])
            open_cases(source, CaseSelection.of_cohort(*reach, eta))

        chart_table({"Cohorts": cohorts}, "cohorts", open_cohort)
    with halves.cell():
        section(phrase("hops_title"))
        hops = tables.hops(source)
        st.plotly_chart(
            drawn(plot_hops, hops, axis=phrase("hops_axis")),
            theme=None,
            config=PLOT_CONFIG,
            key="hops",
            alt=phrase("hops_alt"),
        )
        quiet(headlines.hop_finding(hops))
        quiet(headlines.lift_finding(tables.lift(source)))
        chart_table({"Hops": hops}, "hops")
    ablations = tables.ablations(source, metric)
    if ablations is not None:
        ablations = ablations.assign(name=[str(name) for name in ablations["name"]])
        with halves.cell():
            section(headlines.ablation_finding(ablations))
            st.plotly_chart(
                drawn(plot_ablations, ablations, metric_label=tables.metric_label(metric)),
                theme=None,
                config=PLOT_CONFIG,
                key="ablations",
                alt=f"Drop in {tables.metric_label(metric)} without each part of the model",
            )
        quiet(
            f"The bundled model trained again without one part, over all {int(ablations['n'].iloc[0]):,} cases; "
            "95 % interval over users. Left of the line the model does better without it."
        )
    worth = tables.worth(source) if model is None else None
    if worth is not None:
        with halves.cell():
            section("What each feature group is worth")
            shown = worth.rename(columns={"mrr": "drop", "mrr_low": "lower", "mrr_high": "upper"})
            shown["name"] = worth["label"]
            st.plotly_chart(
                drawn(plot_ablations, shown, metric_label="MRR"),
                theme=None,
                config=PLOT_CONFIG,
                key="worth",
                alt="Drop in MRR without each feature group",
            )
            quiet("Every case scored again without the group; 95 % interval over users. Groups overlap.")
            chart_table({"Worth": worth}, "worth")
    if model is None:
        with halves.cell():
            show_misses(source)
    with halves.cell():
        show_miss_map(source, model)


def show_cases(source: Source) -> None:
    """Every test case, to filter, sort and open."""
    section("Cases")
    k = st.session_state.get(MISS_K) or 20
    show_truth = st.query_params.get("truth") != "false"
    buttons = partial(open_buttons, source)
    show_case_table(all_cases(source, k), key=CASES, open_case=buttons, show_truth=show_truth, in_link=True)


def open_buttons(source: Source, case: int) -> None:
    """Open one case where it can be looked into."""
    for page in (WALK, EXPLAIN):
        if st.button(f"Open in {page.title}", icon=":material/arrow_forward:", key=f"cases_to_{page.name}"):
            hidden = {"truth": "false"} if st.query_params.get("truth") == "false" else {}
            st.switch_page(page.path, query_params=state.link_to(source, case=str(case), **hidden))


def open_selected(source: Source, event: dict, eta: int = 1) -> None:
    """Go to Walk with the cases of a clicked bar or cell."""
    points = event["selection"]["points"] if event else []
    data = next((point["customdata"] for point in points if point.get("customdata")), None)
    if data is None:
        return
    open_cases(
        source, CaseSelection.of_bin(*data) if len(data) == 3 else CaseSelection.of_cohort(data[0], data[1], eta)
    )


view()
