"""The app as a stranger meets it: at once, without torch, invented on every page; read-only leaves nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st

from recap.checkpoint import Checkpoint
from tests.app.app_driver import calm_view, check_calm, open_view, point_app_at, texts
from tests.learn_worlds import DEMO

ROOT = Path(__file__).parents[2]
OVERVIEW = """
import sys, threading
from streamlit.testing.v1 import AppTest
view = AppTest.from_file("app/main.py", default_timeout=60).run()
assert not view.exception, view.exception
assert len(view.title) == 1, view.title
assert "torch" not in sys.modules, "torch was loaded"
print(view.title[0].value)
sys.path.insert(0, sys.argv[1])
threading.Thread(target=__import__, args=["torch"]).start()
while "torch" not in sys.modules: pass
from analysis.compare.significance import mcnemar
assert mcnemar(0, 5) == 0.0625
"""


def test_overview_of_the_demo_city_loads_no_torch(tmp_path: Path) -> None:
    """Shipped records give title and tables, and nothing is cached. scipy's tests wait while a thread loads torch."""
    (tmp_path / "torch.py").write_text("import time; time.sleep(2); Tensor = int")
    command, environment = [sys.executable, "-c", OVERVIEW, str(tmp_path)], {**os.environ, "RECAP_HOME": str(tmp_path)}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr[-2000:]
    assert "rare transitions" in result.stdout
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize("name", ["overview", "walk", "long_tail", "explain"])
def test_every_view_says_that_the_demo_city_is_invented(name: str, demo_city: None) -> None:
    app = calm_view(name)
    assert texts(app).count("invented") == 1


def test_another_model_of_the_same_city_keeps_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk's picker changes who predicts, not what is looked at."""
    point_app_at(monkeypatch, None, None, bundles=DEMO.parent)
    app = open_view("walk", case="39")
    title = app.title[0].value
    picker = next(box for box in app.selectbox if box.label == "Dataset and model")
    other = next(token for token in picker.options if "paper" in token)
    app = check_calm(picker.select(other).run())
    assert app.title[0].value == title and "39" in app.query_params["case"]
    assert "source" in app.query_params


def test_no_view_leaves_anything(
    city_folder: Path, city_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """Neither a file nor a folder: records, rankers, pictures, runs and predictions are looked for and not made."""
    point_app_at(monkeypatch, city_folder, city_checkpoint, read_only=True)
    st.cache_resource.clear()
    st.cache_data.clear()
    token = Checkpoint.load(city_checkpoint).hash[:12]
    for view, params in (
        ("overview", {}),
        ("compare", {"a": "feature_curves", "b": token}),
        ("explain", {"case": "1"}),
        ("cases", {}),
        ("runs", {}),
    ):
        calm_view(view, **params)
        assert not (tmp_path / "home").exists(), view
