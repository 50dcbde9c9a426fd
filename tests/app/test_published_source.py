"""A published model's checkpoint opens everywhere in the app, and no view claims that its score is a sum."""

from pathlib import Path

import pytest
import torch

from analysis.explain.edits import EditError, RemoveVisit, SwitchOff
from analysis.explain.ranks_only import explain_ranks
from analysis.formatting import ordinal
from recap.asking.open_model import open_model
from recap.data.dataset import Dataset
from recap.evaluation.ranks import rank_of
from recap.history.moments import find_moment
from recap.history.tensors import CheckinTensors, Histories
from recap.training.run import train
from tests.app.app_driver import calm_view, check_calm, open_view, point_app_at, texts
from tests.cli_runner import recap_here, recap_json_here
from tests.recap.published.variants import small_config


@pytest.fixture(scope="module")
def published_checkpoint(city_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "checkpoint"
    config = small_config("flashback").with_epochs(1)
    assert train(Dataset.load(city_folder), config, folder, device=torch.device("cpu")) is not None
    return folder


@pytest.fixture(autouse=True)
def app_at_published(monkeypatch: pytest.MonkeyPatch, city_folder: Path, published_checkpoint: Path) -> None:
    point_app_at(monkeypatch, city_folder, published_checkpoint)


@pytest.mark.parametrize("view", ["overview", "next", "walk", "long_tail", "compare", "cases", "present", "learn"])
def test_every_view_opens(view: str) -> None:
    """Calm, and nothing speaks of RECAP's parts as if they were there."""
    app = calm_view(view)
    said = texts(app)
    assert "not measured yet" not in said
    if view == "overview":
        assert "Flashback finds" in said and "RECAP" not in said and "Needs" not in said
    if view == "present":
        assert app.title[0].value == "Nothing to present"


def test_next_cannot_predict_for_a_new_user() -> None:
    """One line says so; a recorded user is predicted, without reasons."""
    app = calm_view("next", part="try", stops="3.0")
    assert app.title[0].value == "This model cannot predict for a new user" and "choose another model" in texts(app)
    listed = open_view("next", user="5").dataframe[0].value
    assert len(listed) == 10 and "reason" not in listed


def test_explain_ranks_and_removes_visits(city_folder: Path, published_checkpoint: Path) -> None:
    """The page's and the command's ranks are the library's; removing a visit in the page is removing it there."""
    ranker = open_model(published_checkpoint, Dataset.load(city_folder))
    app, known = open_view("explain", case="3"), explain_ranks(ranker, 3)
    check_calm(app)
    assert f"{ordinal(known.about.rank)} of {known.num_places}" in app.title[0].value
    table = app.dataframe[1].value
    assert table["Visit"].tolist() == [entry.name for entry in known.removed]
    assert table["Rank without it"].tolist() == [ordinal(entry.rank_without) for entry in known.removed]
    asked = ("explain", published_checkpoint, "--data", city_folder, "--case", 3)
    assert recap_json_here(*asked) == known.model_dump(mode="json")
    printed = " ".join(recap_here(*asked).stdout.split())
    assert f"ranks {known.about.name} {ordinal(known.about.rank)} of" in printed and "without one visit" in printed
    end = find_moment(ranker.dataset, "user2")
    from_end = ("explain", published_checkpoint, "--data", city_folder, "--user", "user2")
    assert recap_json_here(*from_end) == explain_ranks(ranker, end).model_dump(mode="json")
    assert "The next place is not known yet." in " ".join(recap_here(*from_end).stdout.split())
    app = calm_view("explain", user=str(end.user), row=str(end.row))
    assert "1st of" in app.title[0].value and "The next place is not known yet" in app.title[0].value
    visit = known.removed[0].visit
    app = calm_view("explain", case="3", edits=f"remove:{visit}")
    edited = explain_ranks(ranker, 3, edits=(RemoveVisit(visit=visit),))
    assert app.metric[0].value == f"{ordinal(known.about.rank)} → {ordinal(edited.about.rank)}"
    assert edited.what_if is not None and edited.about.rank == known.removed[0].rank_without
    with pytest.raises(EditError):
        explain_ranks(ranker, 3, edits=(SwitchOff(name="past_visits"),))


def test_removing_a_visit_is_a_dataset_without_it(city_folder: Path, published_checkpoint: Path) -> None:
    """The rank without a visit is that of a check-in table in which it never happened."""
    dataset = Dataset.load(city_folder)
    ranker = open_model(published_checkpoint, dataset)
    entry, row = explain_ranks(ranker, 3).removed[0], int(ranker.case(3)["row"])
    first = int(ranker.checkins.first_T[row])
    kept = [at for at in range(first, row + 2) if at != first + entry.visit]
    own = ranker.checkins
    names = ("user", "poi", "seconds", "local_seconds", "trajectory")
    without = CheckinTensors.from_arrays(**{name: getattr(own, f"{name}_T")[kept].numpy() for name in names})
    total_P = ranker.scorer.score(Histories(without, torch.tensor([len(kept) - 2]))).total[0]
    assert rank_of(total_P, int(ranker.case(3)["target"])) == entry.rank_without
