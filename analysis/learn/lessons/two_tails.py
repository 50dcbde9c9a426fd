"""Lesson 2: two long tails, by destination and by transition, and eta, which says where a tail begins."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.formatting import percent, times
from analysis.learn.charts import Lines, Series
from analysis.learn.lesson import Deeper, Handle, Lesson, LessonUnavailableError, Outline, Question, Scene
from analysis.learn.measure import choose, verdicts
from analysis.learn.vocabulary import Say
from analysis.workspace import Workspace
from recap import columns as c
from recap.graph import TAIL_MAX_COUNT
from recap.printable import markdown_text

OUTLINE: Final = Outline(
    "tails",
    "Two long tails",
    "Counted by place few are rare, counted by step most are.",
    3,
    "Say what eta does, and why it is set for steps.",
    (
        "What else has many common parts but rare pairs? Think of words and sentences.",
        "Where would you set eta, and who would notice?",
    ),
    ("head", "tail", "eta"),
)
MOST_ETA: Final = 9
_CLOSE: Final = 0.05


def rare_shares(cases: pd.DataFrame, eta: int) -> tuple[float, float]:
    """Shares of the distinct true places and of the distinct test steps that training saw at most eta times."""
    places = cases.drop_duplicates(c.TARGET)[c.DESTINATION_COUNT]
    steps = cases.drop_duplicates([c.SOURCE, c.TARGET])[c.TRANSITION_COUNT]
    return float((places <= eta).mean()), float((steps <= eta).mean())


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: no test case, or none for one of the answers of the check.
    """
    cases = world.cases
    if cases.empty:
        raise LessonUnavailableError("This city has no test case.")
    places, steps = rare_shares(cases, TAIL_MAX_COUNT)
    right = 2 if abs(places - steps) < _CLOSE else 0 if places > steps else 1
    fact = say(
        "Of the places {places_share} were seen at most once, of the {steps} {steps_share}.",
        places_share=percent(places),
        steps_share=percent(steps),
    )
    told = verdicts(right, 3)
    guess = choose(
        say("Take all {places} and all {steps} of the test weeks. Which were more often seen at most once before?"),
        (
            (say("The {places}"), f"{told[0]}. {fact} A place gathers visits from many sides."),
            (say("The {steps}"), f"{told[1]}. {fact} There are far more pairs than places."),
            ("About the same", f"{told[2]}. {fact}"),
        ),
        right,
    )
    shares = [rare_shares(cases, eta) for eta in range(MOST_ETA + 1)]

    least = world.dataset.manifest.config.min_poi_checkins
    kept = say(
        "When the city was prepared, {places} with fewer than {least} check-ins in all were left out, so few are rare.",
        least=least,
    )
    kept = kept if least > 1 else ""

    def scene(at: tuple[int, ...]) -> Scene:
        return _scene(say, shares, at[0], kept)

    return Lesson(
        OUTLINE,
        intro=say(
            "There are two ways to call something rare. You can count visits to a {place}. "
            "Or you can count a {step}: from one {place} to the next. "
            "The letter eta (η) says where rare ends: seen at most η times is the tail. The rest is the head."
        ),
        prediction=guess,
        handles=(Handle("eta", "Eta: seen at most so often", tuple(map(str, range(MOST_ETA + 1))), TAIL_MAX_COUNT),),
        scene=scene,
        lesson_learned=say(
            "Both curves rise with eta. A model can look good on rare {places} and still not know rare {steps}. "
            "So the tail is counted by {step}, with eta at one."
        ),
        aside={
            "student": "A word is seldom new. A sentence often is.",
            "stakeholder": "Ask of each report which tail it means. The two give other pictures of the same city.",
            "researcher": "Shares over distinct test pairs and distinct destinations. Tail: m_sd at most η. "
            "Destination counts are training check-ins, as in Fig. 2.",
        },
        check=_check(world, say, cases),
        deeper=Deeper("long_tail", "Move eta in Long tail", moved=lambda at: {"eta": str(at[0])}),
    )


def _scene(say: Say, shares: list[tuple[float, float]], eta: int, kept: str) -> Scene:
    places, steps = shares[eta]
    finding = say(
        "At eta {eta}, {rare_places} of {places} and {rare_steps} of {steps} are in the tail.",
        eta=eta,
        rare_places=percent(places),
        rare_steps=percent(steps),
    )
    lines = (
        Series(say("{Places}"), tuple(pair[0] for pair in shares), "baseline"),
        Series(say("{Steps}"), tuple(pair[1] for pair in shares), "model"),
    )
    chart = Lines(
        f"{finding} Two rising curves over eta from 0 to {MOST_ETA}.",
        "Eta",
        tuple(map(str, range(len(shares)))),
        lines,
        eta,
        percent=True,
    )
    return Scene(
        finding, (chart,), say("Over distinct true {places} and distinct {steps} of the test weeks. {kept}", kept=kept)
    )


def _check(world: Workspace, say: Say, cases: pd.DataFrame) -> Question:
    """Which of three steps is in the tail of steps, though its place is not rare."""
    count, visits = cases[c.TRANSITION_COUNT].to_numpy(), cases[c.DESTINATION_COUNT].to_numpy()
    middle = float(np.median(visits))
    kinds = {
        "tail": (count <= TAIL_MAX_COUNT) & (visits > middle),
        "common": (count > TAIL_MAX_COUNT) & (visits > middle),
        "small": (count > TAIL_MAX_COUNT) & (visits <= middle),
    }
    chosen = {}
    for name, mask in kinds.items():
        rows = np.flatnonzero(mask)
        if not len(rows):
            raise LessonUnavailableError("This city has too few kinds of steps for this lesson.")
        order = visits[rows] if name != "common" else count[rows]
        chosen[name] = int(rows[order.argmin() if name == "small" else order.argmax()])
    reasons = {
        "tail": "Right. The {place} is well known, but this {step} is at or below eta.",
        "common": "This {step} was seen {seen}, which is more than eta. So it is in the head.",
        "small": "The {place} is small, but this {step} was seen {seen}. That is more than eta.",
    }
    labels = world.labels
    answers = []
    for name in ("common", "tail", "small"):
        case = cases.iloc[chosen[name]]
        source, target = (markdown_text(labels[int(case[key])]) for key in (c.SOURCE, c.TARGET))
        seen = times(int(case[c.TRANSITION_COUNT])) if case[c.TRANSITION_COUNT] else "never"
        label = say(
            "{origin} → {target}: {place} seen {visits}, {step} seen {seen}",
            origin=source,
            target=target,
            visits=times(int(case[c.DESTINATION_COUNT])),
            seen=seen,
        )
        answers.append((label, say(reasons[name], seen=seen)))
    return choose(
        say("With eta at {eta}: which {step} is in the tail, though its {place} is not rare?", eta=TAIL_MAX_COUNT),
        tuple(answers),
        1,
    )
