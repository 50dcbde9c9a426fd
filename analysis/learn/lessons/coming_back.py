"""Lesson 5: set the weights of count, recency and window yourself, and race the trained ones."""

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from analysis.formatting import points, times
from analysis.learn.charts import Bar, Bars
from analysis.learn.habit import Habits, HabitWeights
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
from analysis.learn.measure import Share, choose, share_of
from analysis.learn.vocabulary import Say
from analysis.workspace import Workspace

if TYPE_CHECKING:
    from recap.predictor import Predictor

OUTLINE: Final = Outline(
    "habit",
    "Coming back",
    "Habit is how often, how lately, and whether just now.",
    3,
    "Say what each of the three clues of habit adds, and set their weights.",
    (
        "Which of your own places would habit guess? Which would it never guess?",
        "Why might a model give less weight to habit than you did?",
    ),
    ("prior", "revisit", "interval"),
)
STEP: Final = 0.25
MOST: Final = 3.0
_POSITIONS: Final = tuple(f"{STEP * number:g}" for number in range(round(MOST / STEP) + 1))
_START: Final = _POSITIONS.index("1")
_TERMS: Final = ("How often", "How lately", "Just now")


def trained_weights(predictor: "Predictor") -> HabitWeights:
    """The model's own, with lambda_prior multiplied in.

    Raises:
        LessonUnavailableError: the model has no prior, or it lacks a term.
    """
    prior = predictor.model.prior
    if prior is None or "prior" in predictor.checkpoint.inactive_parts:
        raise LessonUnavailableError("The open model gives no points for habit; choose another one.")
    weights = [0.0 if w is None else float(w) for w in (prior.count_weight, prior.recency_weight, prior.window_weight)]
    count, recency, window = (float(prior.scale) * weight for weight in weights)
    config = predictor.model.config
    return HabitWeights(count, recency, window, math.exp(float(prior.log_recency_steps)), config.recent_window)


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: no model, no prior in it, or nobody comes back in the test weeks.
    """
    trained = trained_weights(require_model(world).predictor)
    habits = Habits.of(world)
    if not len(habits.case_N):
        raise LessonUnavailableError("In the test weeks of this city nobody comes back to a place.")

    def mine(count: float, recency: float, window: float) -> HabitWeights:
        return HabitWeights(count, recency, window, trained.recency_steps, trained.recent_window)

    def race(weights: HabitWeights) -> Share:
        return share_of(habits.found(weights), habits.users_N)

    alone = [race(mine(*(1.0 if at == clue else 0.0 for at in range(3)))) for clue in range(3)]
    best = int(np.argmax([share.value for share in alone]))
    told = ", ".join(f"{name.lower()} {share.value:.1%}" for name, share in zip(_TERMS, alone, strict=True))
    fact = f"Alone they put the true place first in: {told.replace('%', ' %')} of cases."
    guess = choose(
        "Which clue alone most often puts the right place first?",
        tuple((name, f"{'Right' if at == best else 'Not quite'}. {fact}") for at, name in enumerate(_TERMS)),
        best,
    )
    reference = race(trained)

    def scene(at: tuple[int, ...]) -> Scene:
        weights = mine(*(STEP * position for position in at))
        share = race(weights)
        difference = share_of(habits.found(weights) - habits.found(trained), habits.users_N)
        if difference.low > 0:
            verdict = "You beat the trained weights."
        elif difference.high < 0:
            verdict = "The trained weights beat yours."
        else:
            verdict = "Too close to tell: you and the trained weights."
        rows = (("Yours", share, "revisits"), ("Trained", reference, "model"))
        bars = [Bar(name, s.value, f"{s.value:.1%}".replace("%", " %"), m, s.low, s.high) for name, s, m in rows]  # type: ignore[arg-type]
        bars += [
            Bar(f"{name} only", s.value, f"{s.value:.1%}".replace("%", " %"), "baseline")
            for name, s in zip(_TERMS, alone, strict=True)
        ]
        says = f"{verdict} " + "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."
        note = say(
            "True {place} first among the {user}'s own {places}, {n} returns; lines: 95 % interval over {users}. "
            "The trained weights: {often} for how often, {lately} for how lately, {now} for just now.",
            n=f"{len(habits.case_N):,}",
            often=points(trained.count),
            lately=points(trained.recency),
            now=points(trained.window),
        )
        return Scene(verdict, (Bars(says, "Right at first", tuple(bars)),), note)

    case = int(habits.case_N[0])
    return Lesson(
        OUTLINE,
        intro=say(
            "People come back. For each {place} a {user} was at before, three clues count. How often "
            "they were there. How lately, in check-ins. And whether it was just now, among their last {window}. "
            "{habit_name} adds these three up.",
            window=trained.recent_window,
            habit_name=say("{habit}").capitalize(),
        ),
        prediction=guess,
        handles=tuple(
            Handle(name, f"Weight of: {label.lower()}", _POSITIONS, _START)
            for name, label in zip(("count", "recency", "window"), _TERMS, strict=True)
        ),
        scene=scene,
        lesson_learned=(
            "A few numbers say much of where people return. The trained weights were not made for this race: in the "
            "model they work beside all other clues, so they need not win here."
        ),
        aside={
            "student": "Your own weights are a model too: three numbers.",
            "stakeholder": "Habit is simple to explain to the people it is about. It is also what gives them away.",
            "researcher": "R_t(d) without its clip (Eq. 9), ranked over C_t alone; a tie at the top is shared. "
            "τ and L are the trained ones. The cases are those with the target in C_t.",
        },
        check=_check(say, habits, trained),
        deeper=Deeper("explain", "See the habits of one case in Explain", {"case": str(case)}),
    )


def _check(say: Say, habits: Habits, trained: HabitWeights) -> Question:
    """Two real places of one user: the one seen most and the one seen last; which gets more points."""
    starts = np.searchsorted(habits.case_V, np.arange(len(habits.case_N) + 1))
    for start, end in pairwise(starts):
        count, since = habits.count_V[start:end], habits.since_V[start:end]
        often, late = int(count.argmax()), int(since.argmin())
        if count[often] > count[late] and since[often] > since[late]:
            break
    else:
        often, late = 0, min(1, len(count) - 1)
        if often == late:
            raise LessonUnavailableError("In this city nobody has two places to come back to.")
    pair = trained.points(count[[often, late]], since[[often, late]])
    right = 2 if abs(pair[0] - pair[1]) < 0.005 else 0 if pair[0] > pair[1] else 1
    fact = f"A gets {points(pair[0])} points, B {points(pair[1])}."
    labels = [
        f"{name}: there {times(int(count[at]))}, last {int(since[at])} check-ins ago"
        for name, at in (("A", often), ("B", late))
    ]
    return choose(
        say("One {user}, two {places}. Which gets more points from the trained weights?"),
        (
            (labels[0], f"{'Right' if right == 0 else 'No'}. {fact} The more visits, the less each further one adds."),
            (labels[1], f"{'Right' if right == 1 else 'No'}. {fact} What is late fades within some check-ins."),
            ("Both the same", f"{'Right' if right == 2 else 'No'}. {fact}"),
        ),
        right,
    )
