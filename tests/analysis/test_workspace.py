"""An opened dataset with models: parts are made once and shared, what is refused is refused in one line."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from analysis.cases.picture import marks_of_record
from analysis.explain.explain_case import explain_case
from analysis.records.ablations import GROUP_NAMES
from analysis.trajectories.predictions import predict_case
from analysis.workspace import Workspace
from recap import columns as c
from recap.errors import CheckpointError, ConfigError, VocabularyError
from tests.checkins import small_dataset
from tests.worlds import habit_rows


def test_models_of_one_dataset_share_what_is_computed_of_it(city_folder: Path, city_checkpoint: Path) -> None:
    """Cases and check-ins are the very same objects; a baseline is opened once."""
    opened = Workspace.open(city_folder)
    model, markov = opened.with_model(city_checkpoint), opened.with_model("markov")
    assert model.cases is markov.cases is opened.cases
    assert model.ranker.checkins is opened.checkins and model.ranker.scorer is model.scorer
    assert model.with_model("markov") is markov and markov.without_model is opened


def test_records_are_made_once_by_whoever_comes_first(
    city_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight ask at the same time and get the same object; after an error the next call tries again."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))  # no records that another test has kept
    model = Workspace.open(city_folder, "popularity", keep=False)

    def full_disk(*_: int) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        model.records(full_disk)
    reports: list[int] = []
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: model.records(lambda done, _: reports.append(done)), range(8)))
    assert all(records is got[0] for records in got)
    assert reports == [len(model.cases)]


def test_what_is_no_model_is_refused(city_folder: Path, city_checkpoint: Path, tmp_path: Path) -> None:
    """No model, a folder of something else, a baseline asked for explanations, and another dataset's checkpoint."""
    opened = Workspace.open(city_folder)
    with pytest.raises(ConfigError, match="no model is open"):
        opened.records()
    with pytest.raises(CheckpointError, match=r"has no checkpoint\.json"):
        opened.with_model(tmp_path).records()
    with pytest.raises(ConfigError, match="no trained model is open"):
        opened.with_model("markov").predictor  # noqa: B018
    elsewhere = small_dataset([(user, f"other {place}", hour) for user, place, hour in habit_rows()])
    with pytest.raises(VocabularyError, match="knows 0 of"):
        Workspace.of(elsewhere).with_model(city_checkpoint).records()


@pytest.mark.parametrize("case", [0, 3])
def test_walk_and_explain_show_the_same_contributions(case: int, city_folder: Path, city_checkpoint: Path) -> None:
    """The target's score and its parts in Walk's list are those of Explain."""
    opened = Workspace.open(city_folder, city_checkpoint)
    table = predict_case(opened, case).candidates
    listed = table[table["truth"]].iloc[0]
    explained = explain_case(opened.ranker, case)
    parts = {GROUP_NAMES.get(name, name): listed[column] for name, column in c.part_columns(table.columns).items()}
    assert len(parts) > 1 and parts == pytest.approx(explained.a.groups)
    assert (explained.target_name, explained.a.score) == (listed["name"], pytest.approx(listed[c.SCORE]))


@pytest.mark.parametrize("case", [0, 3, 3058, 3535])
def test_walk_and_thumbnails_draw_the_paths_of_explain(case: int) -> None:
    """The strongest to the true place, over other users' transitions: most paths are only the user's own."""
    city = Path(__file__).parents[2] / "checkpoints" / "demo-city"
    opened = Workspace.open(city / "dataset", city / "checkpoint", keep=False)
    prediction = predict_case(opened, case)
    drawn = prediction.paths[prediction.paths[c.POI] == prediction.case[c.TARGET]]
    names = ("middle", "count_in", "count_out", "product", "share")
    explained = [[getattr(path, name) for name in names] for path in explain_case(opened.ranker, case).paths]
    assert drawn[[*names]].to_numpy(float) == pytest.approx(np.array(explained[:2]).reshape(-1, len(names)))
    thumbnail = marks_of_record(opened, opened.records_with_lists().iloc[case], hops="two_hop_paths")
    assert list(thumbnail.middles) == [path[0] for path in explained[:1]]


def test_a_users_own_id_drives_no_terminal_and_no_page() -> None:
    """Control characters of an id are shown as escapes, in one line."""
    city = small_dataset([(f"\x1b[31m{user}\n{user}", place, hour) for user, place, hour in habit_rows()])
    name = Workspace.of(city, shows_ids=True).user_name(0)
    assert name.startswith("User \\x1b[31m") and "\x1b" not in name and "\n" not in name
