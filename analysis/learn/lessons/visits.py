"""The lesson on past visits: the learner's weights against the model's (Eq. 9).

Shape suffixes: N cases, V pairs of a case and a place visited before it.
"""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from analysis.explain.model_words import recency_read
from analysis.formatting import percent, points, times, user_name
from analysis.learn import lesson
from analysis.learn.charts import Bar, Bars
from analysis.records.bootstrap import MeanInterval
from analysis.workspace import Workspace
from recap import columns as c
from recap.history.tensors import CheckinTensors, Histories, find_revisit_candidates
from recap.machine.printable import shortened

if TYPE_CHECKING:
    from recap.asking.predictor import Predictor

_OUTLINE: Final = lesson.OUTLINES["visits"]
STEP: Final = 0.25
_MOST: Final = 3.0
_POSITIONS: Final = tuple(f"{STEP * number:g}" for number in range(round(_MOST / STEP) + 1))
_START: Final = _POSITIONS.index("1")
_TERMS: Final = ("How often", "How recently", "Just now")
_SHOWN: Final = 6
_CLOSE: Final = 0.005
_MOST_CASES: Final = 1500


@dataclass(frozen=True)
class HabitWeights:
    """Weights of the three statistics.

    Attributes:
        count, recency, window: points for log(1 + visits), exp(-check-ins since / recency_steps), being in the window.
        recency_steps, recent_window: tau and L, in check-ins.
    """

    count: float
    recency: float
    window: float
    recency_steps: float
    recent_window: int

    def points(self, count: np.ndarray, since: np.ndarray) -> np.ndarray:
        """Points of places visited ``count`` times, last ``since`` check-ins ago.

        >>> HabitWeights(1.0, 2.0, 0.5, 10.0, 3).points(np.array([1.0]), np.array([3.0])).round(3).tolist()
        [2.675]
        """
        recent = self.recency * np.exp(-since / self.recency_steps)
        return np.asarray(self.count * np.log1p(count) + recent + self.window * (since <= self.recent_window))


@dataclass(frozen=True, eq=False)
class Habits:
    """The places that users visited before a case, for cases whose true place is one of them.

    Attributes:
        case_V: position of each pair's case among N, ascending.
        count_V, since_V: the place's visits, and check-ins since the last of them.
        truth_N: pair of the true place.
    """

    case_N: np.ndarray
    users_N: np.ndarray
    case_V: np.ndarray
    poi_V: np.ndarray
    count_V: np.ndarray
    since_V: np.ndarray
    truth_N: np.ndarray

    @classmethod
    def of(cls, opened: Workspace, most: int = _MOST_CASES) -> "Habits":
        """The first ``most`` test cases, evenly spread, whose true place the user knows."""
        cases = opened.cases[opened.cases[c.IN_HISTORY].to_numpy(bool)]
        if len(cases) > most:
            cases = cases.iloc[np.linspace(0, len(cases) - 1, most).astype(int)]
        row_N, target_N = (torch.tensor(cases[name].to_numpy(np.int64)) for name in (c.ROW, c.TARGET))
        candidates = find_revisit_candidates(
            Histories(CheckinTensors.from_dataset(opened.dataset), row_N), max_candidates=None
        )
        return cls(
            cases[c.CASE].to_numpy(),
            cases[c.USER].to_numpy(),
            candidates.case_C.numpy(),
            candidates.poi_C.numpy(),
            candidates.count_C.numpy().astype(np.float64),
            candidates.recency_steps_C.numpy().astype(np.float64),
            torch.nonzero(candidates.poi_C == target_N[candidates.case_C]).squeeze(1).numpy(),
        )

    def found(self, weights: HabitWeights) -> np.ndarray:
        """Whether the true place ranks first among the user's own places, (N,); a tie counts in part."""
        points_V = weights.points(self.count_V, self.since_V)
        ahead_V = points_V - points_V[self.truth_N][self.case_V]
        better_N, tied_N = (
            np.bincount(self.case_V[mask_V], minlength=len(self.case_N))
            for mask_V in (ahead_V > 1e-12, np.abs(ahead_V) <= 1e-12)
        )
        return np.where(better_N == 0, 1 / tied_N, 0.0)


def trained_weights(predictor: "Predictor") -> HabitWeights:
    """The weights of the paper's prior, multiplied by lambda_prior; LessonUnavailableError without one."""
    prior = predictor.model.prior
    if prior is None or "prior" in predictor.checkpoint.inactive_parts:
        raise lesson.LessonUnavailableError(
            "This lesson needs a RECAP with the paper's revisit prior. Choose another one."
        )
    weights = [0.0 if w is None else float(w) for w in (prior.count_weight, prior.recency_weight, prior.window_weight)]
    count, recency, window = (float(prior.scale) * weight for weight in weights)
    config = predictor.model.config
    return HabitWeights(count, recency, window, math.exp(float(prior.log_recency_steps)), config.recent_window)


def build(world: Workspace) -> lesson.Lesson:
    """Needs a model with the paper's prior, and a return in the test weeks."""
    trained = trained_weights(lesson.require_model(world).predictor)
    habits = Habits.of(world)
    lesson.require(len(habits.case_N) > 0, "In the test weeks of this city nobody returns to a place.")

    def race(weights: HabitWeights) -> MeanInterval:
        return lesson.share_of(habits.found(weights), habits.users_N)

    alone = [race(_weights(trained, *(float(handle == one) for handle in range(3)))) for one in range(3)]
    best = int(np.argmax([share.value for share in alone]))
    listed = ", ".join(f"{name.lower()} {percent(share.value, 1)}" for name, share in zip(_TERMS, alone, strict=True))
    reference = race(trained)

    def scene(handles: tuple[int, ...]) -> lesson.Scene:
        return _scene(habits, trained, reference, alone, _weights(trained, *(STEP * position for position in handles)))

    return lesson.Lesson(
        _OUTLINE,
        intro=(
            "Three numbers predict a return to a place: how often the user was there, how recently, and whether it "
            f"is among their last {trained.recent_window} check-ins (just now)."
        ),
        guess=lesson.choose(
            "Which number alone most often puts the right place first?",
            _TERMS,
            best,
            f"Share of returns with the right place first: {listed}.",
            _picture(world, habits),
        ),
        handles=tuple(
            lesson.Handle(name, f"Weight: {label.lower()}", _POSITIONS, _START)
            for name, label in zip(("count", "recency", "window"), _TERMS, strict=True)
        ),
        scene=scene,
        idea=_OUTLINE.reveal,
        check=_check(habits, trained),
        deeper=lesson.Deeper("explain", "See one case in Explain", {"case": str(int(habits.case_N[0]))}),
    )


def _weights(trained: HabitWeights, count: float, recency: float, window: float) -> HabitWeights:
    return replace(trained, count=count, recency=recency, window=window)


def _picture(world: Workspace, habits: Habits) -> Bars:
    """The places of one user before a return, most visited first, without marking the true one."""
    pairs = np.flatnonzero(habits.case_V == 0)
    count, since = habits.count_V[pairs], habits.since_V[pairs]
    order = np.lexsort((since, -count))[:_SHOWN]
    labels = [shortened(world.labels[int(poi)], 28) for poi in habits.poi_V[pairs]]
    bars = tuple(
        Bar(labels[place], float(count[place]), f"last visit {recency_read(int(since[place]))}", "revisits")
        for place in order
    )
    listed = "; ".join(f"{bar.label}: {times(int(bar.value))}, {bar.text}" for bar in bars)
    return Bars(f"{user_name(int(habits.users_N[0]))}'s most visited places. {listed}.", "Visits of one user", bars)


def _scene(
    habits: Habits, trained: HabitWeights, reference: MeanInterval, alone: list[MeanInterval], weights: HabitWeights
) -> lesson.Scene:
    share = lesson.share_of(habits.found(weights), habits.users_N)
    difference = lesson.share_of(habits.found(weights) - habits.found(trained), habits.users_N)
    if difference.low > 0:
        verdict = "Your weights beat the model's."
    elif difference.high < 0:
        verdict = "The model's weights beat yours."
    else:
        verdict = "Your weights tie with the model's."
    bars = [
        Bar("Yours", share.value, percent(share.value, 1), "revisits", share.low, share.high),
        Bar("The model's", reference.value, percent(reference.value, 1), "model", reference.low, reference.high),
    ]
    bars += [
        Bar(f"{name} only", one.value, percent(one.value, 1), "baseline")
        for name, one in zip(_TERMS, alone, strict=True)
    ]
    note = (
        f"{len(habits.case_N):,} returns. Lines: 95 % intervals over users. The model learned "
        f"{points(trained.count)}, {points(trained.recency)} and {points(trained.window)}."
    )
    return lesson.Scene(verdict, (Bars.of(verdict, "Right place first", bars),), note)


def _check(habits: Habits, trained: HabitWeights) -> lesson.LessonQuestion:
    """Ask which gets more points: a user's most visited place or the latest."""
    starts = np.searchsorted(habits.case_V, np.arange(len(habits.case_N) + 1))
    for start, end in pairwise(starts):
        count, since = habits.count_V[start:end], habits.since_V[start:end]
        often, late = int(count.argmax()), int(since.argmin())
        if count[often] > count[late] and since[often] > since[late]:
            break
    else:
        often, late = 0, min(1, len(count) - 1)
        lesson.require(often != late, "In this city nobody has two places to return to.")
    pair = trained.points(count[[often, late]], since[[often, late]])
    labels = [
        f"{name}: visited {times(int(count[place]))}, last visit {recency_read(int(since[place]))}"
        for name, place in (("A", often), ("B", late))
    ]
    return lesson.choose(
        "Two places of one user. Which gets more points from the model's weights?",
        (*labels, "Both the same"),
        lesson.larger(float(pair[0]), float(pair[1]), _CLOSE),
        f"A gets {points(float(pair[0]))} points, B {points(float(pair[1]))}.",
    )
