"""Predictions of Next equal the library's, for one user and for everyone."""

from datetime import datetime, time, timedelta
from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.figures.next_map import offered_places
from analysis.trajectories.everyone import everyone_as_recorded, last_day, open_any, predict_everyone
from analysis.trajectories.itinerary import Itinerary, rows_of_user
from analysis.trajectories.next_place import places_holding, predict_next
from analysis.trajectories.predictions import predict_case
from analysis.workspace import Workspace
from recap import columns as c
from recap.counterfactuals import pack_histories
from recap.model.scorer import RecapScorer
from recap.prediction import choose, expected_visits, predict


@pytest.fixture(scope="module")
def model(city_folder: Path, city_checkpoint: Path) -> Workspace:
    return Workspace.open(city_folder, city_checkpoint)


def at_last(opened: Workspace, user: int) -> Itinerary:
    return Itinerary(user, rows_of_user(opened, user)[-1])


@pytest.mark.parametrize("only_new", [False, True])
def test_one_user_as_recap_predict(model: Workspace, only_new: bool) -> None:
    """The same places, probabilities, scores, distances and marks."""
    found = predict_next(model, at_last(model, 5), only_new=only_new).listed
    ranker = open_any(model)
    user = str(model.dataset.users[c.USER_ID].iloc[5])
    (rows,) = predict(ranker, choose(ranker, [user]), top=10, new_places=only_new)
    assert model.dataset.pois[c.POI_ID].iloc[found[c.POI]].tolist() == rows[c.POI_ID].tolist()
    for ours, theirs in (("probability", "probability"), (c.SCORE, "score"), ("distance_km", "km")):
        assert found[ours].tolist() == pytest.approx(rows[theirs].tolist(), abs=1e-9)
    assert found["revisit"].tolist() == rows["visited"].tolist()
    assert not (only_new and found["revisit"].any())


def test_everyone_as_recap_predict(model: Workspace) -> None:
    """First and second choice, expected visits and counts; also as of a day in the past."""
    for day in (None, last_day(model) - timedelta(days=5)):
        found, ranker = predict_everyone(model, day), open_any(model)
        chosen = choose(ranker, as_of=None if day is None else datetime.combine(day, time.max))
        rows = next(iter(predict(ranker, chosen, top=2)))
        ids = model.dataset.pois[c.POI_ID].to_numpy()
        for rank, column in ((1, "first"), (2, "second")):
            assert ids[found.users[column]].tolist() == rows.loc[rows[c.RANK] == rank, c.POI_ID].tolist()
        first = rows.loc[rows[c.RANK] == 1, "probability"]
        assert found.users["probability"].tolist() == pytest.approx(first.tolist(), abs=1e-12)
        visits = expected_visits(ranker, chosen)
        assert ids[found.places[c.POI]].tolist() == visits[c.POI_ID].tolist()
        assert found.places["expected"].tolist() == pytest.approx(visits["expected"].tolist(), abs=1e-9)
        if day is None:
            assert found.followed == 0 and "counted" not in visits
        else:
            assert found.followed == found.places["counted"].sum() > 0
            assert found.places["counted"].tolist() == visits["counted"].tolist()
            assert found.places["expected_later"].sum() == pytest.approx(found.followed)
    recorded = next(iter(everyone_as_recorded(model)))
    assert (
        recorded.groupby(c.USER_ID, sort=False).size().tolist()
        == [min(20, model.dataset.num_pois)] * model.dataset.num_users
    )


def test_the_moment_of_a_case_lists_the_case_s_places(model: Workspace) -> None:
    """Next at a test case's check-in is Walk's prediction, and knows where the user went."""
    case = model.cases.iloc[3]
    found = predict_next(model, Itinerary(int(case[c.USER]), int(case[c.ROW])), show_truth=True)
    expected = predict_case(model, 3)
    assert found.truth == case[c.TARGET] and found.prediction.target_rank == expected.target_rank
    assert found.listed[c.POI].tolist() == expected.candidates[c.POI].tolist()
    assert found.listed["probability"].tolist() == pytest.approx(expected.candidates["probability"].tolist())
    assert found.listed["truth"].sum() == 1


def test_the_truth_is_not_listed_before_it_is_asked_for(model: Workspace) -> None:
    """Nor is it known after a changed stop."""
    case = model.cases.iloc[3]
    asked = Itinerary(int(case[c.USER]), int(case[c.ROW]))
    hidden = predict_next(model, asked)
    assert len(hidden.listed) == 10 and not hidden.shows_truth and c.TARGET not in hidden.prediction.case
    assert predict_next(model, asked.plus(1, 30), show_truth=True).truth is None


def test_the_reason_is_what_sets_a_place_apart(model: Workspace) -> None:
    """Of each place the group that is most above the list's mean contribution."""
    listed = predict_next(model, at_last(model, 5)).listed
    parts = listed[list(c.part_columns(listed.columns).values())]
    above = parts - parts.mean()
    assert listed["reason"].tolist() == [str(name).removeprefix("part_") for name in above.idxmax(axis=1)]


def test_places_that_hold_nine_tenths(model: Workspace) -> None:
    """Fewer would hold less."""
    found = predict_next(model, at_last(model, 5), top=model.dataset.num_pois)
    held = np.cumsum(found.listed["probability"].to_numpy())
    assert found.held_by is not None
    assert held[found.held_by - 1] >= 0.9 - 1e-12 > held[found.held_by - 2] or found.held_by == 1
    assert places_holding(np.full(10, 0.1), 0.9) == 9


def test_a_new_user(model: Workspace) -> None:
    """A counter predicts from the stops alone; a model with a vector for each user takes their mean."""
    asked = Itinerary().plus(1, 0).plus(2, 30).plus(1, 30)
    counted = predict_next(model.with_model("count_plus_markov"), asked)
    assert counted.listed[c.POI].iloc[0] in (1, 2) and counted.held_by is None
    found = predict_next(model, asked)
    assert found.listed["probability"].between(0, 1).all() and found.listed["reason"].all()
    assert isinstance(model.scorer, RecapScorer)
    mean_D = model.scorer.model.backbone.user_embedding.weight.mean(0)
    new = model.scorer.for_new_user()
    assert torch.equal(new.model.backbone.user_embedding.weight[-1], mean_D)
    known = pack_histories([at_last(model, 5).history(model)])
    assert torch.equal(new.score(known).total, model.scorer.score(known).total)
    assert len(model.scorer.model.backbone.user_embedding.weight) == model.dataset.num_users


def test_only_places_of_enough_people_are_offered(model: Workspace) -> None:
    """People are the predicted users who have been there by then."""
    found = predict_everyone(model)
    checkins = model.dataset.checkins.drop_duplicates([c.USER, c.POI])
    people = checkins.groupby(c.POI)[c.USER].size()
    offered = offered_places(found.places, 5)
    assert set(offered[c.POI]) == set(people.index[people >= 5])
    assert "counted" not in offered and len(offered) < len(found.places)
