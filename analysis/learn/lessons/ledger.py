"""Lesson 9: a score is a sum; which rows survive another seed and a placebo, and what the model cannot know."""

from typing import Final

import numpy as np

from analysis.explain.checks import CaseChecks, check_case, choose_rival
from analysis.explain.contrast import contrast
from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.net_rows import net_rows
from analysis.explain.score_parts import decompose_scores
from analysis.explain.stamps import RowStamp
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
    "Points add up, yet not each row of points holds.",
    3,
    "Read a score row by row, and ask of each row whether it holds.",
    (
        "Which row would you show to the walker it is about?",
        "What did the walker know that no row can hold?",
    ),
    ("placebo", "core", "seed_band"),
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
    labels = {row: say.words.row(row, ROW_LABELS[row]) for row in order}
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
            "or be no better than what an odd other case gives (a placebo). And no row knows why the {walker} went."
        ),
        aside={
            "student": "A till receipt adds up too. It does not say why you bought the milk.",
            "stakeholder": "Show rows that hold, and say of the rest that they do not.",
            "researcher": "Rows of `analysis.explain.net_rows`; the core is opaque and counts as one row. Stamps: five "
            "seeds, 200 placebos, trips of more than one user.",
        },
        check=_check(world, say, edited, rival, labels),
        deeper=Deeper("explain", "Open this case in Explain", {"case": str(case)}),
    )


def _check(world: World, say: Say, edited: EditedCase, rival: int, labels: dict[str, str]) -> Question:
    """Which row does not hold, from the stamps."""
    assert world.find_tables is not None
    split_up = contrast(edited, edited.target, rival, search=False)
    checks: CaseChecks = check_case(edited, split_up, tables=world.find_tables())
    known = {stamp.row: stamp for stamp in checks.stamps if stamp.placebo is not None and stamp.row in labels}
    best = max(known.values(), key=lambda stamp: stamp.verdict == "holds", default=None)
    if best is None:
        raise LessonUnavailableError("No row of this case could be checked; choose another model.")
    holding = [stamp for stamp in known.values() if stamp.verdict == "holds"]
    failing = [stamp for stamp in known.values() if stamp.verdict != "holds"]
    right = 0 if not holding else 1 if len(holding) < len(known) else 2
    fact = " ".join(
        part
        for part in (
            f"{len(holding)} of {len(known)} hold" + (":" if holding else "."),
            ", ".join(labels[stamp.row].lower() for stamp in holding) + "." if holding else "",
            "Not: " + ", ".join(f"{labels[s.row].lower()} ({_why_not(s)})" for s in failing) + "." if failing else "",
        )
        if part
    )
    return choose(
        say(
            "{n} rows of this score were held against placebos, and against other trainings where there are some. "
            "How many hold?",
            n=len(known),
        ),
        (
            ("None", f"{'Right' if right == 0 else 'No'}. {fact}"),
            ("Some, not all", f"{'Right' if right == 1 else 'No'}. {fact}"),
            ("All", f"{'Right' if right == 2 else 'No'}. {fact}"),
        ),
        right,
    )


def _why_not(stamp: RowStamp) -> str:
    """The first thing that speaks against a row."""
    in_all = f"holds in {stamp.seeds_same} of {stamp.seeds}" if stamp.seeds_same == stamp.seeds else "\n"
    against = [word.lower() for word in stamp.words if not word.startswith(in_all)]
    return against[0] if against else stamp.verdict
