"""A learner's progress as two letters per lesson in the link; no server keeps it.

``ba--`` means: the learner guessed the second answer of the first lesson, gave the first answer to its check, and has
not begun the second lesson.
"""

from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Final, Self

from analysis.learn.lesson import MOST_CHOICES

QUESTIONS: Final = 2
"""Of each lesson: the guess and the check."""
_NONE: Final = "-"
_LETTERS: Final = ascii_lowercase[:MOST_CHOICES]


@dataclass(frozen=True)
class CourseProgress:
    """Answers by lesson as indices of choices, None for none: guesses before the reveal, and last checks."""

    guesses: tuple[int | None, ...]
    checks: tuple[int | None, ...]

    @classmethod
    def parse(cls, text: str, lessons: int) -> Self:
        """Read a link's text; unreadable parts count as not answered.

        >>> CourseProgress.parse("ba-x", 2)
        CourseProgress(guesses=(1, None), checks=(0, None))
        """
        known = [_LETTERS.find(letter) if letter in _LETTERS else None for letter in text[: 2 * lessons]]
        padded = [*known, *[None] * (2 * lessons - len(known))]
        return cls(tuple(padded[0::2]), tuple(padded[1::2]))

    @property
    def text(self) -> str:
        answers = [answer for pair in zip(self.guesses, self.checks, strict=True) for answer in pair]
        return "".join(_NONE if answer is None else _LETTERS[answer] for answer in answers).rstrip(_NONE)

    def with_guess(self, lesson: int, choice: int) -> Self:
        return replace(self, guesses=(*self.guesses[:lesson], choice, *self.guesses[lesson + 1 :]))

    def with_check(self, lesson: int, choice: int) -> Self:
        return replace(self, checks=(*self.checks[:lesson], choice, *self.checks[lesson + 1 :]))

    def without(self, lesson: int) -> Self:
        """Start one lesson again."""
        guesses = (*self.guesses[:lesson], None, *self.guesses[lesson + 1 :])
        return type(self)(guesses, (*self.checks[:lesson], None, *self.checks[lesson + 1 :]))

    def answered(self, lesson: int) -> int:
        return (self.guesses[lesson] is not None) + (self.checks[lesson] is not None)

    def is_done(self, lesson: int) -> bool:
        return self.answered(lesson) == QUESTIONS
