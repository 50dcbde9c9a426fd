"""An opened dataset with models: parts are made once and shared; predictions of Next equal the library's."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, time, timedelta
from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.cases.picture import marks_of_record
from analysis.explain.explain_case import explain_case
from analysis.figures.next_map import offered_places
from analysis.records.ablations import GROUP_NAMES
from analysis.trajectories.everyone import everyone_as_recorded, last_day, predict_everyone
from analysis.trajectories.predictions import places_holding, predict_case, standing_out
from analysis.trajectories.trajectory import SHOWN_STOPS, read_stops
from analysis.workspace import Workspace
from recap import columns as c
from recap.asking.open_model import open_model
from recap.asking.prediction import choose, expected_visits, predict
from recap.errors import CheckpointError, ConfigError, VocabularyError
from recap.history.moments import Moment, find_moment
from recap.history.one_user import History
from recap.model.scorer import RecapScorer
from tests.checkins import small_dataset
from tests.learn_worlds import demo_world
from tests.worlds import habit_rows


def test_models_of_one_dataset_share_what_is_computed_of_it(city_folder: Path, city_checkpoint: Path) -> None:
    """Cases and check-ins are the very same objects; a baseline is opened once."""
    opened = Workspace.open(city_folder)
    model, markov = opened.with_model(city_checkpoint), opened.with_model("markov")
    assert model.cases is markov.cases is opened.cases
    assert model.ranker.checkins is opened.checkins and model.ranker.scorer is model.scorer
    assert model.with_model("markov") is markov and markov.without_model is opened


@pytest.mark.parametrize(
    ("name", "walks", "is_fit"),
    [("pretrained", 12, True), ("pretrained", 6, False), ("feature_curves", 6, True), ("markov", 6, False)],
)
def test_a_fit_is_said_before_it_is_made_and_never_again(name: str, walks: int, is_fit: bool, home: Path) -> None:
    """Pages, commands and Python say it in one line. With few validation cases `pretrained` fits nothing."""
    dataset = small_dataset(habit_rows(num_users=30 if walks == 12 else 5, num_walks=walks))
    opened, lines = Workspace.of(dataset).with_model(name), list[str]()
    fits = [f"Fitting the curves to {opened.name}, once"] * is_fit
    assert opened.opening == (fits or ["Opening the model"])[0] and not opened.is_open
    open_model(name, opened.dataset, say=lines.append)
    assert lines == fits
    again = Workspace.of(dataset).with_model(name)
    assert again.opening == "Opening the model"
    open_model(name, opened.dataset, say=lines.append)
    assert lines == fits and again.scorer is again.any_ranker.scorer and again.is_open


def test_records_are_made_once_by_whoever_comes_first(city_folder: Path, home: Path) -> None:
    """Eight ask at the same time and get the same object; after an error the next call tries again."""
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
    opened = demo_world("checkpoint")
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


@pytest.fixture(scope="module")
def model(city_folder: Path, city_checkpoint: Path) -> Workspace:
    return Workspace.open(city_folder, city_checkpoint)


@pytest.fixture
def start(model: Workspace) -> Moment:
    """User 5 at the last check-in."""
    return Moment(5, find_moment(model.dataset, 5).row)


@pytest.mark.parametrize("only_new", [False, True])
def test_one_user_as_recap_predict(model: Workspace, start: Moment, only_new: bool) -> None:
    """The same places, probabilities, scores, distances and marks."""
    found = predict_case(model, start, only_new=only_new, counts_now=True).candidates
    ranker = model.any_ranker
    user = str(model.dataset.users[c.USER_ID].iloc[5])
    (rows,) = predict(ranker, choose(ranker, [user]), top=10, new_places=only_new)
    assert model.dataset.pois[c.POI_ID].iloc[found[c.POI]].tolist() == rows[c.POI_ID].tolist()
    for ours, theirs in (("probability", "probability"), (c.SCORE, "score"), ("distance_km", "km")):
        assert found[ours].tolist() == pytest.approx(rows[theirs].tolist(), abs=1e-9)
    assert found["revisit"].tolist() == rows["visited"].tolist()
    assert not (only_new and found["revisit"].any())


def test_everyone_as_recap_predict(model: Workspace) -> None:
    """The first choice, expected visits and counts; also as of a day in the past."""
    for day in (None, last_day(model) - timedelta(days=5)):
        found, ranker = predict_everyone(model, day), model.any_ranker
        chosen = choose(ranker, as_of=None if day is None else datetime.combine(day, time.max))
        rows = next(iter(predict(ranker, chosen, top=1)))
        ids = model.dataset.pois[c.POI_ID].to_numpy()
        assert ids[found.users["first"]].tolist() == rows[c.POI_ID].tolist()
        assert found.users["probability"].tolist() == pytest.approx(rows["probability"].tolist(), abs=1e-12)
        visits = expected_visits(ranker, chosen)
        assert ids[found.places[c.POI]].tolist() == visits[c.POI_ID].tolist()
        assert found.places[list(visits.columns)].equals(visits) and ("counted" in visits) == (day is not None)
        assert (found.followed > 0) == (day is not None)
    recorded = next(iter(everyone_as_recorded(model))).groupby(c.USER_ID, sort=False).size()
    assert recorded.tolist() == [min(20, model.dataset.num_pois)] * model.dataset.num_users


def test_a_case_keeps_its_truth_and_a_changed_stop_has_none(model: Workspace) -> None:
    """Next at a test case's check-in is Walk's prediction; the new-place ranking leaves a known truth unranked."""
    case = model.cases.iloc[3]
    asked = Moment(int(case[c.USER]), int(case[c.ROW]))
    assert predict_case(model, asked).candidates.equals(predict_case(model, 3).candidates)
    assert not predict_case(model, asked.plus(1, 30)).has_truth
    been = set(History.at(asked, model.dataset, model.checkins).poi_H.tolist())
    ranked = predict_case(model, asked, only_new=True)
    assert (ranked.target_rank != ranked.target_rank) == (int(case[c.TARGET]) in been)


def test_the_reason_is_what_sets_a_place_apart(model: Workspace, start: Moment) -> None:
    """The group most above the list's mean contribution; fewer places than said hold less than nine tenths."""
    found = predict_case(model, start, top=model.dataset.num_pois)
    parts = found.candidates[list(c.part_columns(found.candidates.columns).values())]
    assert standing_out(found) == [str(name).removeprefix("part_") for name in (parts - parts.mean()).idxmax(axis=1)]
    held = np.append(0.0, np.cumsum(found.candidates["probability"].to_numpy()))
    assert found.held_by is not None and held[found.held_by] >= 0.9 - 1e-12 > held[found.held_by - 1]
    assert places_holding(np.full(10, 0.1), 0.9) == 9


def test_a_new_user(model: Workspace, start: Moment) -> None:
    """A counter predicts from the stops alone; a model with a vector for each user takes their mean."""
    asked = Moment().plus(1, 0).plus(2, 30).plus(1, 30)
    counted = predict_case(model.with_model("count_plus_markov"), asked)
    assert counted.candidates[c.POI].iloc[0] in (1, 2) and counted.held_by is None
    found = predict_case(model, asked)
    assert found.candidates["probability"].between(0, 1).all() and len(standing_out(found)) == 10
    assert isinstance(model.scorer, RecapScorer)
    backbone = model.scorer.model.backbone
    known_UD, users = backbone.user_embedding.weight, model.dataset.num_users
    vector_BD = backbone.user_vectors(torch.tensor([users, users - 1, 0]))
    assert torch.equal(vector_BD, torch.stack([known_UD.mean(0), known_UD[-1], known_UD[0]]))


def test_the_stops_shown_name_their_changes(model: Workspace, start: Moment) -> None:
    """`change` is what `without` and `later` take; the last stop has the itinerary's row."""
    shown = read_stops(model, start.plus(7, 30))
    assert shown.stops["change"].tolist()[-2:] == [0, -1] and shown.stops[c.POI].iloc[-1] == 7
    assert len(shown.stops) <= SHOWN_STOPS + 1 and shown.stop_of(start.row) == len(shown.stops)


def test_only_places_of_enough_people_are_offered(model: Workspace) -> None:
    """People are the predicted users who have been there by then."""
    found = predict_everyone(model)
    checkins = model.dataset.checkins.drop_duplicates([c.USER, c.POI])
    people = checkins.groupby(c.POI)[c.USER].size()
    offered = offered_places(found.places, 5)
    assert set(offered[c.POI]) == set(people.index[people >= 5])
    assert "counted" not in offered and len(offered) < len(found.places)
