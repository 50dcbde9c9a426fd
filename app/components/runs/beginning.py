"""What stands where no run is yet: how to start one, what each preset takes, and which models are there already."""

import pandas as pd
import streamlit as st

from analysis.formatting import byte_size, duration, share
from app import state
from app.cached import run_store
from app.components.chart_table import ticked_row
from app.components.runs.form import PRESETS, hops_of
from app.components.text import quiet, section
from app.pages import OVERVIEW
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap.errors import RecapError
from recap.presets import train_preset
from recap.runs.store.estimates import estimate
from recap.runs.store.run_store import RunStore


def show_beginning(store: RunStore) -> None:
    """Words, the presets with their estimates, and the models on offer."""
    st.markdown(
        "A run trains one model in the background; it goes on when this page, or the whole app, is closed. "
        "Choose data and preset and press *Start*, or on the command line:"
    )
    st.code("recap runs submit DATA --seed 1\nrecap runs list", language=None)
    sources = run_store.datasets(store)
    if sources:
        _show_presets(store, sources[0])
    _show_models()


def _show_presets(store: RunStore, source: Source) -> None:
    kind = "cuda" if run_store.gpus() else "cpu"
    section("What a preset takes")
    rows, basis = [], ""
    for preset in PRESETS:
        config = train_preset(preset)
        try:
            (spec,) = run_store.build_specs_of(source, store.folder, preset=preset)
        except RecapError:
            continue
        guess, hops = estimate(store, spec, kind), hops_of(config)
        basis = guess.basis
        rows.append(
            {
                "Preset": preset,
                "Epochs": f"{config.epochs}",
                state.words().say("form_hops"): "none" if hops is None else f"{hops}",
                "Time": duration(guess.seconds),
                "Memory": byte_size(guess.bytes),
            }
        )
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="run_presets")
    if basis:
        quiet(basis)


def _show_models() -> None:
    """Checkpoints that the app can open, with what they reached on validation; a ticked row opens its Overview."""
    found = [source for source in find_sources(AppSettings.from_environment()) if source.checkpoint_folder is not None]
    if not found:
        return
    section("Models that are here already")
    rows = []
    for source in found:
        kept = run_store.kept_epoch(source)
        epoch, reached = ("–", "–") if kept is None else (f"{kept[0]} of {kept[1]}", share(kept[2]))
        rows.append({"Model": source.label, "Kept epoch": epoch, "Val MRR": reached})
    event = st.dataframe(
        pd.DataFrame(rows), hide_index=True, key="run_models", on_select="rerun", selection_mode="single-row"
    )
    row = ticked_row(event, len(found))
    if row is None:
        quiet("Tick a row to open its model.")
    elif st.button("Open in Overview", icon=":material/arrow_forward:", key="run_model_open"):
        state.choose_source(found[row].token)
        st.switch_page(OVERVIEW.path, query_params=state.link_to(found[row]))
