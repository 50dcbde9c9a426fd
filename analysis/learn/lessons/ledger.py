"""Lesson 9: a score is a sum; which contributions are stable, and what the model cannot know."""

from typing import Final

import numpy as np

from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.explanation import choose_runner_up
from analysis.explain.robustness import check_rows
from analysis.explain.sentences import part_label
from analysis.formatting import points, signed_points
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
from analysis.learn.measure import choose
from analysis.learn.vocabulary import Say
from analysis.workspace import Workspace
from recap import columns as c
from recap.graph import TAIL_MAX_COUNT
from recap.printable import markdown_text

OUTLINE: Final = Outline(
    "sum",
    "A score is a sum",
    "Contributions add up, but not each one is stable.",
    3,
    "Read a score row by row, and ask of each row whether it is stable.",
    (
        "Which row would you show to the user it is about?",
        "What did the user know that no row can hold?",
    ),
    ("permutation_test", "core", "seed_band"),
)
_LABELS: Final = {"correction": "Habit, by the time"}
_ASKED: Final = 4
_LEVEL: Final = 0.005


def choose_case(world: Workspace) -> int:
    """A rare step that the model puts first: the first one whose rank its own visits improve; else the first found.

    Raises:
        LessonUnavailableError: the model puts no rare step first.
    """
    ablations, cases = require_model(world).ablations(), world.cases
    first = (cases[c.TRANSITION_COUNT].to_numpy() <= TAIL_MAX_COUNT) & (ablations[c.RANK].to_numpy() == 1)
    if not first.any():
        raise LessonUnavailableError("In this city the model puts no rare step first.")
    kept = first & (np.nan_to_num(ablations["without_history"].to_numpy(np.float64)) > 1)
    return int(np.flatnonzero(kept if kept.any() else first)[0])


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: no model, or none that puts a rare step first.
    """
    case = choose_case(world)
    edited = build_edited_case(require_model(world).predictor, case)
    runner_up = choose_runner_up(edited)
    truth, other = (
        {name: float(point_T[rows].sum()) for name, rows in edited.groups.items()}
        for point_T in edited.contributions([edited.target, runner_up])
    )
    gaps = {row: truth[row] - other[row] for row in truth if abs(truth[row]) + abs(other[row]) >= _LEVEL}
    order = sorted(gaps, key=lambda row: -abs(gaps[row]))
    if len(order) < 2:
        raise LessonUnavailableError("In this case a single row makes the whole score; choose another model.")
    labels = {row: _LABELS.get(row, part_label(row)) for row in order}
    names = [markdown_text(world.labels[poi]) for poi in (edited.target, runner_up)]
    asked = order[:_ASKED]
    best = max(asked, key=lambda row: gaps[row])
    shown = sorted(asked, key=list(truth).index)
    guess = choose(
        say("Which row puts {truth} furthest ahead of {runner_up}?", truth=names[0], runner_up=names[1]),
        tuple(
            (labels[row], f"{'Right' if row == best else 'No'}. This row gives a lead of {signed_points(gaps[row])}.")
            for row in shown
        ),
        shown.index(best),
    )

    def scene(at: tuple[int, ...]) -> Scene:
        number = at[0]
        sums = [sum(side[row] for row in order[:number]) for side in (truth, other)]
        lead = sums[0] - sums[1]
        finding = (
            say(
                "After {n} the true {place} has {mine} and its runner-up {theirs}: {lead}.",
                n="1 row" if number == 1 else f"{number} rows",
                mine=points(sums[0]),
                theirs=points(sums[1]),
                lead=signed_points(lead),
            )
            if number
            else "No row is counted yet: both stand at 0."
        )
        bars = [Bar(say("True {place}, sum"), sums[0], points(sums[0]), "truth")]
        bars.append(Bar("PublishedNetwork, sum", sums[1], points(sums[1]), "model"))
        bars += [Bar(labels[row], gaps[row], signed_points(gaps[row]), "baseline") for row in order[:number]]
        says = f"{finding} " + "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."
        return Scene(
            finding,
            (Bars(says, "Points; grey: lead of the true place in each row", tuple(bars)),),
            "Rows from the largest difference down. Rounded to two decimals.",
        )

    positions = tuple(str(number) for number in range(len(order) + 1))
    return Lesson(
        OUTLINE,
        intro=say(
            "A score is a sum of rows. Each row is one group of features: past visits, times, distance and so on. "
            "Here a {user} went on to {truth}. The model put that first. Second came {runner_up}.",
            truth=f"**{names[0]}**",
            runner_up=f"**{names[1]}**",
        ),
        prediction=guess,
        handles=(Handle("rows", "Rows added up", positions, 1),),
        scene=scene,
        lesson_learned=say(
            "The rows add up, so each can be read. But a row may come out otherwise when the model is trained again, "
            "or be no larger than in other cases (a permutation test). And no row knows why the {user} went."
        ),
        aside={
            "student": "A till receipt adds up too. It does not say why you bought the milk.",
            "stakeholder": "Show rows that are stable, and say of the rest that they are not.",
            "researcher": "Groups of terms; the core counts as one. Stable: the rank moves "
            "the same way in five seeds, p <= .05 against 200 other cases, trips of more than one user.",
        },
        check=_check(world, say, edited, labels),
        deeper=Deeper("explain", "Open this case in Explain", {"case": str(case)}),
    )


def _check(world: Workspace, say: Say, edited: EditedCase, labels: dict[str, str]) -> Question:
    """How many rows pass the robustness checks."""
    checks = [check for check in check_rows(edited, world.seeds()) if check.row in labels]
    if not checks:
        raise LessonUnavailableError("No row of this case could be checked; choose another model.")
    stable = [labels[check.row].lower() for check in checks if not check.problems]
    failing = [f"{labels[check.row].lower()} ({check.problems[0]})" for check in checks if check.problems]
    right = 0 if not stable else 1 if failing else 2
    fact = f"{len(stable)} of {len(checks)} are stable" + (f": {', '.join(stable)}." if stable else ".")
    if failing:
        fact += f" Not: {', '.join(failing)}."
    return choose(
        say(
            "{n} rows of this score were compared with random other cases, and with other seeds where there are some. "
            "How many are stable?",
            n=len(checks),
        ),
        (
            ("None", f"{'Right' if right == 0 else 'No'}. {fact}"),
            ("Some, not all", f"{'Right' if right == 1 else 'No'}. {fact}"),
            ("All", f"{'Right' if right == 2 else 'No'}. {fact}"),
        ),
        right,
    )
