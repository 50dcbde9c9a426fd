"""While the truth is hidden no page depends on it: cases that differ only in their true next place paint alike."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.DownloadButton_pb2 import DownloadButton
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Dataframe as ElementDataframe

from analysis.explain.explain_case import explain_case
from analysis.trajectories.predictions import CasePrediction, predict_case
from analysis.workspace import Workspace
from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from tests.app.app_driver import calm_view, click, open_view, point_app_at
from tests.checkins import small_dataset
from tests.untrained import write_untrained_checkpoint
from tests.worlds import habit_rows

HASHES = ("source", "dataset", "checkpoint")
"""What a link says of the files it was made with; two worlds are two datasets."""


CASE = -1 + len(small_dataset(habit_rows()).cases(c.TEST))
"""The last test case: its truth is the last check-in of its user, so that nothing else differs with it."""


@cache
def world(truth: str | None = None) -> Dataset:
    """The small city in which the last check-in of one user, a test case's truth, happened at ``truth`` instead."""
    rows = habit_rows()
    if truth is None:
        return small_dataset(rows)
    changed = int(world().cases(c.TEST)[CASE]) + 1
    assert len(world().checkins) == len(rows) and rows[changed][0] != rows[changed + 1][0]
    user, _, hour = rows[changed]
    return small_dataset([*rows[:changed], (user, truth, hour), *rows[changed + 1 :]])


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Path]]:
    """Folders of three worlds: the truth is the model's first place, its tenth, and its last."""
    made = []
    folder = tmp_path_factory.mktemp("worlds")
    usual = world()
    checkpoint = Checkpoint.load(write_untrained_checkpoint(usual, folder / "usual"))
    usual.save(folder / "data")
    opened = Workspace.open(folder / "data")
    best = predict_case(opened.with_model(checkpoint.folder), CASE, top=usual.num_pois)
    places = usual.pois[c.POI_ID].astype(str).to_numpy()[best.candidates[c.POI].to_numpy()]
    for at in (0, 9, -1):
        dataset = world(str(places[at]))
        assert dataset.pois.equals(usual.pois), "the worlds must hold the same places"
        own = folder / str(at)  # the files bear the same names, since the picker shows them
        own.mkdir()
        dataset.save(own / "data")
        made.append((own / "data", write_untrained_checkpoint(dataset, own / "checkpoint")))
    return made


def painted(app: AppTest) -> list[Any]:
    """Everything the page shows, in order, and its address without the files' hashes."""
    shown: list[Any] = []

    def visit(block: Any) -> None:
        for child in block.children.values():
            if hasattr(child, "children"):
                visit(child)
            elif hasattr(child, "proto") and child.proto is not None:
                if isinstance(child.proto, DownloadButton):
                    child.proto.deferred_file_id = ""  # drawn by chance
                if isinstance(child, ElementDataframe):  # arrow leaves bytes between its columns undefined
                    shown.append((child.value.to_csv(), child.proto.columns, child.proto.id))
                    continue
                shown.append((type(child).__name__, child.proto.SerializeToString(deterministic=True)))

    visit(app.main)
    address = {name: app.query_params[name] for name in app.query_params if name not in HASHES}
    return [*shown, sorted(address.items())]


@pytest.mark.parametrize(("view", "params"), [("walk", {}), ("explain", {"edits": "hour:05:00"})])
def test_a_hidden_truth_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, worlds: list[tuple[Path, Path]], view: str, params: dict[str, str]
) -> None:
    """Three truths, one page: title, camera, order, ranks, causes and links are the same."""
    pages = []
    for data, checkpoint in worlds:
        point_app_at(monkeypatch, data, checkpoint)
        app = calm_view(view, case=str(CASE), truth="false", **params)
        assert "truth" in app.query_params
        pages.append(painted(app))
    assert len(pages[0]) > 20
    for page in pages[1:]:
        for one, other in zip(pages[0], page, strict=True):
            assert one == other


def test_only_with_the_truth_the_pages_differ(monkeypatch: pytest.MonkeyPatch, worlds: list[tuple[Path, Path]]) -> None:
    """The comparison above can fail; and from Walk to Explain the truth stays hidden: three pages, one title."""
    titles: dict[str, set[str]] = {"walk": set(), "explain": set(), "walk to explain": set()}
    for data, checkpoint in worlds:
        point_app_at(monkeypatch, data, checkpoint)
        for view in ("walk", "explain"):
            titles[view].add(str(open_view(view, case=str(CASE)).title[0].value))
        app = click(open_view("walk", case=str(CASE), truth="false"), "explain")
        assert not app.toggle(key="truth").value
        titles["walk to explain"].add(str(app.title[0].value))
    assert [len(found) for found in titles.values()] == [3, 3, 1]


def test_exports_do_not_tell_either(worlds: list[tuple[Path, Path]]) -> None:
    """What Walk and Explain write while the truth is hidden is the same in every world, but for the hashes: the first
    place against the second. A choice stays one, also where it is the truth.
    """
    written = []
    for data, checkpoint in worlds:
        opened = Workspace.open(data)
        predictor = opened.with_model(checkpoint).predictor
        case = CASE
        model = opened.with_model(checkpoint)
        hidden: CasePrediction = predict_case(model, case).without_truth()
        answer = explain_case(predictor, case, hide_truth=True, search=True, checks=True)
        assert answer.truth is None and answer.roles == ("model", "other")
        assert [answer.target, answer.runner_up] == [entry.poi for entry in answer.candidates[:2]]
        truth = int(opened.case(case)[c.TARGET])
        asked = explain_case(predictor, case, about=truth, counterfactuals=False, hide_truth=True)
        assert asked.target == truth and asked.truth is None and asked.roles[0] == "model"
        values = answer.model_dump(exclude={"dataset_hash", "checkpoint_hash"})
        written.append((hidden.candidates.to_csv(), hidden.paths.to_csv(), hidden.case.to_dict(), values))
    assert written[0] == written[1] == written[2]
