"""`recap train`: train a checkpoint; it can be stopped and resumed."""

import math
import shlex
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Final

import typer
from typer import Option

from app.cli.console import (
    JsonFlag,
    PresetOption,
    SetOption,
    console,
    print_json,
    print_next,
    progress_console,
    steps_progress,
)
from app.cli.evaluate import metrics_table
from app.cli.options import DatasetArgument, DeviceOption, EpochsOption

_STEP_S: Final = 5.0
"""A training that has not asked for so long is not taking steps."""


def train(
    data: DatasetArgument,
    out: Annotated[Path, Option("--out", help="Folder of the new checkpoint.")],
    preset: PresetOption = None,
    seed: Annotated[int | None, Option(help="Seed; the preset's by default.")] = None,
    device: DeviceOption = "auto",
    epochs: EpochsOption = None,
    resume: Annotated[
        bool, Option("--resume", help="Continue a stopped training exactly, or start a new one.")
    ] = False,
    assignments: SetOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Train RECAP or a published model; Ctrl-C saves the state for --resume."""
    from analysis.compare.with_pretrained import compare_with_pretrained
    from recap.baselines import PRETRAINED
    from recap.data.dataset import Dataset
    from recap.evaluation.metrics import SHOWN_METRICS
    from recap.history.graph import TransitionGraph
    from recap.machine.device import choose_device
    from recap.presets import DEFAULT_PRESET, training_preset
    from recap.training import run

    config = training_preset(preset or DEFAULT_PRESET, epochs=epochs, seed=seed, changes=assignments or [])
    chosen = choose_device(device)
    dataset = Dataset.load(data)
    with stop_on_signals() as stop, steps_progress("Training") as report:
        checkpoint = run.train(dataset, config, out, device=chosen, resume=resume, watch=_shown(report), stop=stop)
    if checkpoint is None:
        progress_console.print(f"Stopped and saved. Continue with the same command and --resume ({out}).", markup=False)
        raise typer.Exit(130)
    summary = checkpoint.read_summary()
    against = compare_with_pretrained(checkpoint, dataset, TransitionGraph.from_dataset(dataset), chosen)
    line = {
        "checkpoint": str(out),
        "model": checkpoint.manifest.model,
        "options": checkpoint.options,
        "epochs": summary["epochs"],
        "best_epoch": summary["best_epoch"],
        "val": {name: summary["val"][name] for name in SHOWN_METRICS},
        "seconds": summary["seconds"],
        "reserved_gpu_bytes": summary["reserved_gpu_bytes"],
        "against_pretrained": asdict(against),
    }
    if "test_drawn_from" in summary:
        line["test_drawn_from"] = summary["test_drawn_from"]
    if as_json:
        print_json(line)
    else:
        rows = {checkpoint.manifest.model: summary["test"], **summary["baselines"]}
        console.print(metrics_table(f"Test, protocol {summary['protocol']}", rows))
        if "test_drawn_from" in summary:
            console.print(f"A sample of {summary['test']['all']['n']:,} of {summary['test_drawn_from']:,} test cases.")
        console.print(against.sentence(checkpoint.label), markup=False)
        folder, checkpoint_folder = shlex.quote(str(data)), shlex.quote(str(out))
        better = checkpoint_folder if against.is_better else PRETRAINED
        shown = f" --checkpoint {checkpoint_folder}" if against.is_better else ""
        steps = {"Predict": f"recap predict {better} --data {folder}", "See it": f"recap app --data {folder}{shown}"}
        print_next(steps, console)


def _shown(report: Callable[..., None]) -> Callable[[Any], None]:
    """Shows each step that a training reports."""

    def watch(step: Any) -> None:
        what = f"Epoch {step.epoch} of {step.epochs}, loss {step.loss:.3f}"
        report((step.epoch - 1) * step.steps + step.step, step.epochs * step.steps, what)

    return watch


class _StopRequest:
    """Whether SIGINT or SIGTERM came; a training that asks after each step finishes its step and saves. Nothing is lost
    where nobody asks, as while a model is measured: there the command ends at once, and so it does at a second signal.
    """

    def __init__(self) -> None:
        self._came, self._asked = False, -math.inf

    def __call__(self) -> bool:
        self._asked = time.monotonic()
        if self._came:
            signal.setitimer(signal.ITIMER_REAL, 0)  # saving may take its time
        return self._came

    def receive(self, number: int, frame: FrameType | None) -> None:
        if self._came or time.monotonic() - self._asked > _STEP_S:
            raise KeyboardInterrupt
        self._came = True
        signal.setitimer(signal.ITIMER_REAL, _STEP_S)


@contextmanager
def stop_on_signals() -> Iterator[_StopRequest]:
    """Turn SIGINT and SIGTERM into a `_StopRequest`."""
    stop = _StopRequest()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    before = {number: signal.signal(number, stop.receive) for number in numbers}
    try:
        yield stop
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
