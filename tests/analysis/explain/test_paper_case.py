"""The paper's case (Fig. 8): BBQ joint, stadium, airport; an unseen step, a path by train, one past visit."""

import json
from functools import cache

import pytest
import torch

from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.records.loaded_dataset import LoadedDataset
from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from recap import columns as c
from recap.predictor import Predictor
from recap.scores import Scores
from tests.analysis.planted import predictor_with
from tests.checkins import split_dataset
from tests.worlds import shake

BBQ, STADIUM, STATION, AIRPORT, BAR, HOME = range(6)
NAMES = ["BBQ Joint", "Stadium", "Train Station", "Airport", "Bar", "Home"]
TRAIN, TEST = c.TRAIN, c.TEST
WALKS = [
    # The walker of the case: one past visit to the airport, never from the stadium.
    (0, [(HOME, TRAIN), (AIRPORT, TRAIN), (HOME, TRAIN), (BAR, TRAIN), (HOME, TRAIN)]),
    (0, [(BBQ, TEST), (STADIUM, TEST), (AIRPORT, TEST)]),
    # Others: stadium -> train station five times, train station -> airport four times.
    *[(1, [(STADIUM, TRAIN), (STATION, TRAIN), (AIRPORT, TRAIN)]) for _ in range(4)],
    (1, [(STADIUM, TRAIN), (STATION, TRAIN), (HOME, TRAIN)]),
    (1, [(STADIUM, TRAIN), (BAR, TRAIN), (HOME, TRAIN), (STADIUM, TRAIN), (BAR, TRAIN), (HOME, TRAIN)]),
    (1, [(BBQ, c.VAL), (HOME, c.VAL)]),
]


@cache
def case() -> tuple[Predictor, FullExplanation]:
    dataset = split_dataset(WALKS, len(NAMES))
    dataset.pois[c.POI_NAME] = NAMES
    predictor = predictor_with(dataset, lambda model: shake(model, seed=5))
    return predictor, explain_fully(predictor, 1, top=6, search=True)


def test_the_evidence_of_the_case() -> None:
    """An unseen pair; 5 and 4 transitions over the train station with their rows; one visit, five check-ins before."""
    predictor, explanation = case()
    assert (explanation.source_name, explanation.target_name) == ("Stadium", "Airport")
    assert explanation.transition_count == 0 and explanation.in_history and explanation.two_step_walk
    (path,) = explanation.path_evidence
    assert (path.name, path.count_in, path.count_out) == ("Train Station", 5, 4)
    assert (path.p_in, path.p_out, path.product) == pytest.approx((5 / 7, 4 / 5, 4 / 7))
    assert path.share == 1.0 and explanation.a2_source_target == pytest.approx(4 / 7, abs=1e-12)
    assert path.rows_in.walkers == ["Walker 001"] * 5 and path.rows_in.trajectories == [2, 3, 4, 5, 6]
    assert path.rows_out.trajectories == [2, 3, 4, 5] and len(set(path.rows_out.times)) == 4
    airport = explanation.revisits[0]
    assert airport.count == 1 and airport.visits[0].visit == 1 and airport.recency_steps == 5
    assert airport.visits[0].days_ago == pytest.approx(5 / 24) and not airport.in_recent_window
    assert explanation.inactive == [] and explanation.num_hops == 2
    assert predictor.dataset.num_pois == explanation.num_places == 6


def test_the_score_parts_of_the_case() -> None:
    """Every place's parts add up to the batched total, which is the hand sum of the parts."""
    predictor, explanation = case()
    scores: Scores = predictor.score(predictor.batch(predictor.cases["row"].tolist()))
    assert len(explanation.candidates) == 6
    for entry in explanation.candidates:
        assert entry.total == pytest.approx(float(scores.total[1, entry.poi]), abs=1e-12)
        assert abs(entry.residual) < 1e-12
        assert entry.prior == pytest.approx(entry.count + entry.recency + entry.window - entry.clip_loss)
    assert sum(entry.probability for entry in explanation.candidates) == pytest.approx(1)


def test_the_counterfactuals_of_the_case() -> None:
    """The one path cut by hand: the frozen cut is the only way to the airport; recounted cuts renormalise."""
    predictor, explanation = case()
    (path,) = explanation.path_evidence
    assert path.frozen is not None and path.recounted_in is not None and path.recounted_out is not None
    embedding = predictor.model.poi_embedding.weight.numpy()
    # A_stadium = station 5/7, bar 2/7; A_station = airport 4/5, home 1/5; A_bar = home.
    frozen = 5 / 7 * (1 / 5 * embedding[HOME]) + 2 / 7 * embedding[HOME]
    recounted_in = embedding[HOME]
    recounted_out = 5 / 7 * embedding[HOME] + 2 / 7 * embedding[HOME]
    batch = predictor.batch([int(predictor.cases["row"][1])])
    for row, outcome in ((frozen, path.frozen), (recounted_in, path.recounted_in), (recounted_out, path.recounted_out)):
        propagated = torch.zeros(6, len(row), dtype=torch.float64)
        propagated[STADIUM] = torch.from_numpy(row)
        with torch.inference_mode():
            total_P = predictor.model(batch, predictor.stage, propagated).total[0]
        assert outcome.logit == pytest.approx(float(total_P[AIRPORT]), abs=1e-9)
    kinds = [entry.item.kind for entry in explanation.leave_one_out or []]
    assert sorted(set(kinds)) == ["checkin", "correction", "count", "graph_token", "path", "recency", "user"]


def test_the_words_of_the_case() -> None:
    """What the paper says of it, said here from the numbers."""
    _, explanation = case()
    said = " ".join(sentence.text for sentence in explanation.sentences)
    assert "This user had made 1 visit to Airport, the last 5 hours ago." in said
    assert "In training, nobody went from Stadium to Airport." in said


def test_all_renderings_hold_the_same_numbers() -> None:
    """JSON reads back; the page shows ranks and counts, escapes names, and asks for nothing outside."""
    predictor, explanation = case()
    assert FullExplanation.parse(json.loads(explanation.model_dump_json())) == explanation
    opened = LoadedDataset(predictor.dataset, predictor.graph)
    page = render_html(share_cases([explanation], opened, exact=True))
    notebook = str(explanation._repr_html_())
    for told in ("Train Station", explanation.revisits[0].now_time):
        assert told in page and told in notebook
    for outside in ("http:", "https:", "src=", "url(", "<script", "@import"):
        assert outside not in page and outside not in notebook
    hostile = explanation.model_copy(update={"source_name": '<img src=x onerror="alert(1)">'})
    assert "<img" not in str(hostile._repr_html_()) and "&lt;img" in str(hostile._repr_html_())
