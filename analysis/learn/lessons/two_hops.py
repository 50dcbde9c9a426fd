"""The lesson on two-hop paths, in a toy town and in the city."""

from typing import Final

import numpy as np

from analysis.formatting import ordinal, percent
from analysis.learn import lesson
from analysis.learn.charts import Way
from analysis.learn.toy_lesson import opened_town, parts_training, poi_of, town_map
from analysis.learn.toy_town import SQUARES, TOWN_PLACES, place_name, square_of, stop_of
from analysis.records.accuracy import is_hit
from analysis.workspace import Workspace
from recap import columns as c
from recap.history.graph import TAIL_MAX_COUNT
from recap.machine.printable import markdown_text

_OUTLINE: Final = lesson.OUTLINES["two_hops"]
HOUSE: Final = SQUARES
"""A house from which nobody goes straight to its square before the test."""
_K: Final = 20
_MIDDLES: Final = tuple(place for place in range(TOWN_PLACES) if place not in (HOUSE, square_of(HOUSE)))
_START: Final = _MIDDLES.index(stop_of(HOUSE + 1))
_TOWN: Final = (0.5, 0.0, 0)
_LABELS: Final = ("Fewer than 1 in 20", "1 in 20 up to 1 in 4", "1 in 4 up to 3 in 4", "3 in 4 or more")
_EDGES: Final = (0.05, 0.25, 0.75)


def found_with_path(world: Workspace) -> np.ndarray:
    """Found test cases of rare transitions with a two-hop path to the true place."""
    cases = world.cases
    rare = cases[c.TRANSITION_COUNT].to_numpy() <= TAIL_MAX_COUNT
    return np.flatnonzero(rare & is_hit(world.ablations(), _K) & cases[c.TWO_STEP_WALK].to_numpy(bool))


def build(world: Workspace) -> lesson.Lesson:
    """Needs a test transition that training never saw."""
    town = opened_town(*_TOWN)
    source, target = poi_of(town, HOUSE), poi_of(town, square_of(HOUSE))
    every = np.arange(town.dataset.num_pois)
    chance = town.graph.two_step_probability(np.full_like(every, source), every)
    rank = int((chance > chance[target]).sum()) + 1
    house, square = place_name(HOUSE), place_name(square_of(HOUSE))
    fact = f"{percent(float(chance[target]))} of the two-hop paths from {house} end at {square}, so it ranks "
    fact += f"{ordinal(rank)}."
    unseen = world.cases[world.cases[c.TRANSITION_COUNT] == 0]
    lesson.require(not unseen.empty, "This city has no test transition that training never saw.")
    picture = town_map(town, _TOWN[2], f"Map of the toy town: from {house} to {square}.", (), source, target)
    return lesson.Lesson(
        _OUTLINE,
        intro="In this toy town, users go from a house to its stop, and from the stop to a square.",
        guess=lesson.choose(
            f"In the test weeks, users go straight from {house} to {square}, which nobody did in training. Can a model "
            f"still rank {square} first?",
            ("No, a new transition cannot be found", "Yes, through a place in between", "Only by luck"),
            1 if rank == 1 else 0,
            fact,
            picture,
        ),
        handles=(
            lesson.Handle(
                "middle",
                "Place in between: choose here or click on the map",
                tuple(map(place_name, _MIDDLES)),
                _START,
                "list",
            ),
        ),
        scene=lambda handles: _scene(town, source, target, poi_of(town, _MIDDLES[handles[0]])),
        idea=_OUTLINE.reveal,
        check=_check(world, len(unseen), int(unseen[c.TWO_STEP_WALK].sum())),
        deeper=_deeper(world, int(unseen.index[0])),
        training=parts_training(),
    )


def _scene(town: Workspace, source: int, target: int, middle: int) -> lesson.Scene:
    labels = town.labels
    ends = (np.array([source, middle]), np.array([middle, target]))
    first, second = town.graph.probability(*ends).tolist()
    if first > 0 and second > 0:
        finding = f"{percent(first)} go to {labels[middle]}, {percent(second)} go on: {percent(first * second)} in all."
    elif first > 0:
        finding = f"No path: nobody went on from {labels[middle]} to {labels[target]}."
    else:
        finding = f"No path: nobody went from {labels[source]} to {labels[middle]}."
    ways = tuple(
        Way(start, end, 2 + 6 * share, taken=share > 0)
        for start, end, share in zip(ends[0].tolist(), ends[1].tolist(), (first, second), strict=True)
    )
    picture = town_map(town, _TOWN[2], f"Map of the toy town. {finding}", ways, source, target, middle)
    return lesson.Scene(
        finding, (picture,), "Percentages of all training transitions from a place. Dotted: nobody went that way."
    )


def _check(world: Workspace, unseen: int, linked: int) -> lesson.LessonQuestion:
    """Ask how many found cases need the paths or, without a model, how many new transitions have one."""
    rows = np.zeros(0, dtype=np.int64)
    if world.has_parts and world.ablations()["without_two_hops"].notna().any():
        rows = found_with_path(world)
    city = markdown_text(world.name)
    if not len(rows):
        return lesson.share_question(
            f"In {city}, how many new test transitions have a two-hop path?",
            linked / unseen,
            fact=f"{linked:,} of {unseen:,} do.",
            too_low="Busy places have many neighbours.",
            too_high="Many new transitions lead where no two-hop path goes.",
        )
    without = world.ablations()["without_two_hops"].to_numpy(np.float64)[rows]
    rank = world.ablations()[c.RANK].to_numpy(np.float64)[rows]
    lost, same = int((without > _K).sum()), int((without == rank).sum())
    return lesson.share_question(
        f"In {city}, RECAP's top {_K} finds {len(rows):,} rare transitions that have a two-hop path. We remove all "
        "two-hop paths and rank again. How many does it lose?",
        lost / len(rows),
        fact=f"It loses {lost:,} of {len(rows):,}. In {same:,} cases not even the rank changes.",
        too_low="Here paths find what nothing else finds.",
        too_high="The path is there, but something else finds the place too.",
        labels=_LABELS,
        edges=_EDGES,
    )


def _deeper(world: Workspace, unseen: int) -> lesson.Deeper:
    rows = found_with_path(world) if world.has_parts else np.zeros(0, dtype=np.int64)
    if not len(rows):
        return lesson.Deeper("walk", "See new transitions in Walk", {"cases": "step:0:0", "case": str(unseen)})
    lost = (world.ablations()["without_two_hops"] - world.ablations()[c.RANK]).fillna(0.0).to_numpy()[rows]
    return lesson.Deeper("explain", "Remove paths yourself in Explain", {"case": str(rows[lost.argmax()])})
