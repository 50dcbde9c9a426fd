"""RECAP, time given: a second entry in the lists of models, next to what also knows the time."""

import pytest

from app.cached.comparisons import default_pair, same_question, side_options
from app.cached.tables import other_models, rankers
from app.settings import AppSettings
from app.sources import Source, find_sources, other_question
from recap.baselines import COUNTING_BASELINES
from recap.checkpoint import Checkpoint
from tests.app.app_driver import calm_view, texts
from tests.learn_worlds import DEMO


@pytest.fixture
def timed(demo_city: None) -> Source:
    sources = find_sources(AppSettings.from_environment())
    assert not sources[0].given_time and sources[1].given_time, "the question without the time stays the first"
    assert other_question(sources, sources[0]) == sources[1] and other_question(sources, sources[1]) == sources[0]
    return sources[1]


def test_it_has_its_own_hash_and_name(timed: Source) -> None:
    assert timed.checkpoint_hash == Checkpoint.load(DEMO / "checkpoint").given_time.hash
    assert timed.label.endswith(" · RECAP, time given")


def test_only_what_knows_the_time_stands_next_to_it(timed: Source) -> None:
    """And in Compare the same model without it, to show what knowing the time is worth."""
    shown = rankers(timed, "hr20")
    assert not set(COUNTING_BASELINES) & set(shown) and all(ranker.reads_time for ranker in shown.values())
    assert list(other_models(timed)) == ["Visit count, time given"]
    options = side_options(timed)
    (other,) = [option for option in options.values() if not option.reads_time]
    a, own = (options[token] for token in default_pair(timed))
    assert same_question(a, own, timed) == (a, own)
    assert same_question(other, a, timed) == (other, own) and same_question(a, other, timed) == (own, other)


@pytest.mark.parametrize("view", ["overview", "walk", "explain", "long_tail", "compare", "cases", "present"])
def test_every_view_says_that_the_time_is_given(timed: Source, view: str) -> None:
    app = calm_view(view, source=timed.token)
    said = [
        texts(app),
        *(metric.label for metric in app.metric),
        *(box.format_func(box.value) for box in app.selectbox),
    ]
    assert any("time given" in text for text in said), view
    assert "Counting past visits alone" not in texts(app)
