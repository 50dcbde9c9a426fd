"""Lesson 1: a popular place is missed where nobody ever stepped to it from here."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.formatting import percent, times
from analysis.learn.charts import Bar, Bars
from analysis.learn.lesson import Card, Deeper, Handle, Lesson, LessonUnavailableError, Outline, Scene
from analysis.learn.measure import choose, share_of, share_question, verdicts
from analysis.learn.vocabulary import Say
from analysis.records.popular_places import popular_bar
from analysis.workspace import Workspace
from recap import columns as c
from recap.graph import TAIL_MAX_COUNT
from recap.printable import markdown_text

OUTLINE: Final = Outline(
    "popular",
    "A popular place, a failed guess",
    "A popular place is hard to guess when nobody took this step before.",
    3,
    "Tell a rare place from a rare step.",
    (
        "Which popular place near you has a way in that hardly anybody takes?",
        "Who is harmed if a map app can only guess steps it has seen?",
    ),
    ("transition", "unseen", "tail"),
)
K: Final = 20
"""Places the counting model may name; a tenth of a small city's."""
TOPS: Final = (0.5, 0.25, 0.1, 0.05)
"""What counts as popular: the share of places with the most visits."""
START: Final = 2
_CLOSE: Final = 0.05


def is_popular(world: Workspace, top: float) -> np.ndarray:
    """Which places are popular: at least as many training visits as the last of the top share has; (places,)."""
    visits = world.dataset.pois[c.TRAIN_CHECKINS].to_numpy()
    return np.asarray(visits >= popular_bar(visits, top))


def places_named(world: Workspace) -> int:
    """How many places the counting model may name."""
    return min(K, max(1, world.dataset.num_pois // 10))


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: no popular place is reached by a new step, no other one by a known step, or none is
            missed.
    """
    records = world.with_model("markov").records()
    known = records[c.TRANSITION_COUNT].to_numpy() > TAIL_MAX_COUNT
    new = records[c.TRANSITION_COUNT].to_numpy() == 0
    k = places_named(world)
    missed = records[c.RANK].to_numpy() > k
    popular = is_popular(world, TOPS[START])[records[c.TARGET]]
    rare_known, popular_new = ~popular & known, popular & new
    if not rare_known.any() or not popular_new.any():
        raise LessonUnavailableError("This city has no popular place that is reached by a step nobody took before.")
    case_a = _most(records, rare_known & ~missed if (rare_known & ~missed).any() else rare_known, fewest=True)
    case_b = _most(records, popular_new & missed if (popular_new & missed).any() else popular_new, fewest=False)
    a, b = missed[rare_known].mean(), missed[popular_new].mean()
    right = 2 if abs(a - b) < _CLOSE else 0 if a > b else 1
    fact = f"It misses {percent(a)} of visits like A, and {percent(b)} of visits like B."
    told = verdicts(right, 3)
    guess = choose(
        "Over all visits of each kind, which kind does it miss more often?",
        (
            (
                "Kind A: a rarer place, by a known step",
                f"{told[0]}. {fact} A small place is easy where the way is worn.",
            ),
            ("Kind B: a popular place, by a new step", f"{told[1]}. {fact} Fame is no help to a step nobody took."),
            ("Both about as often", f"{told[2]}. {fact}"),
        ),
        right,
    )
    lost = missed & popular
    if not lost.any():
        raise LessonUnavailableError("In this city a counting model finds every visit to a popular place.")
    by_new = float(new[lost].mean())
    check = share_question(
        say("Of all missed visits to popular {places}, how many came by a {step} never seen?"),
        by_new,
        fact=f"{int((lost & new).sum()):,} of {int(lost.sum()):,} missed visits came by a step never seen.",
        too_low="Visits to a popular place over a known step are seldom missed.",
        too_high="Some were missed though the step was seen.",
    )

    def scene(at: tuple[int, ...]) -> Scene:
        return _scene(world, say, records, TOPS[at[0]])

    visits = np.sort(world.dataset.pois[c.TRAIN_CHECKINS].to_numpy())[::-1]
    positions = tuple(
        f"top {percent(top)}: {int(max(1, visits[max(1, round(top * len(visits))) - 1]))} visits or more"
        for top in TOPS
    )
    return Lesson(
        OUTLINE,
        intro=say(
            "In {city} a simple model counts. From each {place} it knows where people went next. "
            "It may name {k} {places}, and fills up with the most visited ones. "
            "If the true one is not among them, the visit is missed. "
            "Look at two visits from the test weeks.",
            city=markdown_text(world.name),
            k=k,
        ),
        prediction=guess,
        handles=(Handle("popular", say("Popular means"), positions, START),),
        scene=scene,
        lesson_learned=say(
            "Move the handle and draw the line for popular elsewhere. Is it still the new {step} that fails? "
            "That is why the long tail is counted in rare {steps} here, and not in rare {places}."
        ),
        aside={
            "student": "Think of a bus stop. It may be busy, yet no bus runs there from your street.",
            "stakeholder": "A list of top places will look good and still fail people who take a new way.",
            "researcher": "Cases by m_sd: new is m_sd = 0, known is m_sd > 1. Popularity is the count of training "
            "check-ins. The ranker is a first-order Markov counter.",
        },
        check=check,
        deeper=Deeper("walk", "See visit B in Walk", {"case": str(case_b)}),
        cards=(
            Card("A. A rarer place, by a known step", _told(world, say, records.iloc[case_a])),
            Card("B. A popular place, by a new step", _told(world, say, records.iloc[case_b])),
        ),
    )


def _most(records: pd.DataFrame, mask: np.ndarray, *, fewest: bool) -> int:
    """The case among some whose true place has the fewest or the most training visits."""
    rows = np.flatnonzero(mask)
    visits = records[c.DESTINATION_COUNT].to_numpy()[rows]
    return int(rows[visits.argmin() if fewest else visits.argmax()])


def _told(world: Workspace, say: Say, case: pd.Series) -> str:
    labels = world.labels
    source, target = (markdown_text(labels[int(case[name])]) for name in (c.SOURCE, c.TARGET))
    count = int(case[c.TRANSITION_COUNT])
    return say(
        "To **{target}** ({visits} visits in training) from {source}. This {step} was {seen}.",
        target=target,
        source=source,
        visits=f"{int(case[c.DESTINATION_COUNT]):,}",
        seen=f"seen {times(count)}" if count else "never seen",
    )


def _scene(world: Workspace, say: Say, records: pd.DataFrame, top: float) -> Scene:
    popular = is_popular(world, top)[records[c.TARGET]]
    count, users = records[c.TRANSITION_COUNT].to_numpy(), records[c.USER].to_numpy()
    k = places_named(world)
    missed = records[c.RANK].to_numpy() > k
    bars = []
    shares = {}
    for is_top, place in ((False, "Other"), (True, "Popular")):
        for is_new, step in ((False, "known"), (True, "new")):
            mask = (popular == is_top) & (count == 0 if is_new else count > TAIL_MAX_COUNT)
            share = shares[is_top, is_new] = share_of(missed[mask], users[mask])
            label = say(f"{place} {{place}}, {step} {{step}}")
            value = share.value if share.n else 0.0
            bars.append(Bar(label, value, share.text, "truth" if is_new else "baseline", share.low, share.high))
    told = shares[True, True], shares[True, False]
    finding = say(
        "A popular place is missed {new} of the time over a new {step}, {known} over a known one.",
        new=percent(told[0].value) if told[0].n else "never (n = 0)",
        known=percent(told[1].value) if told[1].n else "never (n = 0)",
    )
    says = f"{finding} " + "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."
    note = say("Missed at {k}, a counting model. Lines: 95 % interval over {users}. New: never seen.", k=k)
    return Scene(finding, (Bars(says, "Share of visits missed", tuple(bars), 1.0),), note)
