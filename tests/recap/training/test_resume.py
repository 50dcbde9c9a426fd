"""Exact resume: a training cut anywhere, by a stop, a crash or a kill, ends in the same bits as one that was not."""

import json
import math
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from recap.data.dataset import Dataset
from recap.errors import CheckpointError, ConfigError, DivergenceError
from recap.storage.tensors import load_tensors, save_tensors
from recap.training.group import Group
from recap.training.loop import BEST, BEST_OVERALL, STATE_FILE, StepReport
from recap.training.run import train
from recap.training.trainer import Trainer
from recap.training_config import TrainConfig
from tests.checkins import small_dataset
from tests.shell import RECAP
from tests.tiny import WORDS, tiny
from tests.worlds import habit_rows, small_city, small_training

CPU = torch.device("cpu")
CONFIG = small_training()
STEPS = 9
"""Three epochs of three steps."""


class PowerCutError(Exception):
    """The machine stops between two steps."""


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """metrics.jsonl without what the clock decides."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    clock = ("seconds", "steps_per_second", "validation_seconds")
    return [{name: value for name, value in line.items() if name not in clock} for line in lines]


def outcome(folder: Path) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    """Final weights, kept weights and optimiser state as bytes, and the journal."""
    state, _ = load_tensors(folder / STATE_FILE)
    tensors = {name: tensor.numpy().tobytes() for name, tensor in state.items()}
    return tensors | {name: (folder / name).read_bytes() for name in (BEST, BEST_OVERALL)}, lines_of(folder)


def session(folder: Path, config: TrainConfig = CONFIG, *, stop_after: int | None = None, crash: bool = False) -> bool:
    """Train on in a folder; stop (or lose power) after so many further steps."""
    folder.mkdir(exist_ok=True)
    trainer = Trainer(small_city(), config, folder, CPU)
    if (folder / STATE_FILE).is_file():
        trainer.resume()
    done = 0

    def watch(_: StepReport) -> None:
        nonlocal done
        done += 1
        if crash and done == stop_after:
            raise PowerCutError

    try:
        return trainer.run(watch, stop=lambda: not crash and done == stop_after)
    except PowerCutError:
        return False


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("whole")
    assert session(folder)
    return outcome(folder)


@settings(max_examples=5)
@example([(1, True), (3, False)], 60.0)
@example([(3, True), (4, False)], 60.0)
@example([(4, True), (9, False)], 60.0)
@given(st.lists(st.tuples(st.integers(1, STEPS), st.booleans()), min_size=1, max_size=4), st.sampled_from([0.0, 60.0]))
def test_any_cuts_change_nothing(
    uninterrupted: tuple[dict[str, bytes], list[dict[str, Any]]],
    tmp_path_factory: pytest.TempPathFactory,
    cuts: list[tuple[int, bool]],
    save_every_seconds: float,
) -> None:
    """Stops and crashes at any steps, saving after each step or at epoch ends only: same weights, same journal.

    A crash loses what was not saved, up to everything before the first epoch's end.
    """
    folder = tmp_path_factory.mktemp("cut")
    # Saving more often is no change of the training itself.
    config = TrainConfig.parse(CONFIG.model_dump() | {"save_every_seconds": save_every_seconds})
    for number, (steps, crash) in enumerate(cuts):
        session(folder, config, stop_after=steps, crash=crash)
        if number == 0 and save_every_seconds:
            assert (folder / STATE_FILE).is_file() is (not crash or steps > 3)
    assert session(folder, config)
    assert outcome(folder) == uninterrupted


def test_a_cut_in_bf16(tmp_path: Path) -> None:
    """Masks cut out of random words hang on the saved generator too."""
    dropping = CONFIG.model_dump() | {"precision": "bf16"}
    dropping["model"] |= {"dropout": 0.2, "embedding_dropout": 0.3, "output_dropout": 0.3}
    config = TrainConfig.parse(dropping)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert session(whole, config)
    assert not session(cut, config, stop_after=5)
    assert session(cut, config)
    assert outcome(cut) == outcome(whole)


@pytest.mark.parametrize("lines", [2, 1])
def test_a_journal_ahead_of_or_behind_the_state_is_mended(
    lines: int, uninterrupted: tuple[dict[str, bytes], list[dict[str, Any]]], tmp_path: Path
) -> None:
    """The state of epoch 1 next to a journal of epoch 2 and half a line: each epoch is there once in the end."""
    session(tmp_path, stop_after=4)
    early = (tmp_path / STATE_FILE).read_bytes()
    session(tmp_path, stop_after=4)
    (tmp_path / STATE_FILE).write_bytes(early)
    text = (tmp_path / "metrics.jsonl").read_text().splitlines(keepends=True)
    assert len(text) == 2
    (tmp_path / "metrics.jsonl").write_text("".join(text[: 2 * lines - 2]) + '{"epoch": 3, "lo')
    assert session(tmp_path)
    assert outcome(tmp_path) == uninterrupted


def test_time_adds_up_over_sessions(tmp_path: Path) -> None:
    """The state's seconds never fall when a training continues."""
    seconds = []
    for stop_after in (4, 3, None):
        session(tmp_path, stop_after=stop_after)
        seconds.append(load_tensors(tmp_path / STATE_FILE)[1]["seconds"])
    assert 0 < seconds[0] < seconds[1] < seconds[2]


TRAIN_AGAIN = "continue with the version that started this training, or train again"
DAMAGED = r"state\.safetensors is damaged"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"mood": 1}, r"unknown field 'mood'; continue with the version"),
        ({"step": "two"}, r"step: .* got 'two'; continue with the version"),
        ({"best": 3}, r"best: .* got 3; continue"),
        ({"format_version": 2}, r"format_version: Input should be 1, got 2; continue"),
        ({"random.cpu": None}, rf"{STATE_FILE} is not a resume state: it lacks tensor 'random\.cpu'"),
        ({"model.core.output.weight": torch.zeros(16, 8)}, TRAIN_AGAIN),
        ({"optimiser.x.step": torch.zeros(3)}, DAMAGED),
        ({"random.cpu": torch.zeros(3)}, DAMAGED),
        (b"half a file", STATE_FILE),
        *(
            (line, r"metrics\.jsonl: line 2 is not a finished epoch")
            for line in ("{half", "[1]", '{"epoch": 2}', '{"epoch": 2, "loss": {}, "val": {"tail": {}}}')
        ),
    ],
    ids=str,
)
def test_a_state_that_does_not_fit_is_refused_in_one_line(tmp_path: Path, changed: Any, said: str) -> None:
    """Counters that this version does not know, or of another type, or a newer format; no resume state, weights as an
    earlier version writes them, numbers that are none, half a file; a journal whose second line is no epoch.
    """
    session(tmp_path, stop_after=4)
    state, journal = tmp_path / STATE_FILE, tmp_path / "metrics.jsonl"
    if isinstance(changed, str):
        journal.write_text(journal.read_text() + changed + "\n")
    elif isinstance(changed, bytes):
        state.write_bytes(state.read_bytes()[:500])
    else:
        tensors, progress = load_tensors(state)
        assert progress["format_version"] == 1 and "model.core.output.weight" in tensors
        for name, value in changed.items():
            (tensors if "." in name else progress)[name] = value
        save_tensors({name: value for name, value in tensors.items() if value is not None}, state, progress)
    with pytest.raises(CheckpointError, match=said):
        session(tmp_path)


def test_several_processes_stop_also_in_short_epochs(tmp_path: Path) -> None:
    """They ask at every tenth step of the training; with three steps an epoch, the tenth is in the fourth epoch."""
    store = f"file://{tmp_path / 'store'}"
    torch.distributed.init_process_group("gloo", init_method=store, rank=0, world_size=1)
    try:
        config = CONFIG.override(["epochs=9"])
        trainer = Trainer(small_city(), config, tmp_path, CPU, group=Group(rank=0, size=2))
        assert not trainer.run(stop=lambda: True)
    finally:
        torch.distributed.destroy_process_group()
    assert (trainer.progress.epoch, trainer.progress.step) == (4, 1)


@pytest.mark.parametrize("broken", ["the loss main", "the weights"])
def test_a_diverged_training_keeps_the_last_good_state(
    broken: str,
    uninterrupted: tuple[dict[str, bytes], list[dict[str, Any]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """NaN in the second step of epoch 2 ends the training before it saves; the state of the first step resumes."""
    session(tmp_path, stop_after=4)
    good = (tmp_path / STATE_FILE).read_bytes()
    learn = Trainer._learn

    def break_down(trainer: Trainer, positions: slice) -> Tensor:
        loss = learn(trainer, positions)
        if broken == "the weights":
            torch.nn.init.constant_(trainer.model.core.output.weight, math.nan)
        else:
            trainer._loss_sums[0] += math.nan
        return loss

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_learn", break_down)
        every_step = TrainConfig.parse(CONFIG.model_dump() | {"save_every_seconds": 0.0})
        with pytest.raises(DivergenceError, match=f"{broken} became .* in epoch 2, by step 2 of 3; .* learning rate"):
            session(tmp_path, every_step)
    assert (tmp_path / STATE_FILE).read_bytes() == good
    assert session(tmp_path)
    assert outcome(tmp_path) == uninterrupted


def test_a_far_too_large_learning_rate_is_named_at_the_epochs_end(tmp_path: Path) -> None:
    """Before any validation, and with no state saved; a process that is well ends with one that is not."""
    config = small_training(validate_every=3, optimiser={"learning_rate": 1e30})
    with pytest.raises(DivergenceError, match="in epoch 1, by step 3 of 3"):
        session(tmp_path, config)

    class BesideABrokenOne(Group):
        def add(self, values: Tensor) -> Tensor:
            return values + math.nan

    with pytest.raises(DivergenceError, match="in epoch 1, by step 3 of 3"):
        Trainer(small_city(), CONFIG, tmp_path, CPU, group=BesideABrokenOne()).run()
    assert not (tmp_path / STATE_FILE).exists()


def stop_at(step: int) -> dict[str, Any]:
    """Arguments of `train` that end it after a step."""
    seen: list[StepReport] = []
    return {"watch": seen.append, "stop": lambda: len(seen) >= step}


def test_resume_needs_the_same_configuration_and_dataset(tmp_path: Path) -> None:
    """Another seed or city is refused by name, a damaged configuration too, and the state stays usable."""
    out = tmp_path / "out"
    assert train(small_city(), CONFIG, out, device=CPU, **stop_at(4)) is None
    other = small_training(seed=1, batch_size=32)
    with pytest.raises(ConfigError, match="batch_size, seed differ"):
        train(small_city(), other, out, device=CPU, resume=True)
    with pytest.raises(ConfigError, match="another dataset"):
        train(small_dataset(habit_rows(seed=1)), CONFIG, out, device=CPU, resume=True)
    stored = out / "training" / "config.json"
    whole = stored.read_text()
    for damaged in ("{half", "[]", "{}", "[" * 100_000):
        stored.write_text(damaged)
        with pytest.raises(CheckpointError, match=r"config\.json is damaged"):
            train(small_city(), CONFIG, out, device=CPU, resume=True)
    stored.write_text(whole)
    assert train(small_city(), CONFIG, out, device=CPU, resume=True) is not None


def test_a_training_begun_before_an_option_existed_resumes(tmp_path: Path) -> None:
    """An option that came later stands at the value that changes nothing; one that was chosen since is refused."""
    out = tmp_path / "out"
    assert train(small_city(), CONFIG, out, device=CPU, **stop_at(4)) is None
    stored = out / "training" / "config.json"
    identity = json.loads(stored.read_text())
    del identity["train"]["optimiser"]["schedule"], identity["train"]["label_smoothing"]
    stored.write_text(json.dumps(identity))
    chosen = small_training(optimiser=CONFIG.optimiser.model_dump() | {"schedule": "cosine"})
    with pytest.raises(ConfigError, match="optimiser differ"):
        train(small_city(), chosen, out, device=CPU, resume=True)
    assert train(small_city(), CONFIG, out, device=CPU, resume=True) is not None


def test_resume_needs_the_same_pretrained_curves(tmp_path: Path) -> None:
    """Started from another file of curves, a training is refused in one line; a state that names none resumes."""
    out, start = tmp_path / "out", {"kind": "curves", "start": "pretrained"}
    config = small_training(model=CONFIG.model.model_dump() | {"use_correction": False, "prior": start})
    assert train(small_city(), config, out, device=CPU, **stop_at(4)) is None
    stored = out / "training" / "config.json"
    identity = json.loads(stored.read_text())
    stored.write_text(json.dumps(identity | {"pretrained_hash": "0" * 64}))
    with pytest.raises(ConfigError, match="started from other pretrained curves"):
        train(small_city(), config, out, device=CPU, resume=True)
    stored.write_text(json.dumps({name: identity[name] for name in ("dataset_hash", "train")}))
    assert train(small_city(), config, out, device=CPU, resume=True) is not None


def after_epochs(number: int, folder: Path, command: list[str]) -> subprocess.Popen[str]:
    """A running `recap train` that has just finished so many epochs."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    journal = folder / "training" / "metrics.jsonl"
    while not (journal.is_file() and journal.read_text().count("\n") >= number):
        with pytest.raises(subprocess.TimeoutExpired):  # still running
            process.wait(timeout=0.01)
    return process


@pytest.mark.slow
def test_a_stopped_and_killed_command_resumes_to_the_same_file(tmp_path: Path) -> None:
    """SIGTERM in epoch 2, kill -9 in epoch 3, --resume: model.safetensors is the uninterrupted run's, byte by byte."""
    data, cut, whole = tmp_path / "data", tmp_path / "cut", tmp_path / "whole"
    small_city().save(data)
    assignments = ["batch_size=4", "save_every_seconds=0"]
    command = [str(RECAP), "train", str(data), *WORDS, "--device", "cpu", "--out", str(cut), "--json", "--resume"]
    command += [word for assignment in assignments for word in ("--set", assignment)]
    for epoch, end, code in ((1, signal.SIGTERM, 130), (2, signal.SIGKILL, -signal.SIGKILL)):
        process = after_epochs(epoch, cut, command)
        process.send_signal(end)
        stdout, stderr = process.communicate()
        assert (process.returncode, stdout) == (code, "") and ("--resume" in stderr) == (end == signal.SIGTERM)
        assert load_tensors(cut / "training" / STATE_FILE)[1]["epoch"] > epoch and not (cut / "SHA256SUMS").exists()
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["epochs"] == 4
    assert train(Dataset.load(data), tiny().override(assignments), whole, device=CPU) is not None
    files = [path.name for path in whole.iterdir() if path.suffix in (".safetensors", ".parquet")]
    assert {"model.safetensors", "vocabulary.parquet"} <= set(files)
    for name in files:
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name
    assert lines_of(cut / "training") == lines_of(whole / "training")
    assert [line["epoch"] for line in lines_of(cut / "training")] == [1, 2, 3, 4]
