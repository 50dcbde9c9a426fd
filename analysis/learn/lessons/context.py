"""Lesson 6: the same candidate at 8:00 and at 20:00, and the gate between."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.formatting import ordinal, points, signed_points
from analysis.learn.charts import Lines, Series
from analysis.learn.lesson import (
    Deeper,
    Handle,
    Lesson,
    LessonUnavailableError,
    Outline,
    Question,
    Scene,
    require_model,
)
from analysis.learn.measure import choose
from analysis.learn.vocabulary import Say
from analysis.workspace import Workspace
from recap import columns as c
from recap.evaluation.ranks import rank_of
from recap.printable import markdown_text

if TYPE_CHECKING:
    from recap.predictor import Predictor

OUTLINE: Final = Outline(
    "context",
    "The same place at 8:00 and at 20:00",
    "The hour turns habit up or down; the gate says how far.",
    3,
    "Read a gate, and say what it does to the points of habit.",
    (
        "Which of your places would you turn down at 8:00?",
        "The gate comes out of a network. What would you ask before you trust it?",
    ),
    ("gate", "correction", "prior"),
)
MORNING, EVENING = 8, 20
NO_CLOCK: Final = "The open model does not look at the time of day; choose another one."
_ALIKE: Final = 0.05


@dataclass(frozen=True)
class Hour:
    """A candidate at one hour: points of habit, its gate, what the gate did in points, and the place's rank."""

    habit: float
    gate: float
    correction: float
    rank: float


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: no model, or none whose correction acts.
    """
    predictor = require_model(world).predictor
    if "correction" in predictor.checkpoint.inactive_parts:
        raise LessonUnavailableError(NO_CLOCK)
    case = choose_case(world)
    target = int(predictor.case(case)[c.TARGET])
    hours = read_hours(predictor, case, range(24))
    name = markdown_text(world.labels[target])
    morning = hours[MORNING]
    sums = [hour.habit + hour.correction for hour in hours]
    gap = sums[MORNING] - sums[EVENING]
    right = 2 if abs(gap) < _ALIKE else 0 if gap > 0 else 1
    fact = f"At 8:00 habit is worth {points(sums[MORNING])} points, at 20:00 {points(sums[EVENING])}."
    guess = choose(
        say("When does the model give more points of {habit} to {name}?", name=name),
        (
            ("At 8:00", f"{'Right' if right == 0 else 'No'}. {fact}"),
            ("At 20:00", f"{'Right' if right == 1 else 'No'}. {fact}"),
            ("Alike at both", f"{'Right' if right == 2 else 'No'}. {fact}"),
        ),
        right,
    )
    texts = tuple(f"{hour}:00" for hour in range(24))

    def scene(at: tuple[int, ...]) -> Scene:
        now = hours[at[0]]
        turn = "up" if now.correction > 0 else "down" if now.correction < 0 else "neither up nor down"
        finding = say(
            "At {time} the {gate} is {value}: habit is turned {turn}, from {before} to {after} points.",
            time=texts[at[0]],
            value=signed_points(now.gate),
            turn=turn,
            before=points(now.habit),
            after=points(now.habit + now.correction),
        )
        series = (
            Series("With the time", tuple(sums), "revisits"),
            Series("Without", tuple(hour.habit for hour in hours), "baseline"),
        )
        ends = f"{points(min(sums))} to {points(max(sums))}"
        says = f"{finding} One curve over 24 hours, from {ends} points, beside a level line."
        note = say(
            "Points of {habit}. With its own clock changed to {time} this case's true {place} ranks {rank}; "
            "other clues read the hour too.",
            time=texts[at[0]],
            rank=ordinal(now.rank),
        )
        return Scene(finding, (Lines(says, "Hour of the day", texts, series, at[0]),), note)

    return Lesson(
        OUTLINE,
        intro=say(
            "A {user} is about to go on. {name} is a {place} they know. The number of past visits is the same all "
            "day. But the time is not. A small network looks at the hour and the day. It says how far to turn "
            "{habit} up or down. We call that number the {gate}. It lies between −1 and 1.",
            name=f"**{name}**",
        ),
        prediction=guess,
        handles=(Handle("hour", "Hour of the day", texts, MORNING),),
        scene=scene,
        lesson_learned=say(
            "The {gate} does not add a new clue. It scales the old one. Where there is no habit, there is nothing to "
            "turn."
        ),
        aside={
            "student": "Think of a volume knob. It makes the song louder or softer. It does not change the song.",
            "stakeholder": "We can see what the knob did. Why the network turned it, we cannot see.",
            "researcher": "Δ_t(d) = λ_corr γ_t(d) R_t(d) (Eq. 13); the whole case is scored again with its local hour "
            "edited, so context and core follow.",
        },
        check=_check(say, morning),
        deeper=Deeper(
            "explain",
            "Change the hour in Explain",
            {"case": str(case)},
            moved=lambda at: {"edits": f"hour:{at[0]:02d}:00"},
        ),
    )


def choose_case(world: Workspace) -> int:
    """A found case of a known place: the one that stands to lose most without the correction; the first of equals.

    Raises:
        LessonUnavailableError: nobody comes back.
    """
    ablations = require_model(world).ablations()
    back = world.cases[c.IN_HISTORY].to_numpy(bool)
    rank = ablations[c.RANK].to_numpy(np.float64)
    lost = np.nan_to_num(ablations["without_correction"].to_numpy(np.float64) - rank)
    rows = np.flatnonzero(back & (rank <= 20) if (back & (rank <= 20)).any() else back)
    if not len(rows):
        raise LessonUnavailableError("In the test weeks of this city nobody comes back to a place.")
    return int(rows[lost[rows].argmax()])


def read_hours(predictor: "Predictor", case: int, hours: Sequence[int]) -> list[Hour]:
    """The true place of a case, with the case's clock set to each of some hours; all in one batch."""
    edited = [build_edited_case(predictor, case, parse_edits(f"hour:{hour:02d}:00")) for hour in hours]
    variants, target = [one.variant for one in edited], edited[0].target
    total_HP = predictor.score_counterfactuals(variants)
    batch, changes = predictor.pack(variants)
    parts = predictor.revisit_parts(batch, predictor.state(batch, changes), changes)
    if parts is None or parts.terms is None or parts.gate_C is None or parts.correction_C is None:
        raise LessonUnavailableError(NO_CLOCK)
    here_C = parts.candidates.poi_C == target
    values_C3 = torch.stack([parts.terms.prior_C, parts.gate_C, parts.correction_C], dim=1)[here_C]
    shown = dict(zip(parts.candidates.case_C[here_C].tolist(), values_C3.tolist(), strict=True))
    found = []
    for at, total_P in enumerate(total_HP):
        habit, gate, correction = shown.get(at, (0.0, 0.0, 0.0))
        found.append(Hour(habit, gate, correction, rank_of(total_P, target)))
    return found


def _check(say: Say, hour: Hour) -> Question:
    """What stands in the sum, given habit and what the gate did."""
    answers = {
        "sum": hour.habit + hour.correction,
        "other sign": hour.habit - hour.correction,
        "alone": hour.correction,
    }
    replies = {
        "sum": "Right. Habit and its change are added.",
        "other sign": "The sign counts: {change} is added as it stands.",
        "alone": "That is the change alone. Habit itself stays in the sum.",
    }
    said = {name: points(value) for name, value in answers.items()}
    if len(set(said.values())) < len(said):
        raise LessonUnavailableError("In this case the time of day changes nothing; choose another model.")
    change = signed_points(hour.correction)
    order = sorted(answers, key=lambda name: answers[name])
    return choose(
        say(
            "At 8:00 habit gives {habit_points} points, and the {gate} changes that by {change}. "
            "What stands in the sum for both?",
            habit_points=points(hour.habit),
            change=change,
        ),
        tuple((f"{said[name]} points", replies[name].format(change=change)) for name in order),
        order.index("sum"),
    )
