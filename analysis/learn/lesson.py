"""The parts of a lesson: a picture and a guess, a scene with handles, and a check question.

A `Lesson` belongs to one city, whose data give every number in it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from analysis.learn.charts import Chart
from analysis.workspace import Workspace
from recap.errors import RecapError

MOST_CHOICES: Final = 6


class LessonUnavailableError(RecapError):
    """The open city cannot show this lesson; the message says why."""


def require_model(city: Workspace) -> Workspace:
    """The city, if a trained RECAP is open.

    Raises:
        LessonUnavailableError: none is open.
    """
    if not city.has_parts:
        raise LessonUnavailableError("This lesson needs a trained RECAP. Choose one in the list above.")
    return city


@dataclass(frozen=True)
class Choice:
    label: str
    reply: str


@dataclass(frozen=True)
class Question:
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
    """A control that the learner moves.

    Attributes:
        start: index of the first position shown.
        kind: a slider, or a list if positions have no order.
    """

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
    """Small models that train while the learner watches.

    Attributes:
        words: what will be trained.
        run: trains at positions of the handles and reports progress.
    """

    label: str
    words: str
    handles: tuple[Handle, ...]
    run: Callable[[tuple[int, ...], Report], Scene]


@dataclass(frozen=True)
class Deeper:
    """A link into a view that shows the same.

    Attributes:
        moved: parameters to add for positions of the lesson's handles.
    """

    view: str
    label: str
    params: Mapping[str, str] = field(default_factory=dict)
    moved: Callable[[tuple[int, ...]], Mapping[str, str]] = field(default=lambda at: {})


@dataclass(frozen=True)
class Outline:
    """Facts about a lesson that need no city.

    Attributes:
        minutes: how long it takes in class.
        questions: to discuss.
        terms: keys of the glossary.
        reads: the model that the lesson explains: the default's curves, the paper's prior, or any.
    """

    key: str
    title: str
    idea: str
    minutes: int
    questions: tuple[str, ...]
    terms: tuple[str, ...] = ()
    reads: Literal["curves", "prior", "any"] = "any"


@dataclass(frozen=True)
class Lesson:
    """A lesson for one city.

    Attributes:
        intro: before the guess, in Markdown; text from data is escaped.
        guess: asked with its picture before the reveal.
        scene: the figure at positions of the handles.
        idea: one or two sentences after the reveal.
        check: asked last.
    """

    outline: Outline
    intro: str
    guess: Question
    handles: tuple[Handle, ...]
    scene: Callable[[tuple[int, ...]], Scene]
    idea: str
    check: Question
    deeper: Deeper
    training: Training | None = None

    @property
    def start(self) -> tuple[int, ...]:
        return tuple(handle.start for handle in self.handles)
