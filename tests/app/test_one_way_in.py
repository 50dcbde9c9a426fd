"""Inspect, prepare, Open your data and Python make the same dataset of the same table, with the same problems."""

import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pandas as pd
import pytest

import recap
from app import uploads
from app.cli.inspection_text import next_commands
from app.sources import own_datasets
from recap.data.dataset import Dataset
from recap.data.inspection import describe_read, look_at
from recap.data.intake import choose_protocol
from recap.data.reading import OWN_FORMATS, SOURCE_FORMATS
from recap.data.reading_frames import as_python
from tests.app.app_driver import open_view, point_app_at
from tests.cli_runner import recap_here, recap_json_here
from tests.recap.data.understanding.tables import own_table
from tests.sources import write_source


def late() -> pd.DataFrame:
    """Two users who begin in the last days, and everyone's last stop at a place of their own."""
    table = own_table()
    last = table.sort_values("time").drop_duplicates("user", keep="last").tail(20)
    new = last.assign(place=[f"new {at}" for at in range(len(last))], time=last["time"] + pd.Timedelta("1D"))
    return pd.concat([table, new, new.head(2).assign(user=["x", "y"])])


OWN: Final[dict[str, Callable[[], str]]] = {
    "german.csv": lambda: own_table().to_csv(index=False, sep=";", decimal=","),
    "damaged.csv": lambda: own_table().to_csv(index=False).replace(":", "never", 1) + "1,2\n",
    "late.csv": lambda: late().to_csv(index=False),
    "lines.jsonl": lambda: own_table().to_json(orient="records", lines=True, date_format="iso"),
}


@pytest.fixture(autouse=True)
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    point_app_at(monkeypatch, None, None, read_only=False)
    return home


@pytest.mark.parametrize("kind", [*(pytest.param(one, marks=pytest.mark.slow) for one in SOURCE_FORMATS), *OWN])
def test_every_way_makes_the_same_dataset(kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The same rows, hash and problems; the command that `inspect` prints keeps what it announced."""
    path = tmp_path / kind
    if kind in OWN:
        path.write_text(OWN[kind](), encoding="utf-8")
    else:
        path, _ = write_source(tmp_path, kind)
    found, read = look_at(path)
    assert read is not None
    announced = describe_read(read, choose_protocol(found.source_format)[1])

    command = next(iter(next_commands(found, announced).values()))
    assert f"  {command}" in recap_here("inspect", path).stdout.splitlines(), "one line of a terminal"
    words = shlex.split(command)
    words = [str(tmp_path / "prepared") if word.startswith("data/") else word for word in words]
    said = recap_json_here(*words[1:])
    by_command = Dataset.load(tmp_path / "prepared")

    app = open_view("open_data")
    app.text_input[0].set_value(str(path)).run()
    app.button(key="prepare").click().run()
    (by_app,) = map(Dataset.load, own_datasets())

    zone = words[words.index("--timezone") + 1] if "--timezone" in words else None
    options = look_at(path)[0].options.model_copy(update={"skip_bad_rows": True, "timezone": zone})
    options = options.model_copy(update={"local_times": "--local-times" in words})
    by_python = recap.prepare(path, **options.model_dump(exclude_defaults=True, exclude={"is_settled"}))

    assert announced.preview.dataset_hash == by_command.hash == by_app.hash == by_python.hash
    assert announced.problems == by_command.problems == by_app.problems == by_python.problems
    assert said["problems"] == {problem.kind: problem.count for problem in by_python.problems}
    warned = [record.getMessage() for record in caplog.records if record.name == "recap.api"]
    assert len(warned) == len(by_python.problems) and "--" not in "".join(warned)
    assert by_python.manifest.preset == ("every_place" if found.source_format in OWN_FORMATS else "default")
    for dataset in (by_command, by_app, by_python):
        assert dataset.manifest.config == announced.preview.config


def test_refusals_are_python() -> None:
    """Values become literals, several options arguments; prose stays."""
    said = "--set keep_given_split=false or --set trajectory_gap_hours=48; --timezone and --local-times."
    assert as_python(said) == (
        "settings={'keep_given_split': False} or settings={'trajectory_gap_hours': 48}; timezone and local_times=True."
    )
    assert (
        as_python("--text ids=join --text 'delimiter=;' (--format csv)")
        == "ids='join', delimiter=';' (source_format='csv')"
    )
    assert as_python("`recap prepare` needs --skip-bad-rows for that; --map time and --map date.") == (
        "`recap.prepare` needs skip_bad_rows=True for that; columns time and columns date."
    )


def test_two_uploads_of_one_name_get_two_folders(home: Path) -> None:
    """Each is claimed before it is written; a folder that stays empty goes."""

    def claim(_: int) -> str:
        with uploads.new_dataset_folder("Check-ins") as folder:
            (folder / "mine").touch()
        return folder.name

    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(claim, range(8)))
    assert sorted(names) == ["check-ins", *(f"check-ins-{number}" for number in range(2, 9))]
    with uploads.new_dataset_folder("../..") as folder:
        assert list(folder.iterdir()) == []
    assert folder.parent == home / "datasets" and not folder.exists()
