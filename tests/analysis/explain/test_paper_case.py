"""The paper's case (Fig. 8): BBQ joint, stadium, airport; an unseen step, a path by train, one past visit."""

from functools import cache

import pytest

from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from analysis.workspace import Workspace
from recap import columns as c
from recap.predictor import Predictor
from tests.analysis.planted import predictor_of
from tests.checkins import split_dataset

BBQ, STADIUM, STATION, AIRPORT, BAR, HOME = range(6)
NAMES = ["BBQ Joint", "Stadium", "Train Station", "Airport", "Bar", "Home"]
TRAIN, TEST = c.TRAIN, c.TEST
WALKS = [
    # The user of the case: one past visit to the airport, never from the stadium.
    (0, [(HOME, TRAIN), (AIRPORT, TRAIN), (HOME, TRAIN), (BAR, TRAIN), (HOME, TRAIN)]),
    (0, [(BBQ, TEST), (STADIUM, TEST), (AIRPORT, TEST)]),
    # Others: stadium -> train station five times, train station -> airport four times.
    *[(1, [(STADIUM, TRAIN), (STATION, TRAIN), (AIRPORT, TRAIN)]) for _ in range(4)],
    (1, [(STADIUM, TRAIN), (STATION, TRAIN), (HOME, TRAIN)]),
    (1, [(STADIUM, TRAIN), (BAR, TRAIN), (HOME, TRAIN), (STADIUM, TRAIN), (BAR, TRAIN), (HOME, TRAIN)]),
    (1, [(BBQ, c.VAL), (HOME, c.VAL)]),
]


@cache
def case() -> tuple[Predictor, CaseExplanation]:
    dataset = split_dataset(WALKS, len(NAMES))
    dataset.pois[c.POI_NAME] = NAMES
    predictor = predictor_of(dataset, seed=5)
    return predictor, explain_case(predictor, 1, top=6, search=True)


def test_paths_and_visits_of_the_case() -> None:
    """An unseen pair; 5 and 4 transitions over the train station; one visit, five check-ins before."""
    predictor, explanation = case()
    assert (explanation.source_name, explanation.target_name) == ("Stadium", "Airport")
    assert explanation.transition_count == 0 and explanation.is_known and explanation.within_two_hops
    (path,) = explanation.paths
    assert (path.name, path.count_in, path.total_in, path.count_out, path.total_out) == ("Train Station", 5, 7, 4, 5)
    assert (path.product, path.share) == pytest.approx((4 / 7, 1.0))
    (visit,) = explanation.visits[0].visits
    assert (visit.visit, visit.checkins_ago) == (1, 5) and visit.days_ago == pytest.approx(5 / 24)
    assert explanation.inactive == [] and predictor.dataset.num_pois == explanation.num_places == 6


def test_all_renderings_hold_the_same_numbers() -> None:
    """The page shows ranks and counts, escapes names, and asks for nothing outside."""
    predictor, explanation = case()
    opened = Workspace(predictor.dataset, predictor.graph)
    page = render_html(share_cases([explanation], opened, exact=True))
    notebook = str(explanation._repr_html_())
    for explained in ("Train Station", explanation.local_time):
        assert explained in page and explained in notebook
    for outside in ("http:", "https:", "src=", "url(", "<script", "@import"):
        assert outside not in page and outside not in notebook
    hostile = explanation.model_copy(update={"source_name": '<img src=x onerror="alert(1)">'})
    assert "<img" not in str(hostile._repr_html_()) and "&lt;img" in str(hostile._repr_html_())
