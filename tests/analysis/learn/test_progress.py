"""Progress in a link: what is written is read again, and anything else is no answer."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.learn.lesson import MOST_CHOICES
from analysis.learn.progress import Progress

CHOICES = st.one_of(st.none(), st.integers(0, MOST_CHOICES - 1))


@given(st.lists(st.tuples(CHOICES, CHOICES), min_size=1, max_size=12))
def test_what_is_written_is_read(answers: list[tuple[int | None, int | None]]) -> None:
    """For any answers: text and back, and how many there are; one lesson begun again leaves the others."""
    progress = Progress(*map(tuple, zip(*answers, strict=True)))
    assert Progress.parse(progress.text, len(answers)) == progress
    done = sum(answer is not None for pair in answers for answer in pair)
    assert sum(map(progress.answered, range(len(answers)))) == done
    again = progress.without(0)
    assert (again.guesses[0], again.checks[0]) == (None, None)
    assert (again.guesses[1:], again.checks[1:]) == (progress.guesses[1:], progress.checks[1:])


@given(st.text(max_size=60), st.integers(1, 12))
def test_any_text_is_some_progress(text: str, lessons: int) -> None:
    """Whatever a link brings: every lesson has an answer that a question could have, or none."""
    progress = Progress.parse(text, lessons)
    assert len(progress.guesses) == len(progress.checks) == lessons
    assert all(answer is None or 0 <= answer < MOST_CHOICES for answer in progress.guesses + progress.checks)
