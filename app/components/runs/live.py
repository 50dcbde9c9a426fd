"""One run: numbers, curves, result, log, polled only while it is active; before there is one, a finished one."""

from collections.abc import Callable

import streamlit as st

from analysis.figures.training_curves import plot_training
from analysis.formatting import duration, share
from analysis.training_progress import CURVES, counter_levels, curve_table, gpu_table, result_table, stage_spans
from app import address, state
from app.cached import run_store
from app.components.chart_table import show_figure
from app.components.runs import words
from app.components.text import choose_one, quiet, section
from app.components.toolbar import figure_buttons
from app.pages import COMPARE, EXPLAIN, OVERVIEW
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap.errors import RecapError
from recap.evaluation.metrics import MetricsByGroup
from recap.machine.printable import count_of, markdown_text
from recap.runs.execution import control
from recap.runs.execution.logs import read_log
from recap.runs.store.description import RunDescription, RunRow, best_epoch, describe_run
from recap.runs.store.files import ACTIVE, MAX_NOTES, RESUMABLE
from recap.runs.store.run_store import RunFolder, RunStore
from recap.training.metrics_file import METRICS_FILE, EpochLine, read_metrics
from recap.training_config import AnyTraining, TrainingSummary

POLL_SECONDS = 1.0
GPU_SECONDS = 2.0
_TELL = """
export default function ({ setTriggerValue }) {
  setTriggerValue('drawn', true);
}
"""
_tell = st.components.v2.component("recap_once_drawn", js=_TELL)


def show_live(store: RunStore, run_id: str) -> None:
    """Draw the run, every second while it is active."""
    run = store.get(run_id)
    seen = _moment(describe_run(run))
    st.fragment(_draw, run_every=POLL_SECONDS if seen[0] in ACTIVE else None)(store, run_id, seen)


def once_drawn(key: str) -> bool:
    """False in the first run; then the browser, which has drawn that run and stopped the timer, asks for a second one.

    `st.switch_page` in the first run can lose a race: Streamlit answers the last tick after the switch, and
    empties the new page.
    """
    return _tell(key=key, on_drawn_change=lambda: None, width=1, height=1).drawn is not None


def show_gpus(store: RunStore, rows: list[RunRow]) -> None:
    """Every GPU of this machine, its load and its runs, refreshed while a run is active."""
    if run_store.gpus():
        active = [row["id"] for row in rows if row["state"] in ACTIVE]
        st.fragment(_draw_gpus, run_every=GPU_SECONDS if active else None)(store, active)


def _draw_gpus(store: RunStore, active: list[str]) -> None:
    gpus = run_store.gpus()
    section(count_of(len(gpus), "GPU"))
    st.dataframe(
        gpu_table(gpus, run_store.leases(store, active)),
        hide_index=True,
        key="run_gpus",
        column_config={
            "gpu": st.column_config.TextColumn("GPU", width=200),
            "use": st.column_config.ProgressColumn("Use", format="percent", color="blue", width=110),
            "memory": st.column_config.ProgressColumn("Memory", format="percent", color="blue", width=110),
            "used": st.column_config.TextColumn("In use", width=140, alignment="right"),
            "runs": st.column_config.TextColumn("Runs", width=100),
        },
    )


def _moment(described: RunDescription) -> tuple[str, int]:
    """State and epoch, on which the heading and the queue depend."""
    return described["state"], described["epoch"]


def _draw(store: RunStore, run_id: str, seen: tuple[str, int]) -> None:
    try:
        run = store.get(run_id)
        described = describe_run(run)
    except RecapError as error:
        st.warning(markdown_text(str(error)))
        return
    if _moment(described) != seen and seen[0] in ACTIVE:
        st.rerun()
    if described["error"]:
        st.warning(markdown_text(described["error"]), icon=":material/info:")
    if described["state"] == "finished":
        show_result(words.model_of(described), run.read_summary())
        _show_better(run)
    elif described["state"] == "running" and not described["metrics"]:
        progress = described["progress"]
        st.progress(min(progress.get("step", 0) / max(progress.get("steps", 1), 1), 1.0), words.BEFORE_FIRST_EPOCH)
    if described["metrics"]:
        _show_numbers(run, described)
        try:
            spec = run.read_spec()
            show_curves(spec.dataset_name, spec.train_config(), described["metrics"], described["reference"])
        except RecapError as error:
            quiet(markdown_text(str(error)))
    with st.expander("Log", icon=":material/notes:", key=f"log_{run_id}"):
        text, _ = read_log(run, lines=40)
        st.code(text or "Nothing written yet.", language=None, height=220)


def show_result(model: str, summary: TrainingSummary) -> None:
    table = result_table(model, summary)
    if len(table):
        quiet(words.RESULT_HELP)
        st.table(table.set_index("Model"), border="horizontal")


def _show_better(run: RunFolder) -> None:
    """Which of the trained model and `pretrained` is better, and the ways to open it."""
    trained = run_store.source_of(run)
    if trained is None:
        return
    better, reason = run_store.better_source(trained)
    if reason:
        st.markdown(markdown_text(reason))
    open_buttons(trained, better)


def _show_numbers(run: RunFolder, described: RunDescription) -> None:
    metrics = described["metrics"]
    best = best_epoch(metrics)
    with st.container(horizontal=True):
        if best is not None:
            st.metric("Best validation HR@20", share(best["val"]["all"]["hr20"] or 0.0), width="content")
        st.metric("Training loss", f"{metrics[-1]['loss']['main']:.2f}", width="content")
        if described["state"] not in ("running", "stopping"):
            st.metric("Training time", duration(run.read_summary().get("seconds")), width="content")


def show_curves(data: str, config: AnyTraining, metrics: list[EpochLine], reference: dict[str, MetricsByGroup]) -> None:
    state.name_data(data)
    tables = {curve: curve_table(metrics, curve) for curve in CURVES}
    levels = {curve: counter_levels(reference, curve) for curve in CURVES}
    # One point is no curve, but next to the counters' lines it says how good the model is.
    drawn = [curve for curve, table in tables.items() if table["epoch"].nunique() > (0 if levels[curve] else 1)]
    if not drawn:
        return
    curve = drawn[0]
    if len(drawn) == 1:
        quiet(CURVES[curve])
    else:
        curve = choose_one("Curve", drawn, key="run_curve", named=CURVES.__getitem__)
    spans, palette = stage_spans(config), state.theme_palette()
    figure = plot_training(tables[curve], spans, config.epochs, palette, levels=levels[curve])
    alt = words.chart_alt(CURVES[curve], metrics[-1]["epoch"], config.epochs, levels[curve])
    show_figure(figure, curve, alt)
    with st.popover("Download", icon=":material/download:", type="tertiary", key="run-data"):
        figure_buttons("run")


def show_example() -> None:
    """Result and curves of the first checkpoint that has them; nothing without one."""
    from recap.checkpoint import TRAINING_FOLDER, Checkpoint  # here, so that a page with runs does not load torch

    for source in find_sources(AppSettings.from_environment()):
        if source.checkpoint_folder is None:
            continue
        try:
            checkpoint = Checkpoint.load(source.checkpoint_folder)
            summary = checkpoint.read_summary()
        except RecapError:
            continue
        metrics = read_metrics(source.checkpoint_folder / TRAINING_FOLDER / METRICS_FILE)
        if metrics:
            section(f"{words.EXAMPLE}: {markdown_text(source.label)}")
            show_result(markdown_text(checkpoint.label), summary)
            show_curves(source.name, checkpoint.manifest.train, metrics, {})
            return


def open_buttons(trained: Source, better: Source) -> None:
    """Buttons from a finished run to its model; Open opens the better of it and `pretrained`."""
    with st.container(horizontal=True):
        for label, page in (("Compare", COMPARE), ("Explain", EXPLAIN), ("Open", OVERVIEW)):
            source = better if page is OVERVIEW else trained
            if st.button(label, icon=":material/arrow_forward:", key=f"run_to_{page.name}"):
                state.choose_source(source.token)
                address.go(page, state.link_to(source))


def show_actions(store: RunStore, run: RunFolder, row: RunRow) -> None:
    with st.container(horizontal=True):
        _act("Stop", ":material/stop:", row["state"] in ("queued", "running"), lambda: control.stop(store, run))
        _act("Resume", ":material/resume:", row["state"] in RESUMABLE, lambda: control.resume(store, run))
        notes = st.text_input(
            "Note",
            value=row["notes"],
            max_chars=MAX_NOTES,
            key=f"notes_{run.id}",
            label_visibility="collapsed",
            placeholder="Note",
        )
    if notes != row["notes"]:
        store.write_notes(run, notes)
        st.rerun()


def _act(label: str, icon: str, possible: bool, act: Callable[[], object]) -> None:
    if st.button(label, icon=icon, disabled=not possible, key=f"run_{label.lower()}"):
        try:
            act()
        except RecapError as error:
            st.session_state["run_refusal"] = str(error)
        st.rerun()
