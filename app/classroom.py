"""A class's answers, in memory only: how many learners chose which answer last, and never who."""

import hmac
import secrets
import threading
from dataclasses import dataclass
from typing import Any, Final, Literal

FEWEST_ANSWERS: Final = 5
"""From so many answers on, what was chosen is shown."""
MOST_LEARNERS: Final = 500
MOST_QUESTIONS: Final = 100
"""Above these the oldest are forgotten."""
QuestionKind = Literal["guess", "check"]


@dataclass(frozen=True)
class Asked:
    """A question: of a dataset and model (by their token), a lesson, and which of its two."""

    source: str
    lesson: str
    kind: QuestionKind


@dataclass(frozen=True)
class Tally:
    """How many answers there are, and how many for each choice; None if there are fewer than `FEWEST_ANSWERS`."""

    answers: int
    by_choice: tuple[int, ...] | None


class Classroom:
    """Each learner's last answer to each question, and the token of the teacher's page."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(12)
        self._answers: dict[Asked, dict[str, int]] = {}
        self._lock = threading.Lock()

    def opens_with(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def keep(self, asked: Asked, learner: str, choice: int) -> None:
        with self._lock:
            given = self._answers.pop(asked, {})
            given.pop(learner, None)
            given[learner] = choice
            self._answers[asked] = given
            _forget_oldest(given, MOST_LEARNERS)
            _forget_oldest(self._answers, MOST_QUESTIONS)

    def tally(self, asked: Asked, choices: int) -> Tally:
        with self._lock:
            given = list(self._answers.get(asked, {}).values())
        shown = tuple(map(given.count, range(choices))) if len(given) >= FEWEST_ANSWERS else None
        return Tally(len(given), shown)

    def forget(self, asked: Asked) -> None:
        with self._lock:
            self._answers.pop(asked, None)


def _forget_oldest(kept: dict[Any, Any], most: int) -> None:
    if len(kept) > most:
        del kept[next(iter(kept))]


_open: Classroom | None = None


def open_classroom() -> Classroom:
    """Count answers from now on, in this process."""
    global _open
    _open = Classroom()
    return _open


def current_classroom() -> Classroom | None:
    """The one that the start of the app opened; None if it was not asked to."""
    return _open
