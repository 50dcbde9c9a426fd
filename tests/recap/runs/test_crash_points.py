"""Crashes at the worst moments, one by one, in this process: what the next start makes of them."""

from pathlib import Path

import pytest

from recap.errors import RecapError
from recap.runs.execution.logs import follow_log, read_log
from recap.runs.execution.runner import Runner
from recap.runs.execution.supervision import Supervisor
from recap.runs.execution.training import ProgressWriter, StopQuestion
from recap.runs.store.files import RunSettings
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_store import PROGRESS, SETTINGS, STATE, RunFolder, RunStore
from recap.storage import atomic
from recap.storage.atomic import replace_json
from tests.background import refuse_to_write, tiny_spec


def test_a_runner_that_died_while_starting_a_run(run: RunFolder) -> None:
    """The run waits again, and a process that comes up late finds itself not wanted."""
    host = ProcessIdentity.current().host
    state = run.change({"queued"}, "running", attempt=1, host=host)
    assert state is not None
    Supervisor(RunSettings()).reconcile(run, state)
    assert run.read_state().state == "queued"
    assert not run.claim(1, ProcessIdentity.current())
    run.change({"queued"}, "running", attempt=2, host=host)
    assert not run.claim(1, ProcessIdentity.current())
    assert run.claim(2, ProcessIdentity.current())


def test_only_one_process_can_claim_a_start(run: RunFolder) -> None:
    """A second process of the same start backs off while the first lives."""
    run.change({"queued"}, "running", attempt=1)
    me = ProcessIdentity.current()
    assert run.claim(1, me) and run.claim(1, me)
    other = ProcessIdentity.of(1)
    assert other is not None and not run.claim(1, other)


def test_another_machines_run_is_left_to_it(run: RunFolder) -> None:
    """A shared folder: only the machine of a process can say whether it lives."""
    far = ProcessIdentity(pid=2**22, start_time=1.0, boot_id="elsewhere", host="another-machine")
    state = run.change({"queued"}, "running", attempt=1, process=far.model_dump(), host=far.host)
    assert state is not None
    Supervisor(RunSettings()).reconcile(run, state)
    assert run.read_state().state == "running"


def test_the_training_asks_whether_to_stop(run: RunFolder) -> None:
    """A stopping state, another start, a deleted folder and a signal all end it; a running state does not."""
    run.change({"queued"}, "running", attempt=1)
    assert not StopQuestion(run, 1, [])()
    assert StopQuestion(run, 1, [15])()
    assert StopQuestion(run, 2, [])()
    run.change({"running"}, "stopping")
    assert StopQuestion(run, 1, [])()
    assert StopQuestion(RunFolder(run.path.with_name("77")), 1, [])()


def test_heartbeats_are_rare(run: RunFolder) -> None:
    """A thousand steps within a moment write once."""
    from recap.training.loop import StepReport

    progress = ProgressWriter(run, 1, ProcessIdentity.current())
    for step in range(1000):
        progress.watch(StepReport(epoch=1, epochs=4, step=step, steps=1000, loss=0.5))
    assert run.read_progress()["step"] == 0


def test_a_disk_that_takes_nothing_is_a_refusal(
    store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A change says so and leaves the run; the runner goes on, with a state that it had to work out too."""
    replace_json(store.folder / SETTINGS, {"cpu_runs": 2})
    waiting, damaged = store.add([tiny_spec(dataset_folder)] * 2)
    damaged.change({"queued"}, "running", attempt=1)
    replace_json(damaged.path / PROGRESS, {"process": ProcessIdentity.current().model_dump()})
    (damaged.path / STATE).write_text("")

    monkeypatch.setattr(atomic, "replacing", refuse_to_write)
    for change in (lambda: waiting.change({"queued"}, "stopped"), lambda: store.write_notes(waiting, "x")):
        with pytest.raises(RecapError, match=f"writing .*/{waiting.id} failed: Read-only file system; run .* stays"):
            change()
    assert damaged.read_state().state == "running"
    runner = Runner(store, list_gpus=list)
    assert runner.tick() and runner.tick()
    assert "Read-only file system" in capsys.readouterr().out
    assert (waiting.read_state().state, damaged.read_state().state) == ("queued", "running")


def test_a_letter_that_is_cut_between_two_reads_of_a_log_is_whole(run: RunFolder) -> None:
    """Bytes of "é" and "…" come one after another; one that never comes is marked at the end."""
    run.change({"queued"}, "running", process=ProcessIdentity.current().model_dump(), attempt=1)
    pieces = [b"caf\xc3", b"\xa9 \xe2", b"\x80", b"\xa6 \xc3"]
    run.log.write_bytes(pieces.pop(0))
    text, offset = read_log(run)
    assert (text, offset) == ("caf", 3)

    def write_on() -> None:
        if not pieces:
            run.end("stopped")
            return
        with run.log.open("ab") as log:
            log.write(pieces.pop(0))

    assert "".join([text, *follow_log(run, offset, write_on)]) == "café … \ufffd"
