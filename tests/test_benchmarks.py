"""The scripts of benchmarks: closed places by hand, what differs between kept folders, no graphics card."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file
from typer.main import get_command

from app.cli.main import app
from benchmarks import equality, gpu
from benchmarks.closed_places import former_visitors, losses, silent_places
from recap import columns as c
from recap.asking.open_model import open_model
from recap.presets import DEFAULT_PRESET
from tests.checkins import small_dataset


def test_silent_places_by_hand() -> None:
    """``gone`` has 32 visits of 8 users until day 200, ``vote`` 24 of 32 on one day; users go on at ``green``, the
    only other place of its category: with 4 of 8, then 5 of 9 of the visits elsewhere.
    """
    data = small_dataset([(f"u{user}", *visit) for user in range(8) for visit in _visits(user)])
    closed = silent_places(data)
    assert data.pois[c.POI_ID].iloc[closed.index].tolist() == ["gone"]
    cases = former_visitors(data, closed)
    known, after = (data.checkins.iloc[cases["row"] + step] for step in (0, 1))
    assert len(cases) == 8 * 2 and (after[c.TIME] > closed.iloc[0]).all()
    assert after[c.USER].tolist() == known[c.USER].tolist()
    table = losses(open_model("pretrained", data), cases)
    recap, own, nearest = (np.exp(-table[name].to_numpy()) for name in ("recap", "own_visits", "nearest"))
    moved = table["moved"].to_numpy()
    assert (moved > 0).all() and nearest == pytest.approx(recap * (1 - moved) + moved)
    assert own == pytest.approx(recap * (1 - moved) + moved * np.tile([4 / 8, 5 / 9], 8))


def _visits(user: int) -> list[tuple[str, float]]:
    """Place and hour of one user's visits."""
    vote = (100, 100.1, 100.2, 10 + 180 * (user % 2))
    days = {"gone": (0, 60, 120, 200), "vote": vote, "green": (0.5, 60.5, 120.5, 195, 210, 230, 260, 300)}
    return [(place, 24 * day + 9 + user / 10) for place in days for day in days[place]]


NAN = float("nan")
Said = pytest.CaptureFixture[str]


def keep(folder: Path, **changes: Any) -> Path:
    """A kept folder written by hand: one output, one table, one tensor; ``None`` leaves a part out."""
    said = {"hr20": 0.5, "mean": NAN, "seconds": 1.5, "records": f"{folder}/demo/markov.parquet"}
    said |= changes.get("said", {})
    rows = {"case": [0, 1, 2], "rank": [1.0, NAN, 2.5], "top_pois": [[4, 5], [5, 4], None]} | changes.get("rows", {})
    table = pa.table({name: values for name, values in rows.items() if values is not None})
    tensors = {"gain": torch.tensor(2.0), "weights": torch.tensor([0.0, 1.0, NAN])} | changes.get("tensors", {})
    (folder / "demo").mkdir(parents=True)
    (folder / "kept.json").write_text(json.dumps({"replaced": {str(folder): "<folder>"}}))
    (folder / "demo" / "evaluate.json").write_text(json.dumps({k: v for k, v in said.items() if v is not None}))
    metadata = {"model": "markov", "checkpoint_hash": str(folder)} | changes.get("metadata", {})
    pq.write_table(table.replace_schema_metadata(metadata), folder / "demo" / "markov.parquet")
    save_file(tensors, folder / "demo" / "tiny.safetensors")
    return folder


def compare(before: Path, after: Path, capsys: Said) -> tuple[int, list[str], Any]:
    """Exit code, the lines about differences, and the counts."""
    code = equality.main(["compare", str(before), str(after), "--demo-only"])
    *lines, last = capsys.readouterr().out.splitlines()
    return code, lines, json.loads(last)


def test_equal_folders_differ_in_times_and_paths_only(tmp_path: Path, capsys: Said) -> None:
    before = keep(tmp_path / "before")
    after = keep(tmp_path / "somewhere else", said={"seconds": 99.0})
    code, lines, counts = compare(before, after, capsys)
    # Values: hr20, mean, records, and the table's model; cells: 3 rows of 3 columns; elements: 1 + 3.
    compared = {"files": 3, "json_values": 4, "table_cells": 9, "tensor_elements": 4}
    assert (code, lines, counts) == (0, [], {"different": 0, "compared": compared})


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"said": {"hr20": 0.5000000000000001}}, "evaluate.json: .hr20: 0.5 became 0.5000000000000001"),
        ({"said": {"seconds": None}}, "evaluate.json: .seconds: 1.5 became nothing"),
        ({"said": {"rows": [1, {}]}}, "evaluate.json: .rows[0]: nothing became 1"),
        (
            {"rows": {"top_pois": [[4, 5], [4, 5], None]}},
            "markov.parquet: column top_pois: 1 of 3 rows differ, first row 1: [5, 4] became [4, 5]",
        ),
        ({"rows": {"case": [0], "rank": [0.0], "top_pois": [None]}}, "markov.parquet: 3 rows became 1"),
        ({"metadata": {"model": "visits"}}, "markov.parquet: metadata model: 'markov' became 'visits'"),
        (
            {"tensors": {"weights": torch.tensor([-0.0, 1.0, NAN])}},
            "tiny.safetensors: tensor weights: 1 of 3 elements differ, first element 0: 0.0 became -0.0",
        ),
    ],
)
def test_a_change_is_named_with_both_values(changes: Any, line: str, tmp_path: Path, capsys: Said) -> None:
    code, lines, counts = compare(keep(tmp_path / "before"), keep(tmp_path / "after", **changes), capsys)
    assert code == 1
    assert lines[0] == f"demo/{line}"
    assert counts["different"] == len(lines)


def test_columns_and_files_that_are_gone_are_named(tmp_path: Path, capsys: Said) -> None:
    before, after = keep(tmp_path / "before"), keep(tmp_path / "after", rows={"rank": None})
    (after / "demo" / "tiny.safetensors").unlink()
    code, lines, _ = compare(before, after, capsys)
    assert code == 1
    assert lines == [
        f"demo/markov.parquet: column rank is only in {before}/demo/markov.parquet",
        f"demo/tiny.safetensors: {after}/demo/tiny.safetensors is missing",
    ]


def test_a_folder_cut_off_or_without_nyc_is_refused(tmp_path: Path) -> None:
    before, after = keep(tmp_path / "before"), keep(tmp_path / "after")
    with pytest.raises(SystemExit, match="choose --demo-only"):
        equality.main(["compare", str(before), str(after)])
    (after / "kept.json").unlink()
    with pytest.raises(SystemExit, match="not kept to its end"):
        equality.main(["compare", str(before), str(after), "--demo-only"])


def test_keep_asks_for_the_nyc_file_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECAP_NYC", raising=False)
    monkeypatch.chdir(Path(__file__).parents[1])
    with pytest.raises(SystemExit, match=r"^equality: the NYC file is needed, none was named; [^\n]*--demo-only$"):
        equality.main(["keep", str(tmp_path / "new")])
    with pytest.raises(SystemExit, match=r"nowhere\.txt is not there"):
        equality.main(["keep", str(tmp_path / "new"), "--nyc", "nowhere.txt"])
    assert not (tmp_path / "new").exists()


def test_the_commands_it_runs_are_there() -> None:
    """Each command of equality.toml has a name and options that the command line knows."""
    tree = get_command(app)
    texts = [equality.COMMANDS["counters"], *equality.COMMANDS["demo"].values(), *equality.COMMANDS["nyc"].values()]
    for words in (text.split() for group in texts for text in group.values()):
        command: Any = tree
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, (command.name, words)


@pytest.mark.slow
def test_one_preset_and_one_published_model_on_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One JSON object with every measure of each, a whole training of each, and nothing that needs a card."""
    out = tmp_path / "gpu.json"
    options = ["--only", DEFAULT_PRESET, "sasrec", "--full", "--people", "12", "--cases", "20", "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", ["gpu.py", *options, "--out", str(out)])
    gpu.main()
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(out.read_text(encoding="utf-8"))
    assert found["card"] == gpu.NOT_MEASURED
    assert list(found["configurations"]) == list(found["whole_trainings"]) == [DEFAULT_PRESET, "sasrec"]
    assert [list(one["ways"]) for one in found["configurations"].values()] == [["as it is", "bf16"], ["as it is"]]
    assert {name: again["of"] for name, again in found["resumed"].items()} == dict.fromkeys(
        found["whole_trainings"], "cpu to cpu"
    )
    assert all(again["stopped_after"] == 1 and again["epochs"] == 4 for again in found["resumed"].values())
    for measured in found["configurations"].values():
        assert measured["cpu_epoch_seconds"] == gpu.NOT_MEASURED
        for way in measured["ways"].values():
            assert way["epoch_seconds"] > 0
            assert way["reserved_gb"] == gpu.NOT_MEASURED
        assert measured["equality"] == {
            "of": "cpu and cpu",
            "cases": 20,
            "largest_relative_difference": 0.0,
            "scores_equal": True,
            "ranks_differ": 0,
        }
    for trained in found["whole_trainings"].values():
        assert trained["epochs"] == 4
        assert set(trained["test"]) == {"all", "tail"}
