"""Lesson 8: a path is there, take it away, nothing changes; what chance would give, and what is left."""

from typing import Final

import numpy as np

from analysis.formatting import percent, rank_number
from analysis.learn.charts import Bar, Bars
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
from analysis.learn.measure import choose, share_question
from analysis.learn.vocabulary import Say
from analysis.long_tail.lift import CONTROLS, kept_lift
from analysis.workspace import Workspace
from recap import columns as c
from recap.graph import TAIL_MAX_COUNT
from recap.printable import markdown_text

OUTLINE: Final = Outline(
    "cause",
    "Coincidence or cause",
    "A path may be there and do nothing: only taking it away can tell.",
    3,
    "Test a claim of the kind “found because of”.",
    (
        "Name a claim from the news that only shows two things together. What would you take away?",
        "After popularity, distance and habit, what is left for paths?",
    ),
    ("coincidence", "in_token", "popularity", "interval"),
)
K: Final = 20
_KNOWS: Final = {
    "uniform": "nothing",
    "own_visits": "the user's own visits",
    "unvisited": "popularity and distance, for places new to the user",
}
_LABELS: Final = ("Fewer than 1 in 20", "1 in 20 up to 1 in 4", "1 in 4 up to 3 in 4", "3 in 4 or more")
_EDGES: Final = (0.05, 0.25, 0.75)


def found_with_path(world: Workspace) -> np.ndarray:
    """Test cases of the tail that are found and to whose place a two-hop path leads."""
    cases, ablations = world.cases, require_model(world).ablations()
    tail = cases[c.TRANSITION_COUNT].to_numpy() <= TAIL_MAX_COUNT
    found = ablations[c.RANK].to_numpy() <= K
    return np.flatnonzero(tail & found & cases[c.TWO_STEP_WALK].to_numpy(bool))


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: no model, none that knows two hops, or no found rare step with a path.
    """
    ablations = require_model(world).ablations()
    if ablations["without_two_hops"].isna().all():
        raise LessonUnavailableError("The open model does not use two-step paths; choose another one.")
    rows = found_with_path(world)
    if not len(rows):
        raise LessonUnavailableError("In this city the model finds no rare step to which a path leads.")
    rank = ablations[c.RANK].to_numpy(np.float64)
    without = ablations["without_two_hops"].to_numpy(np.float64)
    lost = int((without[rows] > K).sum())
    same = int((without[rows] == rank[rows]).sum())
    guess = share_question(
        say(
            "The model finds {n} rare {steps} to which a {two_step} path leads. We take all such paths away, for all "
            "{places}. How many of the {n} does it lose?",
            n=f"{len(rows):,}",
        ),
        lost / len(rows),
        fact=f"It loses {lost:,} of {len(rows):,}; for {same:,} not even the rank moves.",
        too_low="Here paths do work of their own.",
        too_high="The path was there, and something else found the place.",
        labels=_LABELS,
        edges=_EDGES,
    )
    case = _choose_case(world, rows)
    return Lesson(
        OUTLINE,
        intro=say(
            "It is easy to say: found because of a path. But a path may just be there. To call it a cause, take it "
            "away and look again. If nothing changes, it was a coincidence."
        ),
        prediction=guess,
        handles=(Handle("knows", "What the blind guess knows", tuple(_KNOWS[control] for control in CONTROLS), 0),),
        scene=lambda at: _scene(world, say, CONTROLS[at[0]]),
        lesson_learned=say(
            "Popular, near and known {places} have more paths too, so a path to a true {place} is partly chance. Let "
            "the blind guess know more, and see how much is left for paths to explain."
        ),
        aside={
            "student": "Umbrellas and rain come together. Take away all umbrellas, and it still rains.",
            "stakeholder": "Ask of each “because”: what was removed, and what happened then?",
            "researcher": "Removal of token and two-hop contributions over the whole catalogue, ranked again. "
            "Lift is observed over expected share within C_2, published models from the same group.",
        },
        check=_check(world, say, case),
        deeper=Deeper("explain", "Cut paths yourself in Explain", {"case": str(case)}),
    )


def _scene(world: Workspace, say: Say, control: str) -> Scene:
    table = kept_lift(world)
    row = table[table["control"] == control].iloc[0]
    observed, expected, lift = float(row["observed"]), float(row["chance"]), float(row["lift"])
    known = lift == lift
    finding = (
        say(
            "If the guess knows {what}, true {places} lie within {two_steps} {lift} times as often.",
            what=_KNOWS[control],
            lift=f"{lift:.2f}",
        )
        if known
        else say("If the guess knows {what}, this city has no case to compare.", what=_KNOWS[control])
    )
    bars = tuple(
        Bar(label, value if value == value else 0.0, percent(value, 1) if value == value else "no case", meaning)  # type: ignore[arg-type]
        for label, value, meaning in (
            (say("True {places}"), observed, "truth"),
            ("Blind guesses", expected, "baseline"),
        )
    )
    limits = f" Lift {lift:.2f}, 95 % interval {row['lower']:.2f} to {row['upper']:.2f} over users." if known else ""
    says = f"{finding} " + "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."
    note = say("Share within {two_steps}; {n} {steps} never seen.", n=f"{int(row['n']):,}") + limits
    return Scene(finding, (Bars(says, say("Within {two_steps}"), bars, 1.0),), note)


def _choose_case(world: Workspace, rows: np.ndarray) -> int:
    """The found case whose place has the likeliest path."""
    cases = world.cases.iloc[rows]
    chance = world.graph.two_step_probability(cases[c.SOURCE].to_numpy(), cases[c.TARGET].to_numpy())
    return int(rows[chance.argmax()])


def _check(world: Workspace, say: Say, case: int) -> Question:
    """What happens to one case, the one with the strongest path, when all paths are taken away."""
    table, known = require_model(world).ablations().iloc[case], world.case(case)
    rank, without = float(table[c.RANK]), float(table["without_two_hops"])
    right = 3 if without > K else 2 if without > rank else 0 if without < rank else 1
    fact = f"With the paths it ranks {rank_number(rank)}, without them {rank_number(without)}."
    labels = world.labels
    answers = ("It ranks better", "Its rank stays", "It ranks worse, but is found", "It is lost")
    return choose(
        say(
            "From {origin} to {target} leads the strongest path of all found cases. Take all paths away. What happens?",
            origin=markdown_text(labels[int(known[c.SOURCE])]),
            target=markdown_text(labels[int(known[c.TARGET])]),
        ),
        tuple((answer, f"{'Right' if at == right else 'No'}. {fact}") for at, answer in enumerate(answers)),
        right,
    )
