"""Runs beside each other: curves on one axis, options and results, the cases that changed sides, whole sweeps."""

from typing import Final

import pandas as pd
import streamlit as st

from analysis.figures.charts import PLOT_CONFIG
from analysis.figures.run_comparison import REACHED, plot_overlay, plot_sweep, sweep_table
from analysis.formatting import share
from analysis.training_progress import CURVES, Curve, curve_table
from app import state
from app.cached import datasets, run_store
from app.components.chart_table import ticked_row
from app.components.text import quiet, section
from app.pages import EXPLAIN, WALK
from recap import columns as c
from recap.errors import RecapError
from recap.printable import markdown_text
from recap.runs.store.comparison import changed_cases, compare_runs
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.run_store import RunStore
from recap.runs.store.types import RunComparison, RunRow

LEAST_SWEEP: Final = 3
"""Runs that make a sweep; two are a comparison."""
_CHANGES_HEIGHT: Final = 430
_HALF: Final = 380


def show_comparison(store: RunStore, rows: list[RunRow], run: RunFolder, row: RunRow) -> None:
    """The run beside others, and the cases that changed sides against the first of them."""
    section("Beside other runs")
    others = [other["id"] for other in rows if other["id"] != run.id]
    default = [row["parent"]] if row["parent"] in others else []
    chosen = st.multiselect("Compare with", others, default=default, format_func=lambda name: f"Run {name}")
    if not chosen:
        return
    runs = [run, *(store.get(name) for name in chosen)]
    halves = st.grid(2, min_column_width=_HALF)
    with halves.cell():
        _show_curves(runs)
        _show_table(compare_runs(runs))
    if row["state"] == "finished":
        with halves.cell():
            _show_changes(run, runs[1])


def show_sweep(store: RunStore, rows: list[RunRow], run: RunFolder) -> None:
    """All runs of the same data that differ in options, as parallel coordinates; empty for fewer than three."""
    measured = [row["id"] for row in rows if row["best"] is not None]
    try:
        spec = run.read_spec()
        runs = [other for other in map(store.get, measured) if other.read_spec().dataset_hash == spec.dataset_hash]
        compared = compare_runs(runs) if len(runs) >= LEAST_SWEEP else None
    except RecapError as error:
        quiet(markdown_text(str(error)))
        return
    if compared is None or not compared["differing"]:
        return
    table = sweep_table(compared)
    section(f"What {len(runs)} runs on these data reached")
    st.plotly_chart(
        plot_sweep(table, palette=state.theme_palette(), option_words=state.words().option),
        theme=None,
        config=PLOT_CONFIG,
        key="run_sweep",
        alt="Parallel coordinates: one line a run, one axis an option, the last axes what it reached; see the table",
    )
    quiet("One line a run, darker where it reached more. Drag along an axis to keep the runs that cross it there.")
    with st.popover("Table", icon=":material/table_rows:", type="tertiary", key="run_sweep_twin"):
        named = {name: state.words().option(name) for name in table.columns if name not in REACHED}
        st.dataframe(table.rename(columns=REACHED | named), hide_index=True)


def _show_curves(runs: list[RunFolder]) -> None:
    """The curve chosen above, over all validation cases, of every run."""
    chosen: Curve | None = st.session_state.get("run_curve")
    curve = chosen or "hr20"
    curves = {}
    for run in runs:
        table = curve_table(run.read_metrics(), curve)
        curves[f"Run {run.id}"] = table[table["series"] == table["series"].iloc[0]] if len(table) else table
    if not any(len(table) for table in curves.values()):
        return
    st.plotly_chart(
        plot_overlay(curves, label=CURVES[curve], palette=state.theme_palette()),
        theme=None,
        config=PLOT_CONFIG,
        key="run_overlay",
        alt=f"{CURVES[curve]} by epoch: " + ", ".join(curves),
    )


def _show_table(compared: RunComparison) -> None:
    columns = {}
    for entry in compared["runs"]:
        best = (entry["val"] or {}).get("all") or {}
        test = (entry["test"] or {}).get("all") or {}
        tail = (entry["test"] or {}).get("tail") or {}
        facts = {state.words().option(name): str(entry["fields"][name]) for name in compared["differing"]}
        facts |= {"best val HR@20": _number(best.get("hr20")), "test HR@20": _number(test.get("hr20"))}
        facts |= {"test HR@20, tail": _number(tail.get("hr20")), "test MRR": _number(test.get("mrr"))}
        columns[f"Run {entry['id']}"] = facts
    st.dataframe(pd.DataFrame(columns), width="stretch")


def _show_changes(run: RunFolder, other: RunFolder) -> None:
    """The cases that changed sides; a ticked row opens its case with this run's model."""
    try:
        changed = changed_cases(run, other)
    except RecapError as error:
        quiet(markdown_text(str(error)))
        return
    counts = changed["change"].value_counts()
    right, wrong = int(counts.get("newly right", 0)), int(counts.get("newly wrong", 0))
    section(f"{right} cases newly right, {wrong} newly wrong against run {other.id}")
    source = run_store.source_of(run)
    shown = changed
    if source is not None:
        labels = pd.Series(datasets.open_dataset(source).labels)
        shown = changed.assign(**{name: labels.iloc[changed[name]].to_numpy() for name in (c.SOURCE, c.TARGET)})
    event = st.dataframe(
        shown,
        hide_index=True,
        height=_CHANGES_HEIGHT,
        key=f"run_changes_{run.id}_{other.id}",
        on_select="rerun",
        selection_mode="single-row",
        column_order=[c.CASE, c.RANK, "rank_before", c.SOURCE, c.TARGET, "change", c.TRANSITION_COUNT],
        column_config={
            c.CASE: st.column_config.NumberColumn("Case", format="%d", width=52),
            c.RANK: st.column_config.NumberColumn(f"Rank, run {run.id}", format="%g", width=86),
            "rank_before": st.column_config.NumberColumn(f"Rank, run {other.id}", format="%g", width=86),
            c.SOURCE: st.column_config.TextColumn("From", width=134),
            c.TARGET: st.column_config.TextColumn("To", width=134),
            "change": st.column_config.TextColumn("Change", width=95),
            c.TRANSITION_COUNT: st.column_config.NumberColumn("Step seen", width=80),
        },
    )
    row = ticked_row(event, len(changed))
    with st.container(horizontal=True, vertical_alignment="center"):
        if row is None or source is None:
            where = "Tick a row to open its case." if source is not None else "Its model is not on offer here any more."
            quiet(f"Right means among the first 20 places. {where}")
            return
        for page in (WALK, EXPLAIN):
            if st.button(f"This case in {page.title}", icon=":material/arrow_forward:", key=f"run_case_{page.name}"):
                state.choose_source(source.token)
                case = str(changed[c.CASE].iloc[row])
                st.switch_page(page.path, query_params=state.link_to(source, case=case))


def _number(value: float | None) -> str:
    return "–" if value is None else share(value)
