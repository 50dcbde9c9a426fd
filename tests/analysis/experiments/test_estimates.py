"""How long what was not run would take."""

import json
from pathlib import Path

import pytest

from analysis.experiments.estimates import estimated_time
from recap.checkpoint import TRAINING_FOLDER
from recap.presets import train_preset
from recap.runs.store.run_folder import RunFolder
from recap.training.metrics_file import METRICS
from recap.training.run import CONFIG

QUICK = train_preset("quick").with_epochs(10)


def training(trainings: Path, name: str, values: dict[str, object], seconds: list[float]) -> None:
    """A training of so many epochs, as far as its time is concerned."""
    folder = trainings / name / TRAINING_FOLDER
    folder.mkdir(parents=True)
    (folder / CONFIG).write_text(json.dumps({"train": values}))
    lines = [json.dumps({"epoch": epoch, "seconds": value}) for epoch, value in enumerate(seconds, start=1)]
    (folder / METRICS).write_text("".join(f"{line}\n" for line in lines))


def test_epochs_times_the_quickest_epoch_of_the_same_preset(tmp_path: Path) -> None:
    """Seconds 60, 90 and 70 of two trainings: 10 epochs of 60 s; another preset's and a broken one's do not count."""
    assert estimated_time(tmp_path, QUICK) == "its time is not known"
    kind = QUICK.model_dump(mode="json")
    training(tmp_path, "a", kind, [60.0, 90.0])
    training(tmp_path, "b", kind | {"seed": 5}, [70.0])
    training(tmp_path, "c", kind | {"preset": "nyc"}, [5.0] * 9)
    (tmp_path / "d" / TRAINING_FOLDER).mkdir(parents=True)
    (tmp_path / "d" / TRAINING_FOLDER / CONFIG).write_text("{")
    assert estimated_time(tmp_path, QUICK) == "about 10 min"
    assert estimated_time(tmp_path, QUICK.with_epochs(130)) == "about 2.2 h"


@pytest.mark.parametrize("damaged", [b"\0\0\0\0", b'{"epoch": 2, "sec', b"\xff", b"7", b"[" * 9999])
def test_a_damaged_line_ends_what_is_read_of_a_training(tmp_path: Path, damaged: bytes) -> None:
    """The epoch of 60 s before it counts, that of 30 s after it does not; a run's metrics end there too."""
    training(tmp_path, "a", QUICK.model_dump(mode="json"), [60.0, 30.0])
    metrics = tmp_path / "a" / TRAINING_FOLDER / METRICS
    first, second = metrics.read_bytes().splitlines()
    metrics.write_bytes(b"\n".join([first, damaged, second, b""]))
    assert estimated_time(tmp_path, QUICK) == "about 10 min"
    assert RunFolder(metrics.parent).read_metrics() == [json.loads(first)]
