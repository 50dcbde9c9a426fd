"""The Runs view without a browser: empty, with runs of every kind, refusing, and read-only."""

import json
from pathlib import Path

import pytest

from analysis.training_progress import curve_table, headline, queue_table, stage_spans
from recap.presets import train_preset
from recap.runs.description import describe_briefly
from recap.runs.process import ProcessIdentity
from recap.runs.store import RunStore
from tests.app.opening import check_calm, open_view, point_app_at, texts
from tests.background import new_store, tiny_spec, walking_dataset


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "small"
    walking_dataset().save(folder)
    return folder


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    return new_store(tmp_path / "home")


def add_run(store: RunStore, data: Path, state: str, epochs_done: int = 0, error: str | None = None) -> str:
    """A run in some state, with metrics as a training writes them; running means: this process trains it."""
    (run,) = store.add([tiny_spec(data)])
    identity = ProcessIdentity.current()
    process = identity.model_dump() if state == "running" else None
    run.change({"queued"}, state, process=process, host=identity.host, error=error, attempt=1)  # type: ignore[arg-type]
    groups = {group: {"n": 9, "hr1": 0.1, "hr20": 0.5, "mrr": 0.2} for group in ("all", "head", "tail", "unseen")}
    with (run.path / "metrics.jsonl").open("w") as file:
        for epoch in range(1, epochs_done + 1):
            line = {"epoch": epoch, "loss": {"main": 2.0, "warm": 1.0}, "learning_rate": {"backbone": 1e-3}}
            stage = run.read_spec().train_config().curriculum.at(epoch).model_dump()
            file.write(json.dumps({**line, "stage": stage, "seconds": 1.5, "val": groups}) + "\n")
    return run.id


def test_empty(store: RunStore, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first run there is the form, with an honest estimate."""
    point_app_at(monkeypatch, data, None, read_only=False)
    app = open_view("runs")
    check_calm(app)
    assert app.title[0].value == "Nothing has been trained here yet"
    assert "was measured yet" in texts(app)
    assert [button.label for button in app.button] == ["Start the run"]


def test_a_run_at_work(store: RunStore, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The heading says where it is and what acts; curves, queue and buttons fit its state."""
    add_run(store, data, "failed", error="out of memory: <b>use</b> a smaller batch")
    add_run(store, data, "running", epochs_done=3)
    point_app_at(monkeypatch, data, None, read_only=False)
    app = open_view("runs")
    check_calm(app)
    assert app.title[0].value == "Run 2 is at epoch 3 of 4. Correction + Warm holdout is on."
    chart = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert {trace["name"] for trace in chart["data"]} == {"All", "Head", "Tail"}
    assert len(chart["layout"]["shapes"]) == 3, "tiny switches on at epochs 1, 2 and 3"
    buttons = {button.label: button.disabled for button in app.button}
    assert (buttons["Stop"], buttons["Resume"], buttons["Open in Walk"]) == (False, True, True)
    app.query_params["run"] = "1"
    failed = open_view("runs", run="1")
    check_calm(failed)
    assert failed.title[0].value == "Run 1 failed after 0 of 4 epochs."
    assert {button.label: button.disabled for button in failed.button}["Resume"] is False


def test_the_form_refuses_as_the_command_line_does(
    store: RunStore, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same words, and nothing to press."""
    point_app_at(monkeypatch, data, None, read_only=False)
    app = open_view("runs")
    app.text_area(key="run_fields").set_value("batch_size=0").run()
    assert "greater than or equal to 1" in app.error[0].value
    assert not [button for button in app.button if button.label.startswith("Start")]
    assert store.runs() == []


def test_read_only_hides_every_change(store: RunStore, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No form, no buttons that change something, no note field; what there is can be read."""
    add_run(store, data, "finished", epochs_done=4)
    point_app_at(monkeypatch, data, None, read_only=True)
    app = open_view("runs")
    check_calm(app)
    assert {button.label.removeprefix("Open in ") for button in app.button} <= {"Walk", "Explain"}
    assert not app.text_input and not app.text_area


def test_stages_curves_and_words() -> None:
    """The paper's curriculum switches on at epochs 60, 80 and 120 of 130."""
    spans = stage_spans(train_preset("nyc"))
    assert [(span.name, span.first, span.last) for span in spans] == [
        ("Core", 1, 59),
        ("+ Graph token", 60, 79),
        ("+ Revisit prior", 80, 119),
        ("+ Correction + Warm holdout", 120, 130),
    ]
    facts = {"id": "3", "state": "running", "epoch": 64, "epochs": 130}
    assert headline(facts, spans) == "Run 3 is at epoch 64 of 130. Graph token is on."
    assert headline(facts | {"epoch": 1}, spans) == "Run 3 is at epoch 1 of 130."
    assert headline(facts | {"state": "lost"}, []) == "Run 3 was lost after 64 of 130 epochs."
    line = {"epoch": 1, "loss": {"main": 2.0, "warm": 0.0}, "stage": {"warm_weight": 0.0}, "learning_rate": {"a": 0.1}}
    assert curve_table([line], "loss").to_dict("records") == [{"epoch": 1, "series": "main", "value": 2.0}]
    assert curve_table([line], "hr20").empty


def test_the_queue_shows_the_youngest_first(store: RunStore, data: Path) -> None:
    """Progress is finished epochs over planned ones."""
    add_run(store, data, "stopped", epochs_done=1)
    add_run(store, data, "queued")
    table = queue_table([describe_briefly(run) for run in store.runs()])
    assert table["run"].tolist() == ["2", "1"] and table["progress"].tolist() == [0.0, 0.25]
    assert table["hr20"].tolist() == ["", "0.500"]
