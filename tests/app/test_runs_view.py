"""The Runs view without a browser: empty, with runs of every kind, refusing, and read-only."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.training_progress import curve_table, queue_table, result_table, stage_spans
from app.cached import run_store
from app.components.runs.words import run_headline
from app.sources import TOKEN_LENGTH, dataset_source
from recap import columns as c
from recap.baselines.counting import CountPlusMarkov, VisitCount
from recap.data.dataset import Dataset
from recap.evaluation.scoring import evaluate
from recap.history.graph import TransitionGraph
from recap.presets import DEFAULT_PRESET, train_preset
from recap.pretrained.curves_file import PretrainedCurves
from recap.runs.execution import control
from recap.runs.execution.gpus import Gpu
from recap.runs.execution.training import write_reference
from recap.runs.store.description import describe_briefly, describe_run
from recap.runs.store.files import Lease
from recap.runs.store.process import ProcessIdentity
from recap.runs.store.run_store import REFERENCE, RunFolder, RunStore
from recap.storage import atomic
from recap.storage.atomic import replace_json
from tests.app.app_driver import calm_view, check_calm, open_view, point_app_at, table_with, texts
from tests.background import new_store, refuse_to_write, tiny_spec
from tests.learn_worlds import DEMO
from tests.worlds import small_training

GIB = 1 << 30


@pytest.fixture
def store(home: Path, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunStore]:
    """No runs yet, on a machine without a GPU; the app shows `data` and may write."""
    point_app_at(monkeypatch, dataset_folder, None, read_only=False)
    monkeypatch.setattr(run_store, "read_gpus", list)
    store = new_store(home)
    yield store
    # A run that is active keeps a runner alive.
    for run in store.runs():
        run.end("stopped")


def add_run(store: RunStore, dataset_folder: Path, state: str, epochs_done: int = 0, error: str | None = None) -> str:
    """A run in some state, with metrics as a training writes them; running means: this process trains it."""
    (run,) = store.add([tiny_spec(dataset_folder)])
    identity = ProcessIdentity.current()
    process = identity.model_dump() if state == "running" else None
    run.change({"queued"}, state, process=process, host=identity.host, error=error, attempt=1)  # type: ignore[arg-type]
    groups = {group: {"n": 9, "hr1": 0.1, "hr20": 0.5, "mrr": 0.2} for group in ("all", "head", "tail", "unseen")}
    with (run.path / "metrics.jsonl").open("w") as file:
        for epoch in range(1, epochs_done + 1):
            line = {"epoch": epoch, "loss": {"main": 2.0, "warm": 1.0}, "learning_rate": {"backbone": 1e-3}}
            stage = small_training().curriculum.at(epoch).model_dump()
            file.write(json.dumps({**line, "stage": stage, "seconds": 1.5, "val": groups}) + "\n")
    return run.id


def test_empty_and_a_form_that_refuses_as_the_command_line_does(store: RunStore) -> None:
    """Before the first run there is the form: five fields and More; where it refuses there is nothing to press."""
    app = calm_view("runs")
    assert app.title[0].value == "Train a model of your own"
    assert "Time estimate appears after the first epoch." in texts(app)
    assert [button.label for button in app.button] == ["Start"]
    fields = [*app.selectbox, *app.slider, *app.get("button_group")]
    assert {field.label for field in fields if field.label != "Device"} == {"Data", "Model", "Epochs", "Hops", "Seeds"}
    assert list(app.selectbox(key="run_model").options)[:2] == ["RECAP", "RECAP (paper)"]
    app.text_area(key="run_fields").set_value("batch_size=0").run()
    assert "greater than or equal to 1" in app.error[0].value
    assert not [button for button in app.button if button.label.startswith("Start")] and store.runs() == []


def test_the_empty_page_shows_a_finished_training(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result and the curve of the first checkpoint that is here."""
    point_app_at(monkeypatch, DEMO / "dataset", DEMO / "checkpoint")
    app = calm_view("runs")
    assert app.header[-1].value == "A finished run looks like this: Saltmere · RECAP"
    assert len(app.table) == len(app.get("plotly_chart")) == 1


def test_a_run_at_work(store: RunStore, dataset_folder: Path) -> None:
    """The heading says where it is and what acts; curves, queue and buttons fit its state."""
    add_run(store, dataset_folder, "failed", error="out of memory: <b>use</b> a smaller batch")
    add_run(store, dataset_folder, "running", epochs_done=3)
    app = calm_view("runs")
    assert app.title[0].value == "Training RECAP \\(paper\\) on small: epoch 4 of 4, about a minute left."
    chart = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert {trace["name"] for trace in chart["data"]} == {"All", "Frequent", "Rare"}
    assert len(chart["layout"]["shapes"]) == 3, "the stages of 4 epochs"
    buttons = {button.label: button.disabled for button in app.button}
    assert (buttons["Stop"], buttons["Resume"]) == (False, True) and "Open" not in buttons
    app.query_params["run"] = "1"
    failed = calm_view("runs", run="1")
    assert failed.title[0].value == "Training RECAP \\(paper\\) on small failed after 0 of 4 epochs."
    assert {button.label: button.disabled for button in failed.button}["Resume"] is False
    linked = open_view("runs", run="1", dataset=app.query_params["dataset"])
    assert not any("run" in each.value for each in linked.warning) and linked.query_params["run"] == "1"
    other, gone = (open_view("runs", **link) for link in ({"run": "1", "dataset": "0123456789ab"}, {"run": "77"}))
    assert "another run 1" in other.warning[0].value and "not among your runs" in gone.warning[0].value


def test_a_disk_that_refuses_a_stop_is_named(
    store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words where the button is, without a traceback; the run goes on."""
    run = store.get(add_run(store, dataset_folder, "running"))
    app = open_view("runs")

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "replacing", refuse_to_write)
        app.button(key="run_stop").click().run()
    assert not app.exception and "Read\\-only file system" in app.warning[0].value
    assert run.read_state().state == "running"


def test_read_only_hides_every_change(store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No form, no buttons that change something, no note field; what there is can be read."""
    add_run(store, dataset_folder, "finished", epochs_done=4)
    point_app_at(monkeypatch, dataset_folder, None, read_only=True)
    app = calm_view("runs")
    assert {button.label for button in app.button} <= {"Compare", "Explain", "Open"}
    assert not app.text_input and not app.text_area


def test_stages_and_curves() -> None:
    """The paper's curriculum switches on at epochs 60, 80 and 120 of 130; the default's parts have their own names."""
    spans = stage_spans(train_preset("paper"))
    assert [(span.name, span.first, span.last) for span in spans] == [
        ("Core", 1, 59),
        ("+ Graph token", 60, 79),
        ("+ Revisit prior", 80, 119),
        ("+ Correction + Holdout loss", 120, 130),
    ]
    assert stage_spans(train_preset("recap"))[0].name == "Graph token + Feature curves"  # it has no revisit prior
    loss = {"main": 2.0, "warm": 0.0}
    line: Any = {"epoch": 1, "loss": loss, "stage": {"warm_weight": 0.0}, "learning_rate": {"a": 0.1}}
    assert curve_table([line], "loss").to_dict("records") == [{"epoch": 1, "series": "main", "value": 2.0}]
    assert curve_table([line], "hr20").empty


def test_headlines() -> None:
    """What runs, how far it is and how long it takes; of a finished one whichever is ahead comes first."""
    spec = {"preset": "paper", "dataset_name": "Old_Town"}
    facts: Any = {"id": "3", "spec": spec, "state": "running", "epoch": 0, "epochs": 130}
    what = "RECAP \\(paper\\) on Old\\_Town"
    assert run_headline(facts, {}, None) == f"Training {what}: epoch 1 of 130."
    assert run_headline(facts | {"epoch": 64}, {}, 130) == f"Training {what}: epoch 65 of 130, about 2 minutes left."
    done = facts | {"state": "finished", "spec": {"preset": "lotnext", "dataset_name": "Town"}}
    for own, counted, headline in (
        (0.62, 0.58, "LoTNext finds 62 of 100 next places on Town within 20 guesses; counting past visits finds 58."),
        (0.62, 0.86, "Counting past visits finds 86 of 100 next places on Town within 20 guesses, LoTNext 62."),
        (0.621, 0.62, "LoTNext and counting past visits both find 62 of 100 next places on Town within 20 guesses."),
    ):
        counters: Any = {"visit_count": {"all": {"hr20": counted}}}
        summary: Any = {"test": {"all": {"hr20": own, "n": 900}}, "baselines": counters}
        assert run_headline(done, summary, None) == headline


def test_the_result_next_to_the_counters() -> None:
    """The best first; a group without cases has a dash."""
    groups = {"all": {"hr20": 0.5}, "head": {"hr20": 0.9}, "tail": {"hr20": None}}
    summary: Any = {"test": groups, "baselines": {"visit_count": {"all": {"hr20": 0.75}}}}
    assert result_table("RECAP", summary).to_numpy().tolist() == [
        ["Visit count", "0.750", "–", "–"],
        ["RECAP", "0.500", "0.900", "–"],
    ]
    assert result_table("RECAP", {}).empty


def test_the_queue_shows_the_youngest_first(store: RunStore, dataset_folder: Path) -> None:
    """Progress is finished epochs over planned ones."""
    add_run(store, dataset_folder, "stopped", epochs_done=1)
    add_run(store, dataset_folder, "queued")
    table = queue_table([describe_briefly(run) for run in store.runs()])
    assert table["run"].tolist() == ["2", "1"] and table["progress"].tolist() == [0.0, 0.25]
    assert table["hr20"].tolist() == ["", "0.500"] and table["time"].tolist() == ["", "0:02"]
    assert table["state"].tolist() == [["queued"], ["stopped"]]


@pytest.mark.parametrize("epochs_done", [1, 4])
def test_the_levels_of_counting_are_dashed_lines(store: RunStore, dataset_folder: Path, epochs_done: int) -> None:
    """The numbers are those of an evaluation of the baselines; curves without such a level have no line.

    One validation, as the default makes it after its last epoch, is a dot at these levels.
    """
    name = add_run(store, dataset_folder, "finished", epochs_done=epochs_done)
    assert bool(open_view("runs").get("plotly_chart")) == (epochs_done > 1), "one point alone is no curve"
    run, dataset = store.get(name), Dataset.load(dataset_folder)
    write_reference(run, dataset, run.read_spec().train_config())
    graph = TransitionGraph.from_dataset(dataset)
    counters = (VisitCount(dataset), CountPlusMarkov(dataset, graph))
    visits, both = (evaluate(counter, dataset, graph, split=c.VAL).metrics for counter in counters)
    assert describe_run(run)["reference"] == {"visit_count": visits, "count_plus_markov": both}
    earlier = {"model": "count_plus_markov", "split": "val", **both, "visit_count": visits}
    replace_json(run.path / REFERENCE, earlier)
    assert run.read_reference() == {"visit_count": visits, "count_plus_markov": earlier}, "of an earlier version"
    app = calm_view("runs")
    chart = app.get("plotly_chart")[0].proto
    lines = [shape for shape in json.loads(chart.spec)["layout"]["shapes"] if shape["type"] == "line"]
    levels = {"Visit count": visits["all"]["hr20"], "Count + Markov": both["all"]["hr20"]}
    assert {line["y0"] for line in lines} == {*levels.values()}
    assert all(f"{label} {level:.3f}" in chart.spec for label, level in levels.items())
    if epochs_done > 1:
        app.segmented_control(key="run_curve").set_value("loss").run()
        shapes = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["shapes"]
        assert not [shape for shape in shapes if shape["type"] == "line"]


def test_every_gpu_is_shown(store: RunStore, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = add_run(store, dataset_folder, "running", epochs_done=1)
    assert "This machine has no GPU" in texts(open_view("runs"))
    gpus = [
        Gpu(uuid="GPU-a", name="Small card", free_bytes=6 * GIB, total_bytes=8 * GIB, busy=0.81, used_by={}),
        Gpu(uuid="GPU-b", name="Large card", free_bytes=24 * GIB, total_bytes=24 * GIB, busy=None, used_by={}),
    ]
    lease = Lease(kind="cuda", name="Small card", gpu_uuids=("GPU-a",), bytes_each=GIB)
    assert store.get(name).change({"running"}, None, device=lease.model_dump())
    monkeypatch.setattr(run_store, "read_gpus", lambda: gpus)
    run_store.gpus.clear()
    app = calm_view("runs")
    assert "2 GPUs" in texts(app)
    table = table_with(app, "gpu")
    assert table["gpu"].tolist() == ["Small card", "Large card"] and table["runs"].tolist() == [name, ""]
    assert table["use"].tolist()[0] == 0.81 and table["memory"].tolist() == [0.25, 0.0]
    run_store.gpus.clear()


def finished_run(store: RunStore, dataset: Path, checkpoint: Path) -> RunFolder:
    """A run with a whole checkpoint."""
    (run,) = store.add([tiny_spec(dataset)])
    run.checkpoint.parent.mkdir(exist_ok=True)
    shutil.copytree(checkpoint, run.checkpoint)
    run.end("finished")
    return run


def test_a_run_on_data_elsewhere_opens(
    store: RunStore, city_folder: Path, city_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The app was started without the dataset; the run's own word for where it lies is enough, if the content is it."""
    run = finished_run(store, city_folder, city_checkpoint)
    point_app_at(monkeypatch, None, None)
    app = calm_view("runs")
    assert [button.label for button in app.button] == ["Compare", "Explain", "Open"]
    assert "ties with RECAP trained here on 20 validation cases" in texts(app)
    source = run_store.source_of(run)
    assert source is not None and source.dataset_folder == city_folder
    walk = calm_view("walk", source=source.token)
    assert "which is not here" not in texts(walk)
    spec = json.loads((run.path / "spec.json").read_text())
    (run.path / "spec.json").write_text(json.dumps(spec | {"dataset": str(store.folder)}))
    assert run_store.source_of(run) is None


def test_the_form_begins_with_the_recommended_preset(
    store: RunStore, city_folder: Path, city_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which has a graph token; the feature curves alone have none, so that no hops are asked for."""
    point_app_at(monkeypatch, city_folder, city_checkpoint, read_only=False)
    monkeypatch.setattr(run_store, "ensure_runner", lambda _: False)
    monkeypatch.setattr(control, "ensure_runner", lambda _: False)
    app = open_view("runs")
    assert [slider.label for slider in app.slider] == ["Epochs", "Hops"]
    check_calm(next(button for button in app.button if button.label == "Start").click().run())
    assert store.get("1").read_spec().train_config() == train_preset(DEFAULT_PRESET).override(["seed=1"])
    app.selectbox(key="run_model").set_value("feature_curves").run()
    assert [slider.label for slider in app.slider] == ["Epochs"]


def test_the_form_begins_with_the_open_dataset(
    store: RunStore, city_folder: Path, dataset_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where another dataset comes first in the list."""
    first, second = (dataset_source(folder) for folder in (dataset_folder, city_folder))
    assert first is not None and second is not None
    monkeypatch.setattr("app.components.runs.form.find_sources", lambda _: [first, second])
    point_app_at(monkeypatch, city_folder, None, read_only=False)
    app = open_view("walk")
    check_calm(app.switch_page("views/runs.py").run())
    assert app.selectbox(key="run_data").value == second.dataset_hash


def test_the_page_of_a_training_goes_on_when_its_timer_has_stopped(
    store: RunStore, city_folder: Path, city_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run must not switch, as a late tick would empty the new page; then `pretrained` opens, with a note."""
    run = finished_run(store, city_folder, city_checkpoint)
    point_app_at(monkeypatch, city_folder, None, read_only=False)
    gone: list[str] = []
    monkeypatch.setattr(
        "streamlit.switch_page", lambda path, query_params: gone.append(f"{path} {query_params['source']}")
    )
    link = {"ready": "1", "run": run.id, "source": dataset_source(city_folder).token}
    calm_view("open_data", **link)
    assert gone == []
    monkeypatch.setattr("app.components.runs.live._tell", lambda **_: SimpleNamespace(drawn=1))
    app = calm_view("open_data", **link)
    assert "RECAP, pretrained ties with" in texts(app.switch_page("views/next.py").run())
    assert "ties with" not in texts(app.switch_page("views/walk.py").run())
    (target,) = gone
    key = PretrainedCurves.packaged().key(Dataset.load(city_folder).hash)
    assert "next" in target and target.endswith(key[:TOKEN_LENGTH])
