"""The lesson on privacy: points that identify users, and k-anonymity."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from analysis.formatting import all_or_percent
from analysis.learn.charts import Bar, Bars
from analysis.learn.lesson import OUTLINES, Deeper, Handle, Lesson, LessonUnavailableError, Scene, share_question
from analysis.sharing.places import MaskedPlaces
from analysis.sharing.reidentification import Crowd, SharedPoint
from analysis.sharing.share import WIDEST
from analysis.sharing.traces import traces_of
from analysis.workspace import Workspace
from recap import columns as c
from recap.privacy import Generalisation

_OUTLINE: Final = OUTLINES["privacy"]
_MOST_POINTS: Final = 6
_POINTS: Final = 4
KS: Final = (2, 5, 10, 20, 50)
START_K: Final = 1
_SALT: Final = "lesson"
"""Nothing here is named by it."""


def build(world: Workspace) -> Lesson:
    """Needs a user with four points."""
    recorded, users = _crowd_at(world, 1).unicity(_POINTS, as_recorded=True)
    masked, _ = _crowd_at(world, KS[START_K]).unicity(_POINTS)
    if recorded is None or masked is None:
        raise LessonUnavailableError(f"In this city nobody has {_POINTS} points.")
    user = choose_user(world)
    whose = "an invented" if world.dataset.manifest.synthetic else "a real"
    return Lesson(
        _OUTLINE,
        intro=(
            f"The picture shows the trace of {whose} user: it has no name, but a few of its points may reveal whose "
            "it is."
        ),
        guess=share_question(
            f"Take {_POINTS} random points of each user: places and hours. How many users do they identify?",
            recorded,
            fact=f"{_POINTS} points identify {all_or_percent(recorded, 1)} of the {users:,} users.",
            too_low="Few people share even two places at the same hours.",
            too_high="Here many people share places and hours.",
            picture=_chart(world, user, 1),
        ),
        handles=(
            Handle("points", "Places shown", tuple(str(point + 1) for point in range(_MOST_POINTS)), _POINTS - 1),
            Handle("k", "k: how many users must match", tuple(map(str, KS)), START_K),
        ),
        scene=lambda handles: _scene(world, user, handles[0] + 1, KS[handles[1]]),
        idea=_OUTLINE.reveal,
        check=share_question(
            f"Now places of fewer than {KS[START_K]} users become map cells, and times become weekday and part of the "
            f"day. With {_POINTS} points, how many users are still the only match?",
            masked,
            fact=f"{all_or_percent(masked, 1).capitalize()} are; as recorded, {all_or_percent(recorded, 1)} are.",
            too_low="Even coarse points add up: k hides a place, not a whole trace.",
            too_high="With cells and coarse times many people look the same.",
        ),
        deeper=Deeper("cases", "Share a case safely in Cases"),
    )


def choose_user(world: Workspace) -> int:
    return int(world.cases[c.USER].iloc[0]) if len(world.cases) else 0


def _chart(world: Workspace, user: int, number: int, *more: Bar) -> Bars:
    places, exact = trail(world, user)[:number], MaskedPlaces.exact(world)
    bars = [
        Bar("1 place" if last == 0 else f"{last + 1} places", count, f"{count:,}", "truth")
        for last, count in enumerate(_matching(world, exact, places[: last + 1]) for last in range(len(places)))
    ]
    bars += more
    return Bars.of("Users who match:", "Users who match", bars)


def _scene(world: Workspace, user: int, number: int, k: int) -> Scene:
    places = trail(world, user)[:number]
    exact, (blurred, cell_km) = _matching(world, MaskedPlaces.exact(world), places), _blurred(world, tuple(places), k)
    unit = "1 place" if len(places) == 1 else f"{len(places)} places"
    alone = "only this user matches" if exact == 1 else f"{exact:,} users match"
    finding = f"{unit}: {alone}. Blurred for k = {k}: {blurred:,} match"
    finding += "." if blurred >= k else ", too few to share."
    chart = _chart(world, user, number, Bar(f"Blurred, k = {k}", blurred, f"{blurred:,}", "model"))
    note = f"Places: {', '.join(world.labels[place] for place in places)}. Blurred: cells of {cell_km:.1f} km."
    return Scene(finding, (chart,), note)


@lru_cache(maxsize=16)
def _crowd_at(opened: Workspace, k: int) -> Crowd:
    """Everyone's points; places of fewer than k users are cells, times are weekday and part of the day."""
    rule = Generalisation(salt=_SALT, min_users=k)
    traces = traces_of(opened.dataset)
    return Crowd(traces, MaskedPlaces.generalised(opened, rule), traces.part_of_week(rule.hours))


def trail(opened: Workspace, user: int) -> list[int]:
    """At most `_MOST_POINTS` distinct places of a user, evenly spread in the order of first visits."""
    traces = traces_of(opened.dataset)
    own = traces.poi[traces.user == user]
    _, first = np.unique(own, return_index=True)
    places = own[np.sort(first)]
    spread = np.linspace(0, len(places) - 1, min(_MOST_POINTS, len(places))).astype(int)
    return [int(place) for place in places[spread]]


def _matching(opened: Workspace, masked: MaskedPlaces, places: Sequence[int]) -> int:
    """How many users were at all of these places as shown."""
    traces = traces_of(opened.dataset)
    return Crowd(traces, masked, np.zeros_like(traces.poi)).fitting([SharedPoint(place) for place in places])


@lru_cache(maxsize=256)
def _blurred(opened: Workspace, places: tuple[int, ...], k: int) -> tuple[int, float]:
    """Matching users, and the side in km of the smallest cells in which k users match, or else of the widest."""
    rule = Generalisation(salt=_SALT, min_users=k)
    for level in range(WIDEST):  # as in `analysis.sharing.share`
        wide = rule.model_copy(update={"cell_degrees": rule.cell_degrees * 2**level})
        users = _matching(opened, MaskedPlaces.generalised(opened, wide, frozenset(places)), places)
        if users >= k:
            break
    return users, wide.cell_km
