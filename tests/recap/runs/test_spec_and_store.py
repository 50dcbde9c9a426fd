"""Specs are checked before they queue; run folders appear whole, are numbered for ever, and are never left."""

import json
from pathlib import Path

import pytest

from analysis.training_progress import stage_spans
from recap.errors import ConfigError, DatasetError, FormatVersionError, RecapError
from recap.presets import train_preset
from recap.published.configs import ReplayConfig
from recap.runs.execution import control
from recap.runs.store.description import describe_briefly, describe_run
from recap.runs.store.estimates import work_per_epoch
from recap.runs.store.files import RunSpec, RunState, StateName
from recap.runs.store.run_store import ReadOnlyError, RunFolder, RunStore
from recap.runs.store.submission import build_specs
from recap.training_config import TrainConfig
from tests.background import tiny_spec


def test_a_spec_says_what_recap_train_would_do(dataset_folder: Path) -> None:
    """Preset, length, seed and overrides meet in the configuration; the dataset is pinned by its hash."""
    spec = tiny_spec(dataset_folder, seeds=[7], overrides=["optimiser.learning_rate=0.01"], epochs=8)
    config = spec.train_config()
    assert isinstance(config, TrainConfig)
    assert (config.preset, config.epochs, config.seed, config.optimiser.learning_rate) == ("paper", 8, 7, 0.01)
    assert config.curriculum.warm_epoch == 7, "stages keep their share: epoch 120 of 130 becomes 7 of 8"
    assert len(spec.dataset_hash) == 64 and spec.cases == 762 and spec.pois == 8
    assert RunSpec.parse(json.loads(spec.model_dump_json())) == spec


def test_seeds_and_grid_multiply(dataset_folder: Path) -> None:
    """Two seeds times two values times one value are four runs, each with its own assignments."""
    specs = build_specs(
        dataset_folder, preset="paper", seeds=[1, 2], grid=["model.num_hops=1,3", "batch_size=32"], overrides=[]
    )
    assert [(spec.seed, spec.overrides) for spec in specs] == [
        (1, ("model.num_hops=1", "batch_size=32")),
        (2, ("model.num_hops=1", "batch_size=32")),
        (1, ("model.num_hops=3", "batch_size=32")),
        (2, ("model.num_hops=3", "batch_size=32")),
    ]


def test_the_seed_is_the_presets_unless_given(dataset_folder: Path) -> None:
    """A seed among the overrides is the seed; a seed given twice is refused."""
    assert tiny_spec(dataset_folder).seed == 3407
    assert tiny_spec(dataset_folder, overrides=["seed=5"]).seed == 5
    assert tiny_spec(dataset_folder, seeds=[0]).seed == 0
    with pytest.raises(ConfigError, match="given twice: --seed 4 and seed=5"):
        build_specs(dataset_folder, preset="paper", overrides=["seed=5"], seeds=[4])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"preset": "huge"}, "unknown preset 'huge'"),
        ({"overrides": ["no_such=1"]}, "unknown field 'no_such'"),
        ({"overrides": ["batch_size=0"]}, "batch_size: .* greater than or equal to 1, got '0'"),
        ({"epochs": 0}, "epochs"),
        ({"device": "tpu"}, "device: .*'auto', 'cpu' or 'cuda', got 'tpu'"),
        ({"processes": 0}, "processes"),
        ({"seeds": [-1]}, "seed"),
        ({"seeds": [1, 1]}, "every seed runs once"),
        ({"grid": ["batch_size"]}, "--grid expects field=value,value"),
        ({"grid": ["batch_size=1,"]}, "--grid expects"),
        ({"grid": ["seed=1,2", "seed=3"]}, "names 'seed' twice"),
        ({"grid": ["batch_size=8,8"]}, "repeats a value"),
        ({"notes": "x" * 2001}, "notes: String should have at most 2000 characters"),
        ({"seeds": list(range(1001))}, "may have 1000 runs, .* make 1001"),
    ],
)
def test_refuses_before_queueing(dataset_folder: Path, fields: dict, message: str) -> None:
    """Every refusal names the field, what was expected and what came."""
    with pytest.raises(ConfigError, match=message):
        build_specs(dataset_folder, **({"preset": "paper"} | fields))


def test_refuses_a_missing_dataset(tmp_path: Path) -> None:
    """What a run refers to must exist when it queues."""
    with pytest.raises(DatasetError, match=r"has no dataset\.json"):
        build_specs(tmp_path, preset="paper")


@pytest.mark.parametrize(
    "name", ["", "0", "01", "../1", "1/../2", "-1", "1 ", "²", "１", "1\n", "9999999999", "a", "."]
)
def test_a_run_id_is_a_number(name: str, store: RunStore) -> None:
    """Nothing else ever becomes part of a path."""
    with pytest.raises(ConfigError, match="a run is named by its number"):
        store.get(name)


def test_numbers_are_never_used_again(store: RunStore, dataset_folder: Path) -> None:
    """A number means one run for ever, also after it was removed."""
    spec = tiny_spec(dataset_folder)
    first, second = store.add([spec, spec])
    assert (first.id, second.id) == ("1", "2")
    second.change({"queued"}, "stopped")
    store.remove(second)
    assert store.add([spec])[0].id == "3"
    (store.folder / ".last_number").write_text("damaged")
    assert store.add([spec])[0].id == "4"
    assert [run.id for run in store.runs()] == ["1", "3", "4"]
    assert not [path for path in store.folder.iterdir() if path.name.startswith((".draft", ".removed"))]


@pytest.mark.parametrize("state", ["queued", "running", "stopping"])
def test_a_run_that_is_not_over_cannot_be_removed(store: RunStore, run: RunFolder, state: StateName) -> None:
    """Removing would pull the folder from under a process."""
    run.change({"queued"}, state)
    with pytest.raises(RecapError, match=f"run 1 is {state}: stop it first"):
        store.remove(run)
    assert run.path.is_dir()


def test_a_change_happens_only_from_the_expected_state(run: RunFolder) -> None:
    """Late news of an older start, or of an outdated view, changes nothing."""
    seen = run.read_state()
    assert run.change({"running"}, "finished") is None
    assert run.change({"queued"}, "running", attempt=2) is not None
    assert run.change({"running"}, "lost", expected=seen) is None
    assert run.end("failed", "late news", of_attempt=1) is None
    assert run.read_state().state == "running"
    assert run.end("failed", "news", of_attempt=2) is not None
    assert run.read_state().error == "news"
    assert run.end("finished") is None, "what is over stays over"


def test_a_run_with_a_whole_checkpoint_is_finished(run: RunFolder) -> None:
    """However its process ended: killed as it wrote the records, or lost with the machine and its state file."""
    run.checkpoint.mkdir()
    (run.checkpoint / "SHA256SUMS").touch()
    ended = run.end("failed", "killed")
    assert ended is not None and (ended.state, ended.error) == ("finished", None)
    (run.path / "state.json").write_text("")
    assert run.read_state().state == "finished"


def test_a_read_only_store_refuses_every_change(store: RunStore, dataset_folder: Path, run: RunFolder) -> None:
    """The server side refuses, whatever the page shows."""
    shown = RunStore(store.folder, read_only=True)
    for act in (
        lambda: control.submit(shown, [tiny_spec(dataset_folder)]),
        lambda: control.stop(shown, run),
        lambda: control.resume(shown, run),
        lambda: shown.remove(run),
        lambda: shown.write_notes(run, "x"),
    ):
        with pytest.raises(ReadOnlyError, match="this server is read-only"):
            act()
    assert [run.id for run in store.runs()] == ["1"] and run.read_state().state == "queued"


def test_notes_hold_any_text(store: RunStore, dataset_folder: Path) -> None:
    """Slashes, quotes, newlines and dots are text and nothing else."""
    wild = '../../etc/passwd\n\'; rm -rf /; "$(reboot)" `x` \x00 [red]\u202e'
    (run,) = store.add([tiny_spec(dataset_folder, notes=wild)])
    assert run.read_spec().notes == wild
    store.write_notes(run, "a/b" + wild)
    assert describe_briefly(run)["notes"] == "a/b" + wild
    with pytest.raises(ConfigError, match="notes"):
        store.write_notes(run, "x" * 2001)
    names = {path.name for path in store.folder.iterdir() if not path.name.startswith(".")}
    assert names == {"1", "settings.json"}


def test_a_newer_versions_run_is_shown_and_left_alone(run: RunFolder) -> None:
    """Its state is not guessed and its files are not touched."""
    for name, kind in (("state.json", RunState), ("spec.json", RunSpec)):
        path = run.path / name
        text = path.read_text().replace('"format_version": 1', '"format_version": 2')
        path.write_text(text)
        with pytest.raises(FormatVersionError, match="written in format 2, this version reads up to 1: update recap"):
            kind.read(path)
        described = describe_run(run)
        assert described["state"] == "lost" and "update recap" in str(described["error"])
        assert path.read_text() == text


@pytest.mark.parametrize("content", ["", "{", "[]", '{"state": "running"}', '{"state": "flying", "created": "x"}'])
def test_a_damaged_state_is_worked_out_again(run: RunFolder, content: str) -> None:
    """A cut-off state file without any process behind it is a lost run, and says why."""
    (run.path / "state.json").write_text(content)
    described = describe_run(run)
    assert described["state"] == "lost" and "state.json" in str(described["error"])
    assert run.change({"lost"}, "queued", error=None) is not None
    assert describe_run(run)["state"] == "queued"


def test_a_run_of_a_published_model(dataset_folder: Path) -> None:
    """Its name is the preset; length, seed and options meet as they do for RECAP."""
    (spec,) = build_specs(dataset_folder, preset="replay", epochs=50, seeds=[7], overrides=["target_time=true"])
    config = spec.train_config()
    assert isinstance(config, ReplayConfig)
    assert (config.epochs, config.seed, config.target_time) == (50, 7, True)
    assert config.decay_epochs == (10, 20, 30, 40), "the rate falls at the same shares of another length"
    assert spec.title == "REPLAY, target_time=true, seed 7"
    earlier = spec.model_dump() | {"snapshots": False, "parent": None}
    assert RunSpec.parse(earlier) == spec
    assert work_per_epoch(config, 100, 10) == 1000
    latest = train_preset("recap").override(["latest_share=0.25"])
    whole = latest.override(["latest_share=1"])
    assert work_per_epoch(latest, 100, 10) == work_per_epoch(whole, 25, 10) == work_per_epoch(whole, 100, 10) / 4
    (span,) = stage_spans(config)
    assert (span.name, span.first, span.last) == ("REPLAY", 1, 50)
