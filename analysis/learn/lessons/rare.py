"""The lesson on rare transitions."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.formatting import all_or_percent, percent, times
from analysis.learn import lesson
from analysis.learn.charts import Bar, Bars, Lines, Meaning, Series
from analysis.records.accuracy import is_hit
from analysis.records.case_groups import popular_bar
from analysis.workspace import Workspace
from recap import columns as c
from recap.evaluation.cases import is_known_place
from recap.history.graph import TAIL_MAX_COUNT
from recap.machine.printable import count_of, markdown_text, shortened

_OUTLINE: Final = lesson.OUTLINES["rare"]
_K: Final = 20
_MOST: Final = 9
"""Highest threshold."""
_SHOWN: Final = 8
_NAME: Final = 24


def rare_shares(cases: pd.DataFrame, threshold: int) -> tuple[float, float]:
    """Shares of the next places and next transitions that training saw at most ``threshold`` times."""
    return (
        float((cases[c.DESTINATION_COUNT] <= threshold).mean()),
        float((cases[c.TRANSITION_COUNT] <= threshold).mean()),
    )


def build(world: Workspace) -> lesson.Lesson:
    """Needs a test case for each answer of the check."""
    cases = world.cases
    lesson.require(not cases.empty, "This city has no test case.")
    places, transitions = rare_shares(cases, TAIL_MAX_COUNT)
    shares = [rare_shares(cases, threshold) for threshold in range(_MOST + 1)]
    records = world.with_model("markov").records()
    visits = world.dataset.pois[c.TRAIN_CHECKINS].to_numpy()
    is_popular = (visits >= popular_bar(visits))[records[c.TARGET]]
    return lesson.Lesson(
        _OUTLINE,
        intro=(
            "A transition from one place straight to the next is rare if it occurs at most once in training, the first "
            "weeks of the data, from which a model learns."
        ),
        guess=lesson.share_question(
            "Of all next transitions in the test weeks, how many are rare?",
            transitions,
            fact=f"{percent(transitions)} are rare, and {all_or_percent(places)} of the next places.",
            too_low="There are far more pairs of places than places.",
            too_high="People also repeat their transitions.",
            picture=_sample(world, cases),
        ),
        handles=(
            lesson.Handle(
                "threshold", "Rare means seen at most … times", tuple(map(str, range(_MOST + 1))), TAIL_MAX_COUNT
            ),
        ),
        scene=lambda handles: _scene(shares, records, is_popular, handles[0]),
        idea=f"{_OUTLINE.reveal}{_who_finds(world, is_popular)}",
        check=_check(world, cases),
        deeper=lesson.Deeper(
            "long_tail", "Move the threshold in Long tail", moved=lambda handles: {"eta": str(handles[0])}
        ),
    )


def _who_finds(world: Workspace, is_popular: np.ndarray) -> str:
    """Which unseen transitions to popular places two counters find; empty without any."""
    cases = world.cases
    asked = is_popular & (cases[c.TRANSITION_COUNT] == 0).to_numpy()
    if not asked.any():
        return ""
    transitions, visits = (is_hit(world.with_model(name).records(), _K) for name in ("markov", "visit_count"))
    new = asked & ~is_known_place(cases)
    text = (
        f" Training never saw {count_of(int(asked.sum()), 'next transition')} to popular places. Counting transitions "
    )
    text += f"finds {percent(transitions[asked].mean())} of them, counting past visits {percent(visits[asked].mean())}"
    return f"{text}; of those to places new to the user {percent(visits[new].mean())}." if new.any() else f"{text}."


def _sample(world: Workspace, cases: pd.DataFrame) -> Bars:
    rows = np.unique(np.linspace(0, len(cases) - 1, min(_SHOWN, len(cases))).astype(int))
    some = cases.iloc[rows].sort_values(c.TRANSITION_COUNT, ascending=False, kind="stable")
    labels = world.labels
    names = [
        f"{shortened(labels[int(case[c.SOURCE])], _NAME)} → {shortened(labels[int(case[c.TARGET])], _NAME)}"
        for _, case in some.iterrows()
    ]
    counts = some[c.TRANSITION_COUNT].tolist()
    distinct = dict(zip(names, counts, strict=True))
    bars = [
        Bar(name, count, times(count) if count else "never", "baseline" if count > TAIL_MAX_COUNT else "truth")
        for name, count in distinct.items()
    ]
    stays = (some[c.SOURCE] == some[c.TARGET]).any()
    axis = "Times in training. The same place twice: two check-ins there in a row." if stays else "Times in training"
    return Bars.of("Some next transitions and how often training saw them.", axis, bars)


def _scene(
    shares: list[tuple[float, float]], records: pd.DataFrame, is_popular: np.ndarray, threshold: int
) -> lesson.Scene:
    places, transitions = shares[threshold]
    finding = (
        f"At threshold {threshold}, {percent(transitions)} of the next transitions and {all_or_percent(places)} of the "
        "next places are rare."
    )
    lines = (
        Series("Transitions", tuple(pair[1] for pair in shares), "truth"),
        Series("Places", tuple(pair[0] for pair in shares), "baseline"),
    )
    columns = tuple(map(str, range(len(shares))))
    curve = Lines(f"{finding} Two rising lines.", "Threshold", columns, lines, threshold)
    is_rare = records[c.TRANSITION_COUNT].to_numpy() <= threshold
    hit_N, users = is_hit(records, _K), records[c.USER].to_numpy()
    bars = []
    for rare, kind in ((False, "Frequent"), (True, "Rare")):
        for popular, place in ((True, "popular place"), (False, "other place")):
            mask = (is_rare == rare) & (is_popular == popular)
            share = lesson.share_of(hit_N[mask], users[mask])
            value = share.value if mask.any() else 0.0
            meaning: Meaning = "truth" if rare else "baseline"
            bars.append(Bar(f"{kind}, {place}", value, percent(value), meaning, share.low, share.high))
    hits = Bars.of("Found by counting transitions:", f"Found in the top {_K} by counting transitions", bars, 1.0)
    note = "All test cases. Popular places are the most visited tenth. Lines: 95 % intervals over users."
    return lesson.Scene(finding, (curve, hits), note)


def _check(world: Workspace, cases: pd.DataFrame) -> lesson.LessonQuestion:
    """Ask which of three transitions is rare although its place is not."""
    count, visits = cases[c.TRANSITION_COUNT].to_numpy(), cases[c.DESTINATION_COUNT].to_numpy()
    middle = float(np.median(visits))
    kinds = {
        "frequent": (count > TAIL_MAX_COUNT) & (visits > middle),
        "rare": (count <= TAIL_MAX_COUNT) & (visits > middle),
        "small": (count > TAIL_MAX_COUNT) & (visits <= middle),
    }
    labels, answers = world.labels, []
    for name, mask in kinds.items():
        rows = np.flatnonzero(mask)
        lesson.require(len(rows) > 0, "This city has too few kinds of transitions for this lesson.")
        order = count[rows] if name == "frequent" else visits[rows]
        case = cases.iloc[rows[order.argmin() if name == "small" else order.argmax()]]
        source, target = (markdown_text(labels[int(case[key])]) for key in (c.SOURCE, c.TARGET))
        often = int(case[c.TRANSITION_COUNT])
        seen = f"seen {times(often)}" if often else "never seen"
        place = times(int(case[c.DESTINATION_COUNT]))
        answers.append(f"{source} → {target}: transition {seen}, place visited {place}")
    return lesson.choose(
        "Which transition is rare although it leads to a popular place?",
        answers,
        1,
        f"Rare means that the transition was seen at most {times(TAIL_MAX_COUNT)}.",
    )
