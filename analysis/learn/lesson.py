"""What a lesson is: words, a prediction, scenes that a handle moves through, a check, and a way to go deeper.

A `Lesson` is made for one city and one reader; every number in it was computed when it was made, and a `Scene` when its
handles were moved.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from analysis.learn.charts import Chart
from analysis.workspace import Workspace
from recap.errors import RecapError

MOST_CHOICES: Final = 6
Audience = Literal["student", "stakeholder", "researcher"]


class LessonUnavailableError(RecapError):
    """The city at hand cannot show this lesson; the message says what it lacks."""


def require_model(city: Workspace) -> Workspace:
    """The city as it is, where a trained RECAP is open with it.

    Raises:
        LessonUnavailableError: none is.
    """
    if not city.has_parts:
        raise LessonUnavailableError(
            "This lesson needs a trained RECAP, and none is open. Choose one in the list above."
        )
    return city


@dataclass(frozen=True)
class Choice:
    """An answer, and what is replied to whoever gives it."""

    label: str
    reply: str


@dataclass(frozen=True)
class Question:
    """A question with one right answer, found in the data.

    Attributes:
        prompt: the question.
        choices: two to `MOST_CHOICES` answers in the order they are shown.
        right: index of the right one.
    """

    prompt: str
    choices: tuple[Choice, ...]
    right: int

    def __post_init__(self) -> None:
        if not 2 <= len(self.choices) <= MOST_CHOICES or not 0 <= self.right < len(self.choices):
            raise ValueError(f"{len(self.choices)} choices, of which number {self.right} is right")
        if len({choice.label for choice in self.choices}) < len(self.choices):
            raise ValueError(f"two choices of {self.prompt!r} read the same")


@dataclass(frozen=True)
class Handle:
    """What the learner moves.

    Attributes:
        name: in code and in a widget's key.
        label: on screen.
        positions: what can be chosen, in order.
        start: index of the first position shown.
        kind: a slider, or a list to choose from where positions have no order.
    """

    name: str
    label: str
    positions: tuple[str, ...]
    start: int = 0
    kind: Literal["slider", "list"] = "slider"


@dataclass(frozen=True)
class Scene:
    """What one position of the handles shows.

    Attributes:
        finding: a sentence, as a heading.
        charts: with their tables and the sentences that a screen reader reads.
        note: over what, and how sure.
    """

    finding: str
    charts: tuple[Chart, ...]
    note: str = ""


Told = Callable[[int, int, str], None]
"""Progress: (done, in all, what is happening)."""


@dataclass(frozen=True)
class Training:
    """A small model that trains while the learner watches.

    Attributes:
        label: of the button.
        words: what will be trained.
        handles: what is chosen before.
        run: trains with positions of the handles and tells how far it is.
    """

    label: str
    words: str
    handles: tuple[Handle, ...]
    run: Callable[[tuple[int, ...], Told], Scene]


@dataclass(frozen=True)
class Deeper:
    """A link into a view that shows the same, with the state carried over.

    Attributes:
        params: of the link.
        moved: what positions of the lesson's handles add to them.
    """

    view: str
    label: str
    params: Mapping[str, str] = field(default_factory=dict)
    moved: Callable[[tuple[int, ...]], Mapping[str, str]] = field(default=lambda at: {})


@dataclass(frozen=True)
class Card:
    """A case that a question is about."""

    title: str
    words: str


@dataclass(frozen=True)
class Outline:
    """What is known of a lesson before any city is opened, for lists and for teachers.

    Attributes:
        key: in links and code.
        title, idea: what it is called, and its one idea.
        minutes: how long it takes.
        aim: what a learner can do after it.
        questions: to talk about.
        terms: of the glossary, which the lesson explains beside it.
    """

    key: str
    title: str
    idea: str
    minutes: int
    aim: str
    questions: tuple[str, ...]
    terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """A lesson for one city and one reader.

    Attributes:
        intro: before the prediction, in Markdown without data in it that was not escaped.
        prediction: committed to before the reveal; its replies open the reveal.
        handles: what moves the scene.
        scene: what positions of the handles show.
        lesson_learned: the idea in one or two sentences, after the reveal.
        aside: one more sentence for each kind of reader.
        check: asked last.
        deeper: where to go on.
        cards: cases that the prediction is about.
        training: a model to train, if the lesson has one.
        contrast: what the city's own model says beside the training's result.
    """

    outline: Outline
    intro: str
    prediction: Question
    handles: tuple[Handle, ...]
    scene: Callable[[tuple[int, ...]], Scene]
    lesson_learned: str
    aside: Mapping[Audience, str]
    check: Question
    deeper: Deeper
    cards: tuple[Card, ...] = ()
    training: Training | None = None
    contrast: Scene | None = None

    @property
    def start(self) -> tuple[int, ...]:
        """The handles' first positions."""
        return tuple(handle.start for handle in self.handles)
