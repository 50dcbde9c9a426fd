"""The script for graphics cards runs from end to end without one, and says what was not measured."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.gpu import NOT_MEASURED, main
from recap.presets import DEFAULT_PRESET


@pytest.mark.slow
def test_one_preset_and_one_published_model_on_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One JSON object with every measure of each, a whole training of each, and nothing that needs a card."""
    out = tmp_path / "gpu.json"
    options = ["--only", DEFAULT_PRESET, "sasrec", "--full", "--people", "12", "--cases", "20", "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", ["gpu.py", *options, "--out", str(out)])
    main()
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(out.read_text(encoding="utf-8"))
    assert found["card"] == NOT_MEASURED
    assert list(found["configurations"]) == list(found["whole_trainings"]) == [DEFAULT_PRESET, "sasrec"]
    assert [list(one["ways"]) for one in found["configurations"].values()] == [["as it is", "bf16"], ["as it is"]]
    assert {name: again["of"] for name, again in found["resumed"].items()} == dict.fromkeys(
        found["whole_trainings"], "cpu to cpu"
    )
    assert all(again["stopped_after"] == 1 and again["epochs"] == 4 for again in found["resumed"].values())
    for measured in found["configurations"].values():
        assert measured["cpu_epoch_seconds"] == NOT_MEASURED
        for way in measured["ways"].values():
            assert way["epoch_seconds"] > 0
            assert way["reserved_gb"] == NOT_MEASURED
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
