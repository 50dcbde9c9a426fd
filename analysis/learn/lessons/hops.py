"""Lesson 4: more hops reach more true places and many more wrong ones."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.formatting import percent
from analysis.learn.charts import Dots, Panels, PlaceMap, Row
from analysis.learn.lesson import Deeper, Handle, Lesson, LessonUnavailableError, Outline, Question, Scene
from analysis.learn.measure import choose
from analysis.learn.vocabulary import Say
from analysis.long_tail.lift import kept_hops
from analysis.workspace import Workspace
from recap import columns as c
from recap.geodesy import distance_km

OUTLINE: Final = Outline(
    "hops",
    "How far ahead to look",
    "Each further step reaches more true places, and many more wrong ones.",
    3,
    "Weigh what one more step brings against what it costs.",
    (
        "What does the third step reach that two do not?",
        "Among how many places would the model then have to choose?",
        "Where else would you look for a clue?",
    ),
    ("in_token", "signal"),
)
_ALIKE: Final = 0.1
"""Growths closer than this, relatively, count as alike."""


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: the city has no unseen test step, or none within reach.
    """
    cases = world.cases
    unseen = cases[cases[c.TRANSITION_COUNT] == 0]
    if unseen.empty:
        raise LessonUnavailableError("This city has no test step that was never seen before.")
    table = kept_hops(world)
    coverage, places = table["coverage"].to_numpy(), table["avg_candidates"].to_numpy()
    signal = table["snr_x1000"].to_numpy()
    if not (signal > 0).any():
        raise LessonUnavailableError("In this city no new step is reached over known ones.")
    best = int(signal.argmax())
    names = tuple(str(number + 1) for number in range(len(table)))
    fact = say(
        "With {best} {hops} ahead, {reached} of the new {steps} are reached, among {among} {places} on average.",
        best=names[best],
        reached=percent(coverage[best]),
        among=f"{places[best]:,.0f}",
    )
    guess = choose(
        say("How many {hops} ahead should a model look, to get the most signal for the noise?"),
        tuple(
            (
                say("{n} {unit}", n=name, unit=say("{hop}") if name == "1" else say("{hops}")),
                f"{_than(at, best)} {fact}",
            )
            for at, name in enumerate(names)
        ),
        best,
    )
    near = unseen[unseen[c.TWO_STEP_WALK]]
    case = _farthest(world, near if len(near) else unseen)
    source, target = int(case[c.SOURCE]), int(case[c.TARGET])
    _, reach = next(iter(world.graph.reach_blocks(np.array([source]), len(table))))
    within = [np.flatnonzero(np.asarray(reached)[0]) for reached in reach]

    def scene(at: tuple[int, ...]) -> Scene:
        hops = at[0]
        inside = [int(poi) for poi in within[hops] if poi not in (source, target)]
        found = target in within[hops]
        labels = world.labels
        finding = say(
            "{n} {unit} ahead: {inside} of {all} {places}, the true one {among}.",
            n=names[hops],
            unit=say("{hop}") if hops == 0 else say("{hops}"),
            inside=f"{len(within[hops]):,}",
            all=f"{world.dataset.num_pois:,}",
            among="among them" if found else "not among them",
        )
        outside = np.setdiff1d(np.arange(world.dataset.num_pois), [*inside, source, target])
        dots = (
            Dots("Out of reach", tuple(map(int, outside)), "faint", 4),
            Dots("Within reach", tuple(inside), "paths", 6),
            Dots("Start", (source,), "ink", 12),
            Dots("True next place", (target,), "truth", 18, ring=True),
        )
        where = PlaceMap(
            f"Map of {world.name}. {finding}",
            world.latitude,
            world.longitude,
            dots,
            names={source: labels[source], target: labels[target]},
        )
        rows = (
            Row(say("{Places} within reach"), tuple(places), tuple(f"{value:,.0f}" for value in places)),
            Row(say("New {steps} reached"), tuple(coverage), tuple(map(percent, coverage))),
            Row("Signal for the noise × 1000", tuple(signal), tuple(f"{value:.1f}" for value in signal)),
        )
        says = "; ".join(f"{name} ahead: {percent(coverage[at])} reached, signal {signal[at]:.1f}" for at, name in
                         enumerate(names))  # fmt: skip
        panels = Panels(f"Three rows of bars. {says}.", say("{hops} ahead").capitalize(), names, rows, hops, best)
        note = say(
            "Green: within reach of {start}. The best is solid, yours is outlined; each row has its own scale. "
            "{n} distinct new {steps}.",
            start=labels[source],
            n=f"{len(unseen.drop_duplicates([c.SOURCE, c.TARGET])):,}",
        )
        return Scene(finding, (where, panels), note)

    return Lesson(
        OUTLINE,
        intro=say(
            "Lesson 3 went over one {place} in the middle. A model could go over two or three. "
            "Each further {hop} brings more {places} into reach. Some of them are right. Most are wrong."
        ),
        prediction=guess,
        handles=(Handle("ahead", say("{hops} ahead").capitalize(), names, 0),),
        scene=scene,
        lesson_learned=say(
            "More is not always better. What is gained in reach can be lost in noise. RECAP looks a fixed "
            "number of {hops} ahead. With two to five it does about as well."
        ),
        aside={
            "student": "Ask your friends and you hear something. Ask all their friends too and you hear all sorts.",
            "stakeholder": "A wider net catches more of everything. That is not the same as knowing more.",
            "researcher": "Coverage of unique unseen pairs of all test steps by C_N(s); SNR is pairs reached over "
            "the other places of their C_N(s), times 1,000. The paper (App. C.2) takes pairs of trajectories' last "
            "cases, and each source once. Trained models with N from 1 to 5 are in the ablations.",
        },
        check=_check(say, places, coverage, best),
        deeper=Deeper("long_tail", "See it in Long tail"),
    )


def _farthest(world: Workspace, cases: pd.DataFrame) -> pd.Series:
    """The case whose ends lie farthest apart, so that both are seen on a map."""
    ends = (cases[c.SOURCE].to_numpy(), cases[c.TARGET].to_numpy())
    opened = world
    distance = distance_km(*(values[at] for at in ends for values in (opened.latitude, opened.longitude)))
    return cases.iloc[int(np.nanargmax(distance))]


def _than(at: int, best: int) -> str:
    if at == best:
        return "Right."
    return "That is too short a look." if at < best else "That is too far: the noise grows faster."


def _check(say: Say, places: np.ndarray, coverage: np.ndarray, best: int) -> Question:
    """What grows faster from the best number of hops to the next."""
    first = min(best, len(places) - 2)
    grown = [
        float(values[first + 1] / values[first]) if values[first] > 0 else float("inf") for values in (places, coverage)
    ]
    ratio = grown[0] / grown[1] if grown[1] not in (0.0, float("inf")) else 0.0
    right = 2 if abs(ratio - 1) < _ALIKE else 0 if ratio > 1 else 1
    fact = say(
        "The list grows {list} times, the share of new {steps} reached {share} times.",
        list=f"{grown[0]:.1f}",
        share=f"{grown[1]:.1f}",
    )
    return choose(
        say("Go from {a} to {b} {hops} ahead. What grows faster?", a=first + 1, b=first + 2),
        (
            (say("The list of {places}"), f"{'Right' if right == 0 else 'No'}. {fact}"),
            (say("The share of new {steps} reached"), f"{'Right' if right == 1 else 'No'}. {fact}"),
            ("Both alike", f"{'Right' if right == 2 else 'No'}. {fact}"),
        ),
        right,
    )
