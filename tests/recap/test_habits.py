"""Further habits by hand: visits by age and hour, and places that are overdue."""

from math import cos, exp, log, log1p, pi

import pytest
import torch
from recap.evidence.config import HOUR_FEATURES, EvidenceConfig, HabitsConfig
from recap.evidence.features import EvidenceFeatures

from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.scores import CaseBatch
from tests.checkins import small_dataset

ROWS = [("ann", "home", 0.0), ("ann", "cafe", 3.0), ("ann", "home", 24.0), ("ann", "home", 36.0), ("ann", "cafe", 39.0)]
SCALES = HabitsConfig(decay_days=(1.0,), recency_days=(2.0,))


def found() -> dict[str, dict[str, float]]:
    """Features of home and café at the last check-in at home."""
    return features_at(SCALES, ROWS, 3)


def features_at(habits: HabitsConfig, rows: list[tuple[str, str, float]], row: int) -> dict[str, dict[str, float]]:
    """Features of every candidate by place, at a row."""
    config = EvidenceConfig(habits=habits)
    dataset = small_dataset(rows)
    features = EvidenceFeatures.from_dataset(dataset, TransitionGraph.from_dataset(dataset), config)
    evidence = features.of(CaseBatch(CheckinTensors.from_dataset(dataset), torch.tensor([row])))
    places = [str(dataset.pois["poi_id"].iat[poi]) for poi in evidence.poi_C.tolist()]
    return {
        place: dict(zip(config.packed_features, values, strict=True))
        for place, values in zip(places, evidence.packed_CF.tolist(), strict=True)
    }


def test_visits_by_hand() -> None:
    """The case stands at home, hour 36. Ages in days: home 1.5, .5 and 0; the café 33 hours."""
    home, cafe = found()["home"], found()["cafe"]
    assert home["visits_1_days"] == pytest.approx(log1p(5 * (exp(-1.5) + exp(-0.5) + 1)))
    assert (home["visits_ever"], cafe["visits_ever"]) == pytest.approx((log1p(15), log1p(5)))
    assert (home["recency_2_days"], cafe["recency_2_days"]) == pytest.approx((1.0, exp(-33 / 48)))


def test_regularity_by_hand() -> None:
    """Home: 0 days since the last visit, 1.5 / 2 between; compared to .02 days. The café was visited once: 0."""
    home, cafe = found()["home"], found()["cafe"]
    assert (home["overdue"], home["underdue"]) == pytest.approx((0, log(0.77 / 0.02)))
    assert (cafe["overdue"], cafe["underdue"]) == (0, 0)


def test_hours_by_hand() -> None:
    """The case stands at home on Monday at 4, a week after a café at 5, a bar at 8 and a park at 11 of one day."""
    rows = [("ann", "cafe", 1.0), ("ann", "bar", 4.0), ("ann", "park", 7.0), ("ann", "home", 168.0)]
    found = features_at(HabitsConfig(hours=True), [*rows, ("ann", "home", 169.0)], 3)
    cafe, bar, park, home = (found[place] for place in ("cafe", "bar", "park", "home"))
    cafe_habit, bar_habit, park_habit = (log1p(5 * exp(-(168 - hour) / 24 / 60)) for hour in (1, 4, 7))
    later = [f"visits_{span}_hours_later" for span in ("0_to_2", "2_to_5", "5_to_9")]
    assert [cafe[name] for name in later] == pytest.approx([cafe_habit, 0, 0])
    assert [bar[name] for name in later] == pytest.approx([0, bar_habit, 0])
    assert [park[name] for name in later] == pytest.approx([0, 0, park_habit])
    assert [home[name] for name in later] == [0, 0, 0]
    close = {width: exp((cos(2 * pi / 24) - 1) / (2 * pi * width / 24) ** 2) for width in (0.5, 3.0)}
    assert cafe["visits_close_to_hour"] == pytest.approx(log1p(5 * exp(-167 / 24 / 60) * close[0.5]))
    assert cafe["visits_about_hour"] == pytest.approx(log1p(5 * exp(-167 / 24 / 60) * close[3.0]))
    assert (cafe["visits_first_of_day"], bar["visits_first_of_day"]) == pytest.approx((cafe_habit, 0))
    assert [place["visits_on_weekday"] for place in (bar, home)] == pytest.approx([bar_habit, log1p(5)])
    assert home["visits_first_of_day"] == pytest.approx(log1p(5))


def test_hours_are_left_out_where_nobody_asked() -> None:
    """Finished trainings keep their features and their digest."""
    assert not set(HOUR_FEATURES) & set(HabitsConfig().names)
    assert "hours" not in HabitsConfig().model_dump(exclude_none=True)
    assert HabitsConfig(hours=True).names == (*HabitsConfig().names, *HOUR_FEATURES)
