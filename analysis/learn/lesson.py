"""The parts of a lesson: a picture and a guess, a scene with handles, and a check question.

A `Lesson` is made for one city; every number in it is computed when it is made, and a `Scene` when its handles move.
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
        LessonUnavailableError: none is.
    """
    if not city.has_parts:
        raise LessonUnavailableError("This lesson needs a trained RECAP. Choose one in the list above.")
    return city


@dataclass(frozen=True)
class Choice:
    """An answer and the reply to it."""

    label: str
    reply: str


@dataclass(frozen=True)
class Question:
    """A question with one right answer, computed from the data.

    Attributes:
        prompt: the question, in Markdown.
        choices: two to `MOST_CHOICES` answers in the order they are shown.
        right: index of the right one.
        picture: what to look at before answering; None where the scene above shows it.
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
        name: in code and in a widget's key.
        label: on screen.
        positions: what can be chosen, in order.
        start: index of the first position shown.
        kind: a slider, or a list where positions have no order.
    """

    name: str
    label: str
    positions: tuple[str, ...]
    start: int = 0
    kind: Literal["slider", "list"] = "slider"


@dataclass(frozen=True)
class Scene:
    """The figure at one position of the handles.

    Attributes:
        finding: a sentence, as a heading.
        charts: with their tables and the sentences that a screen reader reads.
        note: one line below.
    """

    finding: str
    charts: tuple[Chart, ...]
    note: str = ""


Report = Callable[[int, int, str], None]
"""Progress: (done, in all, what is happening)."""


@dataclass(frozen=True)
class Training:
    """Small models that train while the learner watches.

    Attributes:
        label: of the button.
        words: what will be trained.
        handles: what is chosen before.
        run: trains with positions of the handles and reports progress.
    """

    label: str
    words: str
    handles: tuple[Handle, ...]
    run: Callable[[tuple[int, ...], Report], Scene]


@dataclass(frozen=True)
class Deeper:
    """A link into a view that shows the same.

    Attributes:
        params: of the link.
        moved: what positions of the lesson's handles add to them.
    """

    view: str
    label: str
    params: Mapping[str, str] = field(default_factory=dict)
    moved: Callable[[tuple[int, ...]], Mapping[str, str]] = field(default=lambda at: {})


@dataclass(frozen=True)
class Outline:
    """Facts about a lesson that need no city.

    Attributes:
        key: in links and code.
        title, idea: what it is called, and its one idea.
        minutes: how long it takes in class.
        questions: to talk about.
        terms: of the glossary.
        reads: the model whose parts the lesson explains: the default's curves, the paper's prior, or any.
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
        handles: what moves the scene.
        scene: what positions of the handles show.
        idea: one or two sentences after the reveal.
        check: asked last.
        deeper: where to go on.
        training: small models to train, if the lesson has any.
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
        """The handles' first positions."""
        return tuple(handle.start for handle in self.handles)
