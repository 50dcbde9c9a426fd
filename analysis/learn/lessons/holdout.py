"""The lesson on hiding frequent transitions in training."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.formatting import percent, signed
from analysis.learn import lesson
from analysis.learn.charts import Bar, Bars
from analysis.long_tail.ablations import shipped_ablations
from analysis.workspace import Workspace
from recap import columns as c
from recap.graph import TAIL_MAX_COUNT, TransitionGraph
from recap.printable import markdown_text

OUTLINE: Final = lesson.Outline(
    "holdout",
    "Holdout",
    "Hidden transitions let a model practise on new ones; only a test shows whether that helps.",
    5,
    (
        "When did you learn something by heart and then fail in a new task?",
        "If the holdout changed nothing you can measure, would you keep it?",
    ),
    ("holdout", "head", "interval"),
)
_HIDDEN: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
START: Final = 2
SEED: Final = 0
_VARIANT: Final = "w/o Shortcut"


def frequent_edges(graph: TransitionGraph) -> tuple[np.ndarray, np.ndarray]:
    """Sources and destinations of the transitions seen more than once."""
    counts = graph.counts.tocoo()
    frequent = counts.data > TAIL_MAX_COUNT
    return counts.row[frequent].astype(np.int64), counts.col[frequent].astype(np.int64)


def hide(graph: TransitionGraph, share: float) -> tuple[int, int]:
    """Hide some frequent transitions at random; count them, and those of them with a two-hop path."""
    source, target = frequent_edges(graph)
    chosen = np.random.default_rng(SEED).permutation(len(source))[: round(share * len(source))]
    if not len(chosen):
        return 0, 0
    counts = graph.counts.tocoo()
    size = graph.num_pois
    gone = np.isin(counts.row.astype(np.int64) * size + counts.col, source[chosen] * size + target[chosen])
    kept = pd.Series(
        counts.data[~gone].astype(np.int64),
        index=pd.MultiIndex.from_arrays([counts.row[~gone], counts.col[~gone]], names=[c.SOURCE, c.TARGET]),
    )
    left = TransitionGraph.from_counts(kept, size)
    return len(chosen), int((left.two_step_probability(source[chosen], target[chosen]) > 0).sum())


def build(world: Workspace) -> lesson.Lesson:
    """Needs a transition that training saw twice."""
    if not len(frequent_edges(world.graph)[0]):
        raise lesson.LessonUnavailableError("In this city training saw no transition twice.")
    shares = [hide(world.graph, share) for share in _HIDDEN]
    hidden, linked = shares[START]
    return lesson.Lesson(
        OUTLINE,
        intro="The holdout hides frequent transitions in training, so that the model cannot learn them by heart.",
        guess=lesson.share_question(
            f"We hide half of the frequent transitions of {markdown_text(world.name)}. To how many of them does a "
            "two-hop path still lead?",
            linked / hidden if hidden else 0.0,
            fact=f"To {linked:,} of {hidden:,}.",
            too_low="Busy places have many neighbours.",
            too_high="Many pairs of places are linked by one transition only.",
            picture=_picture(world),
        ),
        handles=(lesson.Handle("hidden", "Frequent transitions hidden", tuple(map(percent, _HIDDEN)), START),),
        scene=lambda at: _scene(shares, at[0]),
        idea=(
            "The model can practise on transitions that are hidden but have a path. Only a test shows whether practice "
            "helps."
        ),
        check=_check(world),
        deeper=lesson.Deeper("long_tail", "See what each part is worth in Long tail"),
    )


def _picture(world: Workspace) -> Bars:
    counts = world.graph.counts.tocoo().data
    bars = []
    for name, mask, meaning in (
        ("Seen more than once", counts > TAIL_MAX_COUNT, "baseline"),
        ("Seen once", counts <= TAIL_MAX_COUNT, "truth"),
    ):
        text = f"{int(mask.sum()):,}, which occur in {percent(float(counts[mask].sum() / counts.sum()))} of all cases"
        bars.append(Bar(name, float(mask.sum()), text, meaning))  # type: ignore[arg-type]
    return Bars.of("Distinct training transitions.", "Distinct training transitions", bars)


def _scene(shares: list[tuple[int, int]], at: int) -> lesson.Scene:
    number, found = shares[at]
    finding = f"{number:,} frequent transitions are hidden; {found:,} still have a two-hop path."
    if not number:
        finding = "Nothing is hidden: each frequent transition can be learned by heart."
    bars = (
        Bar("Hidden", float(number), f"{number:,}", "baseline"),
        Bar("With a two-hop path", float(found), f"{found:,} of {number:,}", "paths"),
    )
    chart = Bars(finding, "Distinct transitions", bars, float(max(1, shares[-1][0])))
    return lesson.Scene(
        finding, (chart,), "Transitions seen more than once in training, hidden in a fixed random order."
    )


def _check(world: Workspace) -> lesson.LessonQuestion:
    """Ask what the holdout is worth in the city's own model or, without ablations, how many cases it can hide."""
    table = shipped_ablations(world.bundle, "hr1", "tail")
    row = None if table is None else next((r for r in table.to_dict("records") if r["name"] == _VARIANT), None)
    if row is None:
        counts = world.graph.counts.tocoo().data
        share = float(counts[counts > TAIL_MAX_COUNT].sum() / counts.sum())
        return lesson.share_question(
            "How many of all training cases are transitions seen more than once?",
            share,
            fact=f"{percent(share)} of all cases are.",
            too_low="Frequent transitions are few, but each occurs many times.",
            too_high="Many transitions occur only once.",
        )
    interval = f"[{signed(float(row['lower']))}, {signed(float(row['upper']))}]"
    return lesson.choose(
        "RECAP was trained again without the holdout. What does the holdout do for rare transitions?",
        ("More rank first with it", "Fewer rank first with it", "No difference beyond chance"),
        0 if row["lower"] > 0 else 1 if row["upper"] < 0 else 2,
        f"With it, the share ranked first changes by {signed(float(row['drop']))}, 95 % interval {interval}.",
    )
