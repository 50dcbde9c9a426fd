"""The lesson on the number of hops."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.formatting import percent
from analysis.learn import lesson
from analysis.learn.charts import Bar, Bars, Dots, PlaceMap
from analysis.long_tail.lift import kept_hops
from analysis.workspace import Workspace
from recap import columns as c
from recap.arithmetic.geodesy import distance_km

_OUTLINE: Final = lesson.OUTLINES["hops"]
_CLOSE: Final = 0.1
"""Growth rates within this relative distance count as equal."""


def build(world: Workspace) -> lesson.Lesson:
    """Needs a new test transition within reach."""
    unseen = world.cases[world.cases[c.TRANSITION_COUNT] == 0]
    lesson.require(not unseen.empty, "This city has no test transition that training never saw.")
    table = kept_hops(world)
    coverage, places = table["coverage"].to_numpy(), table["avg_candidates"].to_numpy()
    signal = table["snr_x1000"].to_numpy()
    lesson.require(bool((signal > 0).any()), "In this city known transitions reach no new one.")
    best = int(signal.argmax())
    near = unseen[unseen[c.TWO_STEP_WALK]]
    case = _farthest(world, near if len(near) else unseen)
    source, target = int(case[c.SOURCE]), int(case[c.TARGET])
    _, reach = next(iter(world.graph.reach_blocks(np.array([source]), len(table))))
    within = [np.flatnonzero(np.asarray(reached)[0]) for reached in reach]

    return lesson.Lesson(
        _OUTLINE,
        intro="The graph token looks at places some hops away; each hop follows a training transition.",
        guess=lesson.choose(
            "Which number of hops has the best ratio of true to wrong places?",
            [_hops(row + 1) for row in range(len(table))],
            best,
            f"{_hops(best + 1).capitalize()} reach {percent(coverage[best])} of new transitions, among "
            f"{places[best]:,.0f} places on average.",
            _map(world, source, target, within[0], f"Map of {world.name}: places one hop from the start."),
        ),
        handles=(lesson.Handle("hops", "Hops", tuple(str(row + 1) for row in range(len(table)))),),
        scene=lambda handles: _scene(world, table, source, target, within[handles[0]], handles[0]),
        idea=_OUTLINE.reveal,
        check=_check(places, coverage, best),
        deeper=lesson.Deeper("long_tail", "See it in Long tail"),
    )


def _hops(number: int) -> str:
    return "1 hop" if number == 1 else f"{number} hops"


def _scene(
    world: Workspace, table: pd.DataFrame, source: int, target: int, inside: np.ndarray, row_shown: int
) -> lesson.Scene:
    holds = "with" if target in inside else "without"
    finding = f"{_hops(row_shown + 1)}: {len(inside):,} of {world.dataset.num_pois:,} places, {holds} the true one."
    bars = [
        Bar(
            _hops(row["n"]),
            row["snr_x1000"],
            f"{row['snr_x1000']:.1f}: {percent(row['coverage'])} among {row['avg_candidates']:,.0f} places",
            "model" if row["n"] == row_shown + 1 else "baseline",
        )
        for row in table.to_dict(orient="records")
    ]
    says = "New transitions reached, among so many places."
    ratios = Bars.of(says, "Signal to noise × 1000: new transitions reached, among so many places", bars)
    note = "Green: within reach of the start. Blue: your number of hops."
    return lesson.Scene(finding, (_map(world, source, target, inside, f"Map of {world.name}. {finding}"), ratios), note)


def _map(world: Workspace, source: int, target: int, inside: np.ndarray, says: str) -> PlaceMap:
    reached = [int(poi) for poi in inside if poi not in (source, target)]
    outside = np.setdiff1d(np.arange(world.dataset.num_pois), [*reached, source, target])
    dots = (
        Dots("Out of reach", tuple(map(int, outside)), "faint", 4),
        Dots("Within reach", tuple(reached), "paths", 6),
        Dots("Start", (source,), "ink", 12),
        Dots("True next place", (target,), "truth", 18, ring=True),
    )
    names = {poi: world.labels[poi] for poi in (source, target)}
    return PlaceMap(says, world.latitude, world.longitude, dots, names=names)


def _farthest(world: Workspace, cases: pd.DataFrame) -> pd.Series:
    ends = (cases[c.SOURCE].to_numpy(), cases[c.TARGET].to_numpy())
    distance = distance_km(*(values[place] for place in ends for values in (world.latitude, world.longitude)))
    return cases.iloc[int(np.nanargmax(distance))]


def _check(places: np.ndarray, coverage: np.ndarray, best: int) -> lesson.LessonQuestion:
    """Ask what grows faster with one hop more than the best."""
    first = min(best, len(places) - 2)
    grown = [
        float(values[first + 1] / values[first]) if values[first] > 0 else float("inf") for values in (places, coverage)
    ]
    ratio = grown[0] / grown[1] if grown[1] not in (0.0, float("inf")) else 0.0
    return lesson.choose(
        f"Go from {first + 1} to {_hops(first + 2)}. What grows faster?",
        ("The list of places", "The share of new transitions reached", "Both the same"),
        lesson.larger(ratio, 1.0, _CLOSE),
        f"The list grows {grown[0]:.1f} times, the share of new transitions reached {grown[1]:.1f} times.",
    )
