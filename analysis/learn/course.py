"""The course: ten lessons in their order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from analysis.learn.lesson import Lesson, Outline
from analysis.learn.lessons import (
    coincidence,
    coming_back,
    compose,
    context,
    holdout,
    hops,
    ledger,
    popular_place,
    privacy,
    two_tails,
)
from analysis.learn.vocabulary import Say
from analysis.workspace import Workspace


@dataclass(frozen=True)
class Entry:
    """A lesson of the course: its outline, and how it is made for a city and a reader."""

    outline: Outline
    build: Callable[[Workspace, Say], Lesson]


_MODULES: Final = (
    popular_place,
    two_tails,
    compose,
    hops,
    coming_back,
    context,
    holdout,
    coincidence,
    ledger,
    privacy,
)
COURSE: Final = tuple(Entry(module.OUTLINE, module.build) for module in _MODULES)
"""Lesson by lesson."""
MINUTES: Final = sum(entry.outline.minutes for entry in COURSE)
