"""The form of a new run, with its estimate."""

import shutil
from typing import Any

import streamlit as st

from analysis.formatting import byte_size, duration
from app import state
from app.cached import run_store
from app.components.runs import words
from app.components.text import quiet, section
from app.settings import AppSettings
from app.sources import find_sources
from recap.errors import RecapError
from recap.machine.printable import markdown_text
from recap.presets import DEFAULT_PRESET, RECAP_PRESETS, preset_title, training_preset
from recap.published.configs import PUBLISHED
from recap.runs.execution import control
from recap.runs.store.estimates import estimate
from recap.runs.store.files import DeviceRequest, RunSpec
from recap.runs.store.run_store import RunStore
from recap.runs.store.submission import build_specs
from recap.training_config import AnyTraining, TrainConfig

_SEEDS = (1, 2, 3, 4)
DEVICES: tuple[DeviceRequest, ...] = ("auto", "cpu", "cuda")
MAX_EPOCHS = 200
RECAP_EXAMPLE = "optimiser.learning_rate=0.001"
PUBLISHED_EXAMPLE = "dim=32"
"""A field, shown where none is written yet."""


def show_form(store: RunStore) -> None:
    section("New run")
    by_hash = {source.dataset_hash: source for source in find_sources(AppSettings.from_environment())[::-1]}
    if not by_hash:
        st.markdown(words.NO_DATA)
        return
    hashes, opened = list(by_hash)[::-1], state.opened_dataset()
    chosen = st.selectbox(
        "Data",
        hashes,
        index=hashes.index(opened) if opened in hashes else 0,
        format_func=lambda key: by_hash[key].label.split(" · ")[0],
        key="run_data",
    )
    presets = [*RECAP_PRESETS, *PUBLISHED]
    preset = st.selectbox(
        "Model", presets, index=presets.index(DEFAULT_PRESET), format_func=preset_title, key="run_model"
    )
    config = training_preset(preset)
    epochs = st.slider("Epochs", 1, max(MAX_EPOCHS, config.epochs), config.epochs, key=f"run_epochs_{preset}")
    own_hops = hops = hops_of(config)
    if own_hops is not None:
        hops = st.slider("Hops", 1, 5, own_hops, key=f"run_hops_{preset}", help=words.HOPS_HELP)
    seeds = st.pills("Seeds", _SEEDS, selection_mode="multi", default=[1], key="run_seeds")
    with st.expander("More", icon=":material/tune:"):
        quiet(words.FIELDS_HELP)
        example = RECAP_EXAMPLE if isinstance(config, TrainConfig) else PUBLISHED_EXAMPLE
        text = st.text_area("Fields", key="run_fields", placeholder=example, height=80)
        device = st.segmented_control("Device", DEVICES, default="auto", required=True, key="run_device") or "auto"
        slurm = shutil.which("sbatch") is not None and st.toggle("Train with Slurm", key="run_slurm")
    request: dict[str, Any] = {
        "preset": preset,
        "epochs": epochs if epochs != config.epochs else None,
        "seeds": sorted(seeds),
        "overrides": [*([f"model.num_hops={hops}"] if hops != own_hops else []), *_lines(text)],
        "device": device,
        "backend": "slurm" if slurm else "local",
    }
    try:
        specs = run_store.build_specs_of(by_hash[chosen], **request)
    except RecapError as error:
        st.error(markdown_text(str(error)))
        return
    if specs:
        _show_estimate(store, specs)
    label = f"Start {len(specs)} runs" if len(specs) > 1 else "Start"
    if st.button(label, icon=":material/play_arrow:", key="run_start", width="stretch", disabled=not seeds):
        # Check again: the dataset may have changed since the form was drawn.
        runs = control.submit(store, build_specs(by_hash[chosen].dataset_folder, **request))
        st.session_state["run"] = runs[0].id
        st.rerun()


def hops_of(config: AnyTraining) -> int | None:
    """Hops of the graph token; None without a token."""
    return config.model.num_hops if isinstance(config, TrainConfig) and config.model.has_token else None


def _show_estimate(store: RunStore, specs: list[RunSpec]) -> None:
    kind = "cuda" if run_store.gpus() else "cpu"
    guesses = [estimate(store, spec, kind) for spec in specs]
    known = [guess.seconds for guess in guesses if guess.seconds is not None]
    time = duration(sum(known)) if len(known) == len(guesses) else ""
    spread = duration(max((guess.spread_seconds or 0.0) for guess in guesses) * len(guesses))
    most = max(guess.bytes or 0 for guess in guesses)
    sentence = words.estimate(time, spread, byte_size(most) if most else "", guesses[0].basis)
    quiet(sentence if kind == "cuda" else f"{sentence} {words.NO_GPU}")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
