"""The parts of a lesson: a picture and a guess, a scene with handles, and a check question.

A `Lesson` belongs to one city, whose data give every number in it.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from analysis.learn.charts import Chart
from analysis.records.bootstrap import MeanInterval, UserBootstrap
from analysis.workspace import Workspace
from recap.config import Config
from recap.errors import RecapError
from recap.storage.user_folder import data_path

MOST_CHOICES: Final = 6
QUARTERS: Final = (
    "Fewer than a quarter",
    "A quarter up to half",
    "Half up to three quarters",
    "Three quarters or more",
)
QUARTER_EDGES: Final = (0.25, 0.5, 0.75)
_SAMPLES: Final = 400


class LessonUnavailableError(RecapError):
    """The open city cannot show this lesson; the message says why."""


def require(holds: bool, lack: str) -> None:
    """Go on if the city has what a lesson needs; otherwise LessonUnavailableError, which says what it lacks."""
    if not holds:
        raise LessonUnavailableError(lack)


def require_model(city: Workspace) -> Workspace:
    """The city, if a trained RECAP is open; otherwise LessonUnavailableError."""
    require(city.has_parts, "This lesson needs a trained RECAP. Choose one in the list above.")
    return city


@dataclass(frozen=True)
class Choice:
    label: str
    reply: str


@dataclass(frozen=True)
class LessonQuestion:
    """A question with one right answer, computed from the data.

    Attributes:
        prompt: in Markdown.
        choices: two to `MOST_CHOICES` answers in the order they are shown.
        right: index of the right one.
        picture: to look at before answering; None if the scene above shows it.
    """

    prompt: str
    choices: tuple[Choice, ...]
    right: int
    picture: Chart | None = None

    def __post_init__(self) -> None:
        if not 2 <= len(self.choices) <= MOST_CHOICES or not 0 <= self.right < len(self.choices):
            raise ValueError(f"{len(self.choices)} choices, of which number {self.right} is right")
        if len({choice.label for choice in self.choices}) < len(self.choices):
            raise ValueError(f"two choices of {self.prompt!r} read the same")


@dataclass(frozen=True)
class Handle:
    """A slider that the learner moves, or a list if its positions have no order; it starts at the index ``start``."""

    name: str
    label: str
    positions: tuple[str, ...]
    start: int = 0
    kind: Literal["slider", "list"] = "slider"


@dataclass(frozen=True)
class Scene:
    """The figure at one position of the handles; ``finding`` is its heading, ``note`` a line below."""

    finding: str
    charts: tuple[Chart, ...]
    note: str = ""


Report = Callable[[int, int, str], None]
"""Progress: (done, in all, what is happening)."""


@dataclass(frozen=True)
class Training:
    """Small models that train at positions of the handles, and report, while the learner watches."""

    label: str
    words: str
    handles: tuple[Handle, ...]
    run: Callable[[tuple[int, ...], Report], Scene]


@dataclass(frozen=True)
class Deeper:
    """A link into a view that shows the same; positions of the lesson's handles add parameters."""

    view: str
    label: str
    params: Mapping[str, str] = field(default_factory=dict)
    moved: Callable[[tuple[int, ...]], Mapping[str, str]] = field(default=lambda at: {})


class Outline(Config):
    """Facts about a lesson that need no city, from `course.toml`.

    Attributes:
        idea, reveal: in one line, and in one or two sentences after the guess.
        minutes: how long it takes in class.
        does, needs: what the class does in it, and what must be open.
        questions: to discuss.
        terms: keys of the glossary.
        reads: the model that the lesson explains: the default's curves, the paper's prior, or any.
    """

    key: str
    title: str
    idea: str
    reveal: str
    minutes: int
    does: str
    needs: str
    questions: tuple[str, ...]
    terms: tuple[str, ...]
    reads: Literal["curves", "prior", "any"] = "any"


OUTLINES: Final = {
    key: Outline.parse({"key": key, **facts})
    for key, facts in tomllib.loads(data_path("analysis.learn", "course.toml").read_text(encoding="utf-8")).items()
}
"""By key, in the order of the course."""


@dataclass(frozen=True)
class Lesson:
    """A lesson for one city.

    Attributes:
        intro: before the guess, in Markdown; text from data is escaped.
        guess: asked with its picture before the reveal.
        scene: the figure at positions of the handles.
        idea: the outline's reveal, with what the city adds.
        check: asked last.
    """

    outline: Outline
    intro: str
    guess: LessonQuestion
    handles: tuple[Handle, ...]
    scene: Callable[[tuple[int, ...]], Scene]
    idea: str
    check: LessonQuestion
    deeper: Deeper
    training: Training | None = None

    @property
    def start(self) -> tuple[int, ...]:
        return tuple(handle.start for handle in self.handles)


def share_of(hits: np.ndarray, users: np.ndarray) -> MeanInterval:
    """The share of hits among cases of these users.

    >>> share_of(np.array([True, False, True, True]), np.array([0, 0, 1, 1])).value
    0.75
    """
    return UserBootstrap(users, _SAMPLES).measure(np.asarray(hits, dtype=np.float64)).intervals[0]


def share_question(
    prompt: str,
    share: float,
    *,
    fact: str,
    too_low: str,
    too_high: str,
    labels: tuple[str, ...] = QUARTERS,
    edges: tuple[float, ...] = QUARTER_EDGES,
    picture: Chart | None = None,
) -> LessonQuestion:
    """A question for a share; a share on an edge belongs to the answer above it.

    Args:
        fact: a sentence with the numbers, part of every reply.
        too_low, too_high: a hint after such a guess.

    >>> share_question("?", 0.5, fact="It is half.", too_low="More.", too_high="Fewer.").right
    2
    """
    right = int(np.searchsorted(edges, share, side="right"))
    answer = f"{labels[right][:1].lower()}{labels[right][1:]}"
    replies = [
        *[f"More than that: {answer}. {fact} {too_low}"] * right,
        f"Right. {fact}",
        *[f"Fewer than that: {answer}. {fact} {too_high}"] * (len(labels) - right - 1),
    ]
    return LessonQuestion(prompt, tuple(Choice(*pair) for pair in zip(labels, replies, strict=True)), right, picture)


def choose(prompt: str, labels: Sequence[str], right: int, fact: str, picture: Chart | None = None) -> LessonQuestion:
    """A question whose replies give the verdict and the fact.

    >>> choose("?", ("A", "B"), 1, "It is B.").choices[0].reply
    'Not quite, the answer is “B”. It is B.'
    """
    wrong = f"Not quite, the answer is “{labels[right]}”"
    replies = (f"{'Right' if number == right else wrong}. {fact}" for number in range(len(labels)))
    return LessonQuestion(prompt, tuple(map(Choice, labels, replies)), right, picture)


def larger(first: float, second: float, close: float) -> int:
    """0 if the first number is larger, 1 if the second is, 2 if they are close.

    >>> larger(0.5, 0.1, 0.05), larger(0.1, 0.12, 0.05)
    (0, 2)
    """
    return 2 if abs(first - second) < close else 0 if first > second else 1
