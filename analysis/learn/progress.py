"""A learner's progress as two letters per lesson in the link; no server keeps it.

``ba--`` means: the learner guessed the second answer of the first lesson, gave the first answer to its check, and has
not begun the second lesson.
"""

from dataclasses import dataclass
from string import ascii_lowercase
from typing import Final, Self

from analysis.learn.lesson import MOST_CHOICES

QUESTIONS: Final = 2
"""Of each lesson: the guess and the check."""
_NONE: Final = "-"
_LETTERS: Final = ascii_lowercase[:MOST_CHOICES]


@dataclass(frozen=True)
class CourseProgress:
    """Answers as indices of choices, None for none: of each lesson the guess before the reveal, and the last check."""

    answers: tuple[int | None, ...]

    @classmethod
    def parse(cls, text: str, lessons: int) -> Self:
        """Read a link's text; unreadable parts count as not answered.

        >>> CourseProgress.parse("ba-x", 2)
        CourseProgress(answers=(1, 0, None, None))
        """
        letters = text[: QUESTIONS * lessons].ljust(QUESTIONS * lessons, _NONE)
        return cls(tuple(_LETTERS.find(letter) if letter in _LETTERS else None for letter in letters))

    @property
    def text(self) -> str:
        return "".join(_NONE if answer is None else _LETTERS[answer] for answer in self.answers).rstrip(_NONE)

    @property
    def guesses(self) -> tuple[int | None, ...]:
        return self.answers[0::QUESTIONS]

    @property
    def checks(self) -> tuple[int | None, ...]:
        return self.answers[1::QUESTIONS]

    def with_guess(self, lesson: int, choice: int) -> Self:
        return self._with(QUESTIONS * lesson, choice)

    def with_check(self, lesson: int, choice: int) -> Self:
        return self._with(QUESTIONS * lesson + 1, choice)

    def without(self, lesson: int) -> Self:
        """Start one lesson again."""
        return self._with(QUESTIONS * lesson, None, None)

    def _with(self, start: int, *answers: int | None) -> Self:
        return type(self)((*self.answers[:start], *answers, *self.answers[start + len(answers) :]))

    def answered(self, lesson: int) -> int:
        return QUESTIONS - self.answers[QUESTIONS * lesson :][:QUESTIONS].count(None)

    def is_done(self, lesson: int) -> bool:
        return self.answered(lesson) == QUESTIONS
