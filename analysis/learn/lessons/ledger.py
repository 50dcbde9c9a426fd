"""Lesson 9: a score is a sum; which contributions are stable, and what the model cannot know."""

from typing import Final

import numpy as np

from analysis.explain.contrast import choose_rival
from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.net_rows import net_rows
from analysis.explain.robustness import check_rows
from analysis.explain.score_parts import decompose_scores
from analysis.formatting import points, signed_points
from analysis.learn.charts import Bar, Bars
from analysis.learn.lesson import Deeper, Handle, Lesson, LessonUnavailableError, Outline, Question, Scene
from analysis.learn.measure import choose
from analysis.learn.vocabulary import Say
from analysis.learn.world import World
from analysis.records.score_rows import ROW_LABELS
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
        "Which row would you show to the walker it is about?",
        "What did the walker know that no row can hold?",
    ),
    ("permutation_test", "core", "seed_band"),
)
_ASKED: Final = 4
_LEVEL: Final = 0.005


def choose_case(world: World) -> int:
    """A rare step that the model puts first: the first one whose rank its own visits improve; else the first found.

    Raises:
        LessonUnavailableError: the model puts no rare step first.
    """
    removals, cases = world.removals, world.opened.cases
    first = (cases[c.TRANSITION_COUNT].to_numpy() <= TAIL_MAX_COUNT) & (removals[c.RANK].to_numpy() == 1)
    if not first.any():
        raise LessonUnavailableError("In this city the model puts no rare step first.")
    kept = first & (np.nan_to_num(removals["without_own_revisits"].to_numpy(np.float64)) > 1)
    return int(np.flatnonzero(kept if kept.any() else first)[0])


def build(world: World, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: no model, or none that puts a rare step first.
    """
    case = choose_case(world)
    edited = build_edited_case(world.predictor, case)
    rival = choose_rival(edited)
    truth, other = (net_rows(entry) for entry in decompose_scores(edited, [edited.target, rival]))
    gaps = {row: truth[row] - other[row] for row in truth if abs(truth[row]) + abs(other[row]) >= _LEVEL}
    order = sorted(gaps, key=lambda row: -abs(gaps[row]))
    if len(order) < 2:
        raise LessonUnavailableError("In this case a single row makes the whole score; choose another model.")
    labels = {row: ROW_LABELS[row] for row in order}
    names = [markdown_text(world.opened.labels[poi]) for poi in (edited.target, rival)]
    asked = order[:_ASKED]
    best = max(asked, key=lambda row: gaps[row])
    shown = sorted(asked, key=list(truth).index)
    guess = choose(
        say("Which row puts {truth} furthest ahead of {rival}?", truth=names[0], rival=names[1]),
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
                "After {n} the true {place} has {mine} and its rival {theirs}: {lead}.",
                n="1 row" if number == 1 else f"{number} rows",
                mine=points(sums[0]),
                theirs=points(sums[1]),
                lead=signed_points(lead),
            )
            if number
            else "No row is counted yet: both stand at 0."
        )
        bars = [Bar(say("True {place}, sum"), sums[0], points(sums[0]), "truth")]
        bars.append(Bar("Rival, sum", sums[1], points(sums[1]), "model"))
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
            "A score is a sum of rows. Each row is one kind of clue: own visits, the hour, distance and so on. "
            "Here a {walker} went on to {truth}. The model put that first. Second came {rival}.",
            truth=f"**{names[0]}**",
            rival=f"**{names[1]}**",
        ),
        prediction=guess,
        handles=(Handle("rows", "Rows added up", positions, 1),),
        scene=scene,
        lesson_learned=say(
            "The rows add up, so each can be read. But a row may come out otherwise when the model is trained again, "
            "or be no larger than in other cases (a permutation test). And no row knows why the {walker} went."
        ),
        aside={
            "student": "A till receipt adds up too. It does not say why you bought the milk.",
            "stakeholder": "Show rows that are stable, and say of the rest that they are not.",
            "researcher": "Rows of `analysis.explain.net_rows`; the core counts as one row. Stable: the rank moves "
            "the same way in five seeds, p <= .05 against 200 other cases, trips of more than one user.",
        },
        check=_check(world, say, edited, labels),
        deeper=Deeper("explain", "Open this case in Explain", {"case": str(case)}),
    )


def _check(world: World, say: Say, edited: EditedCase, labels: dict[str, str]) -> Question:
    """How many rows pass the robustness checks."""
    assert world.find_tables is not None
    checks = [check for check in check_rows(edited, tables=world.find_tables()) if check.row in labels]
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
