"""The lesson on the time of the next check-in: one model asked with and without it.

Shape suffixes: H hours, P places.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch

from analysis.formatting import chance, percent, signed, times, user_name, weekday_clock
from analysis.learn import lesson
from analysis.learn.charts import Bar, Bars, Lines, Meaning, Series
from analysis.records.accuracy import is_hit
from analysis.records.case_groups import PANELS, is_known_place, panel_of_cases
from analysis.workspace import Workspace
from recap import columns as c
from recap.history.tensors import Histories
from recap.machine.printable import markdown_text, shortened
from recap.probabilities import UNFITTED, log_probabilities

_OUTLINE: Final = lesson.OUTLINES["clock"]
HOURS_ASKED: Final = 24
TRIED: Final = 40
"""Test cases among which the lesson looks for a first place that changes."""
_HOUR: Final = 3600
_SLOT: Final = 3
_CHOICES: Final = 3
_SHOWN: Final = 5
_NAME, _LINE = 28, 20
"""Letters of a name at a bar, and at the end of a line."""
_K: Final = 20
_COLOURS: Final[tuple[Meaning, ...]] = ("model", "revisits", "paths")


@dataclass(frozen=True, eq=False)
class Clock:
    """One user's prediction at each full hour of the day after a check-in.

    Attributes:
        user, row: the user and the last known check-in.
        at_H: local seconds.
    """

    user: int
    row: int
    at_H: np.ndarray
    probability_HP: np.ndarray

    @classmethod
    def after(cls, given: Workspace, row: int) -> "Clock":
        last = int(given.checkins.local_seconds_T[row])
        at_H = (last // _HOUR + 1 + np.arange(HOURS_ASKED)) * _HOUR
        row_H = torch.full((HOURS_ASKED,), row, dtype=torch.int64)
        total_HP = given.ranker.score(Histories(given.checkins, row_H, torch.from_numpy(at_H))).total
        log_HP = log_probabilities(total_HP, given.ranker.temperature or UNFITTED)
        return cls(int(given.checkins.user_T[row]), row, at_H, log_HP.exp().numpy())

    @property
    def first_H(self) -> np.ndarray:
        """The place with the highest probability."""
        return self.probability_HP.argmax(1)

    @property
    def asked(self) -> int:
        """The hour to guess: another place than in the first hour is first, as clearly as possible."""
        top_H = self.probability_HP.max(1) * (self.first_H != self.first_H[0])
        return int(top_H.argmax()) if top_H.any() else HOURS_ASKED // 2

    @property
    def choices(self) -> list[int]:
        """The first place at the hour to guess, that of the first hour, other first places, then runners-up."""
        first_H, asked = self.first_H, self.asked
        order = np.argsort(-self.probability_HP[asked], kind="stable")
        return list(dict.fromkeys([first_H[asked], first_H[0], *first_H, *order]))[:_CHOICES]


def build(world: Workspace) -> lesson.Lesson:
    """Needs a model that can be asked with and without a time, and a test case."""
    model = lesson.require_model(world).model
    assert isinstance(model, str | Path), "imports have no parts"
    plain = world.with_model(model) if world.given_time else world
    lesson.require(
        plain.checkpoint is not None and plain.checkpoint.target_time == "can",
        "This lesson needs a RECAP that can be asked with and without a time. Choose another one.",
    )
    is_empty = world.cases.empty or world.dataset.num_pois < 2
    lesson.require(not is_empty, "This city has no test case, or a single place.")
    given = plain.with_model(model, given_time=True)
    rows = world.cases[c.ROW].to_numpy()
    some = rows[np.unique(np.linspace(0, len(rows) - 1, min(TRIED, len(rows))).astype(int))]
    clock = max((Clock.after(given, int(row)) for row in some), key=_teaches)
    when = [weekday_clock(int(hour)) for hour in clock.at_H]
    asked, visits = clock.asked, _visits(world, clock)
    choices = sorted(visits, key=lambda poi: -len(visits[poi]))
    first, source = int(clock.first_H[asked]), int(world.checkins.poi_T[clock.row])
    last = weekday_clock(int(world.checkins.local_seconds_T[clock.row]))
    names = {poi: markdown_text(world.labels[poi]) for poi in (*choices, source)}
    count = len(set(clock.first_H))
    return lesson.Lesson(
        _OUTLINE,
        intro=(
            f"{user_name(clock.user)} was last at {names[source]} on {last}; "
            f"asked about {when[0]}, the model puts **{names[int(clock.first_H[0])]}** first."
        ),
        guess=lesson.choose(
            f"Move the clock to {when[asked]}. Which place is first?",
            [names[poi] for poi in choices],
            choices.index(first),
            f"{names[first]} has {chance(float(clock.probability_HP[asked, first]))} at {when[asked]}. From {when[0]} "
            f"to {when[-1]}, {count} {'place comes' if count == 1 else 'places come'} first.",
            _picture(world, {poi: visits[poi] for poi in choices}, last),
        ),
        handles=(lesson.Handle("hour", "Time of the next check-in", tuple(when), asked),),
        scene=lambda handles: _scene(world, clock, choices, when, handles[0]),
        idea=_OUTLINE.reveal,
        check=_check(plain, given),
        deeper=lesson.Deeper("next", "Ask for any time in Next", {"user": str(clock.user), "row": str(clock.row)}),
    )


def _teaches(clock: Clock) -> tuple[int, float]:
    """More the more places come first, then the clearer the place to guess."""
    return min(len(set(clock.first_H)), _CHOICES), float(clock.probability_HP[clock.asked].max())


def _visits(world: Workspace, clock: Clock) -> dict[int, np.ndarray]:
    """Local hours of the user's check-ins so far, at each choice."""
    known = slice(int(world.checkins.first_T[clock.row]), clock.row + 1)
    hours, pois = (world.checkins.local_seconds_T[known] // _HOUR % 24).numpy(), world.checkins.poi_T[known].numpy()
    return {poi: hours[pois == poi] for poi in clock.choices}


def _picture(world: Workspace, visits: dict[int, np.ndarray], last: str) -> Bars:
    bars = []
    for poi, hours in visits.items():
        start = _SLOT * int(np.bincount(hours // _SLOT, minlength=1).argmax())
        often = f"{times(len(hours))}, most often {start:02d}:00 to {start + _SLOT:02d}:00" if len(hours) else "never"
        bars.append(Bar(shortened(world.labels[poi], _NAME), float(len(hours)), often, "revisits"))
    return Bars.of(f"The user's visits up to {last}.", f"Visits up to {last}", bars)


def _scene(world: Workspace, clock: Clock, choices: list[int], when: list[str], hour: int) -> lesson.Scene:
    here_P, first = clock.probability_HP[hour], int(clock.first_H[hour])
    finding = f"At {when[hour]} the model puts {world.labels[first]} first ({chance(float(here_P[first]))})."
    lines = tuple(
        Series(shortened(world.labels[poi], _LINE), tuple(clock.probability_HP[:, poi].tolist()), meaning)
        for poi, meaning in zip(choices, _COLOURS, strict=False)
    )
    curve = Lines(f"{finding} Probability by time.", "Time of the next check-in", tuple(when), lines, hour)
    order = np.argsort(-here_P, kind="stable")[:_SHOWN]
    bars = [
        Bar(f"{rank}. {shortened(world.labels[int(poi)], _NAME)}", float(here_P[poi]), chance(float(here_P[poi])))
        for rank, poi in enumerate(order, start=1)
    ]
    return lesson.Scene(finding, (curve, Bars.of(finding, f"Probability at {when[hour]}", bars, 1.0)), "Local time.")


def _check(plain: Workspace, given: Workspace) -> lesson.LessonQuestion:
    """Ask for which cases the same model puts the true place first more often with the time, beyond chance."""
    without, timed = plain.records(), given.records()
    is_rare = panel_of_cases(without) == PANELS.index("tail_known")
    kinds = (
        ("rare transitions to places the user knows", "first", 1, is_rare),
        ("new places", f"in the top {_K}", _K, ~is_known_place(without)),
    )
    gains, facts = [], []
    for name, where, most, mask in kinds:
        users = without[c.USER].to_numpy()[mask]
        hits = [is_hit(table, most)[mask] for table in (without, timed)]
        gain = lesson.share_of(hits[1].astype(float) - hits[0], users)
        gains.append(bool(gain.low > 0) and len(np.unique(users)) > 1)
        facts.append(
            f"Of {len(users):,} {name}, {percent(hits[0].mean(), 1)} are {where} without the time. "
            f"With the time given {percent(hits[1].mean(), 1)} are. "
            f"Difference {signed(gain.value)}, interval [{signed(gain.low)}, {signed(gain.high)}]."
            if len(users)
            else f"There are no {name}."
        )
    rare, new = (f"{name.capitalize()}, {where}" for name, where, _, _ in kinds)
    return lesson.choose(
        "Where is the true place, with the time given, found more often than chance alone explains?",
        (rare, new, "Both", "Neither"),
        2 if all(gains) else gains.index(True) if any(gains) else 3,
        f"{' '.join(facts)} Intervals: 95 %, over users.",
    )
