"""The form of a new run, with its estimate; the server checks it as the command line does."""

import shutil
from typing import TypedDict

import streamlit as st

from analysis.formatting import byte_size, duration
from app import state
from app.cached import run_store
from app.components.text import quiet, section
from app.sources import Source
from recap.errors import RecapError
from recap.presets import DEFAULT_PRESET, training_preset
from recap.printable import markdown_text
from recap.rivals.configs import RECAP, RIVALS, model_title
from recap.runs.execution import control
from recap.runs.store.estimates import Estimate, estimate
from recap.runs.store.run_store import RunStore
from recap.runs.store.spec import MAX_NOTES, Backend, DeviceRequest, RunSpec, RunSpecValues
from recap.runs.store.submission import build_specs
from recap.training_config import AnyTraining, TrainConfig

PRESETS = (DEFAULT_PRESET, "quick", "nyc", "tiny")
"""Of RECAP: the recommended one, the paper's parts at half the width, the paper's own, and seconds for a first try."""
SEEDS = (1, 2, 3, 4)
DEVICES: tuple[DeviceRequest, ...] = ("auto", "cpu", "cuda")
MAX_EPOCHS = 200
RECAP_EXAMPLES = ("optimiser.learning_rate=0.001", "batch_size=128,256")
RIVAL_EXAMPLES = ("dim=32", "dim=16,32")
"""A field and an axis of a grid, shown where none is written yet."""


class _Request(TypedDict):
    """What `build_specs` is asked for."""

    preset: str
    epochs: int | None
    seeds: list[int]
    overrides: list[str]
    grid: list[str]
    snapshots: bool
    device: DeviceRequest
    backend: Backend
    notes: str
    parent: str | None


def show_form(store: RunStore) -> None:
    """Ask what to train; empty where there is no dataset."""
    section("New run")
    sources = run_store.datasets(store)
    if not sources:
        st.markdown("There is no dataset yet. Make one with `recap prepare`.")
        return
    _take_over_duplicate(sources)
    by_hash = {source.dataset_hash: source for source in sources}
    chosen = st.selectbox(
        "Data", list(by_hash), format_func=lambda key: by_hash[key].label.split(" · ")[0], key="run_data"
    )
    preset = _model()
    config = training_preset(preset)
    epochs = st.slider("Epochs", 1, max(MAX_EPOCHS, config.epochs), config.epochs, key=f"run_epochs_{preset}")
    own_hops = hops = hops_of(config)
    if own_hops is not None:
        hops = st.slider(state.words().say("form_hops"), 1, 5, own_hops, key=f"run_hops_{preset}")
    numbers = sorted({*SEEDS, *(st.session_state.get("run_seeds") or ())})
    seeds = st.pills(state.words().say("form_seeds"), numbers, selection_mode="multi", default=[1], key="run_seeds")
    with st.expander("Curriculum and optimiser", icon=":material/tune:"):
        quiet("One `field=value` a line, as `--set` takes them; the stages keep their share of another length.")
        field, axis = RECAP_EXAMPLES if isinstance(config, TrainConfig) else RIVAL_EXAMPLES
        text = st.text_area("Fields", key="run_fields", placeholder=field, height=80)
        grid = st.text_area("Grid", key="run_grid", placeholder=axis, height=68)
        snapshots = isinstance(config, TrainConfig) and st.toggle(
            "Keep every epoch's ranks (time machine)", key="run_snapshots"
        )
        device = st.segmented_control("Device", DEVICES, default="auto", required=True, key="run_device") or "auto"
        slurm = shutil.which("sbatch") is not None and st.toggle("Hand it to Slurm", key="run_slurm")
    notes = st.text_input("Note", key="run_notes", max_chars=MAX_NOTES)
    parent = _parent(store)
    request: _Request = {
        "preset": preset,
        "epochs": epochs if epochs != config.epochs else None,
        "seeds": sorted(seeds),
        "overrides": [*([f"model.num_hops={hops}"] if hops != own_hops else []), *_lines(text)],
        "grid": _lines(grid),
        "snapshots": snapshots,
        "device": device,
        "backend": "slurm" if slurm else "local",
        "notes": notes,
        "parent": parent,
    }
    try:
        specs = run_store.build_specs_of(by_hash[chosen], store.folder, **request)
    except RecapError as error:
        st.error(markdown_text(str(error)))
        return
    _show_estimate(store, specs)
    label = f"Start {len(specs)} runs" if len(specs) > 1 else "Start the run"
    if st.button(label, icon=":material/play_arrow:", key="run_start", width="stretch", disabled=not seeds):
        # The dataset may have changed since the form was drawn: what is queued is checked now.
        runs = control.submit(store, build_specs(by_hash[chosen].dataset_folder, store=store, **request))
        st.session_state["run"] = runs[0].id
        st.session_state["run_parent_done"] = True
        st.rerun()


def hops_of(config: AnyTraining) -> int | None:
    """The longest path that the graph token follows; none where the model has no token."""
    return config.model.num_hops if isinstance(config, TrainConfig) and config.model.use_graph else None


def _model() -> str:
    """The preset of what to train: RECAP's by its size, a published rival's by its name."""
    model = st.selectbox("Model", [RECAP, *RIVALS], format_func=model_title, key="run_model")
    if model != RECAP:
        quiet("A published system, with its published values.")
        return model
    presets = list(dict.fromkeys([*PRESETS, st.session_state.get("run_preset") or DEFAULT_PRESET]))
    chosen = st.segmented_control("Preset", presets, default=DEFAULT_PRESET, required=True, key="run_preset")
    return chosen or DEFAULT_PRESET


def _show_estimate(store: RunStore, specs: list[RunSpec]) -> None:
    kind = "cuda" if run_store.gpus() else "cpu"
    guesses: list[Estimate] = [estimate(store, spec, kind) for spec in specs]
    known = [guess.seconds for guess in guesses if guess.seconds is not None]
    total = sum(known) if len(known) == len(guesses) else None
    with st.container(horizontal=True):
        st.metric("Time" if len(specs) == 1 else f"Time, all {len(specs)} runs", duration(total))
        st.metric("GPU memory" if kind == "cuda" else "Memory", byte_size(max(g.bytes or 0 for g in guesses) or None))
    spread = max((guess.spread_seconds or 0.0) for guess in guesses) * len(guesses)
    basis = guesses[0].basis + (f" ± {duration(spread)}." if total else "")
    quiet(basis if kind == "cuda" else f"{basis} This machine has no GPU; runs go to the CPU.")


def _parent(store: RunStore) -> str | None:
    """The run that the new one varies; it need not be kept."""
    numbers = [run.id for run in store.runs()]
    if st.session_state.pop("run_parent_done", False) or st.session_state.get("run_parent") not in numbers:
        st.session_state["run_parent"] = None
    if not numbers:
        return None
    return st.selectbox(
        "Varies run",
        numbers[::-1],
        index=None,
        key="run_parent",
        placeholder="None",
        help="When both have finished, the cases that changed sides are listed.",
    )


def _take_over_duplicate(sources: list[Source]) -> None:
    """Fill the form from a run that was duplicated, once."""
    spec: RunSpecValues | None = st.session_state.get("run_duplicate")
    if spec is None:
        return
    if spec["dataset_hash"] in {source.dataset_hash for source in sources}:
        st.session_state["run_data"] = spec["dataset_hash"]
    preset = spec["preset"]
    st.session_state["run_model"] = preset if preset in RIVALS else RECAP
    if preset not in RIVALS:
        st.session_state["run_preset"] = preset
    config = training_preset(preset)
    most = max(MAX_EPOCHS, config.epochs)
    st.session_state[f"run_epochs_{preset}"] = min(most, spec["epochs"] or config.epochs)
    st.session_state["run_seeds"] = [spec["seed"]]
    st.session_state["run_snapshots"], st.session_state["run_device"] = spec["snapshots"], spec["device"]
    st.session_state["run_slurm"], st.session_state["run_parent"] = spec["backend"] == "slurm", spec["parent"]
    st.session_state["run_fields"] = "\n".join(spec["overrides"])
    st.session_state["run_grid"] = ""
    st.session_state["run_notes"] = spec["notes"]
    del st.session_state["run_duplicate"]  # last: a click may end this run at any line above


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
