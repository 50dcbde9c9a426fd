"""Lesson 7: hide frequent steps, so that a model learns the other ways to them and not the step by heart."""

from typing import Final

import numpy as np
import pandas as pd

from analysis.compare.paired import compare_records
from analysis.formatting import percent, signed
from analysis.learn.charts import Bar, Bars
from analysis.learn.lesson import (
    Deeper,
    Handle,
    Lesson,
    LessonUnavailableError,
    Outline,
    Question,
    Scene,
    Told,
    Training,
)
from analysis.learn.live_training import HOLDOUT_WEIGHT, LiveEpoch, toy_config, train_in_town
from analysis.learn.measure import choose, share_question
from analysis.learn.toy_lesson import TOWNS, toy_town
from analysis.learn.vocabulary import Say
from analysis.long_tail.ablations import shipped_ablations
from analysis.workspace import Workspace
from recap import columns as c
from recap.graph import TAIL_MAX_COUNT, TransitionGraph

OUTLINE: Final = Outline(
    "holdout",
    "Do not learn by heart",
    "What is hidden in training must be found in another way.",
    3,
    "Say why a step is hidden on purpose, and check whether that helped.",
    (
        "When did you learn something by heart and then fail in a new task?",
        "The holdout may change nothing that can be measured. Would you keep it?",
    ),
    ("holdout", "head", "interval"),
)
HIDDEN: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
START: Final = 2
SEED: Final = 0
STRENGTHS: Final = (HOLDOUT_WEIGHT, 1.0, 2.0, 4.0)
_TOWN: Final = (0.3, 0.3)
_VARIANT: Final = "w/o Shortcut"


def frequent_edges(graph: TransitionGraph) -> tuple[np.ndarray, np.ndarray]:
    """Sources and destinations of the transitions seen more than once."""
    counts = graph.counts.tocoo()
    frequent = counts.data > TAIL_MAX_COUNT
    return counts.row[frequent].astype(np.int64), counts.col[frequent].astype(np.int64)


def hide(graph: TransitionGraph, share: float) -> tuple[int, int]:
    """Hide some of the frequent transitions: how many were hidden, and how many of them a two-hop path still leads to.

    The order in which they are hidden is drawn by `SEED`.
    """
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


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: training saw no step twice.
    """
    graph = world.graph
    if not len(frequent_edges(graph)[0]):
        raise LessonUnavailableError("In this city no step was seen twice in training.")
    shares = [hide(graph, share) for share in HIDDEN]
    hidden, linked = shares[START]
    guess = share_question(
        say(
            "We hide half of the frequent {steps} of {city}. Of these, how many can still be reached over a {place} "
            "in the middle?",
            city=world.name,
        ),
        linked / hidden if hidden else 0.0,
        fact=f"{linked:,} of {hidden:,} can.",
        too_low="Places with busy steps have many neighbours.",
        too_high="Many steps are the only way from one place to the other.",
    )

    def scene(at: tuple[int, ...]) -> Scene:
        number, found = shares[at[0]]
        finding = (
            say(
                "{number} frequent {steps} are hidden. {found} still have a {two_step} path.",
                number=f"{number:,}",
                found=f"{found:,}",
            )
            if number
            else say("Nothing is hidden: each frequent {step} can be learned by heart.")
        )
        text = f"{found:,} of {number:,}"
        bars = (
            Bar("Hidden", float(number), f"{number:,}", "baseline"),
            Bar(say("Of these, with a {two_step} path"), float(found), text, "paths"),
        )
        top = float(max(1, shares[-1][0]))
        note = say("Distinct {steps} seen more than once in training, hidden in a fixed random order.")
        return Scene(finding, (Bars(f"{finding}", say("Distinct {steps}"), bars, top),), note)

    return Lesson(
        OUTLINE,
        intro=say(
            "A network can learn a frequent {step} by heart. That helps with this {step} and no other. "
            "RECAP has a trick: the holdout. For a frequent {step} it blocks what was learned by heart. "
            "The other parts have to find the {place} by habit and by {graph}."
        ),
        prediction=guess,
        handles=(
            Handle("hidden", say("Share of frequent {steps} hidden"), tuple(percent(share) for share in HIDDEN), START),
        ),
        scene=scene,
        lesson_learned=say(
            "What is hidden and can still be found is what one can practise on. Whether practice pays is for a test to "
            "say, and here it may not."
        ),
        aside={
            "student": "It is like a maths test where you must show how, and not just the result.",
            "stakeholder": "A good idea is not yet a good effect. Ask for the model trained without it.",
            "researcher": "L_warm (Eqs. 15 to 19) stops gradients at the core's logits for cases with m_sd > 1. "
            "The slider here hides edges of the graph; the training varies λ_warm. The check is HR@1 over the tail.",
        },
        check=_check(world, say),
        deeper=Deeper("long_tail", "See what each part is worth in Long tail"),
        training=_training(say),
    )


def _training(say: Say) -> Training:
    handles = (
        Handle("strength", "Strength of the holdout", tuple(f"{weight:g}" for weight in STRENGTHS), 0),
        Handle("town", "Town", tuple(str(number + 1) for number in range(TOWNS)), 0),
    )

    def run(at: tuple[int, ...], told: Told) -> Scene:
        town, weight = toy_town(*_TOWN, at[1]), STRENGTHS[at[0]]
        names, ranked = ("With the holdout", "Without"), []
        for number, holdout in enumerate((weight, 0.0)):

            def tell(epoch: LiveEpoch, number: int = number) -> None:
                words = f"{names[number]}: epoch {epoch.epoch} of {epoch.epochs}, {percent(epoch.hr1)} right at first"
                told(number * epoch.epochs + epoch.epoch, 2 * epoch.epochs, words)

            ranked.append(train_in_town(town, toy_config(holdout=holdout, seed=at[1]), tell))
        table = compare_records(*ranked, metrics=("hr1",), groups=("head", "unseen"))
        rows = {str(row["group"]): row for row in table.to_dict(orient="records")}
        bars = []
        for group, label in (("head", "known {steps}"), ("unseen", "new {steps}")):
            for name, key, meaning in (("With", "value", "model"), ("Without", "baseline", "baseline")):
                value = float(rows[group][key])
                bars.append(Bar(f"{name}, {say(label)}", value, percent(value, 1), meaning))  # type: ignore[arg-type]
        verdicts = [f"{say(label)} {_moved(rows[group])}" for group, label in _GROUPS]
        finding = f"With the holdout, {verdicts[0]}, and {verdicts[1]}."
        note = "; ".join(
            f"{say(label)}: {signed(row['difference'])} [{signed(row['low'])}, {signed(row['high'])}], n = {row['n']}"
            for (group, label) in _GROUPS
            for row in (rows[group],)
        )
        says = f"{finding} " + "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."
        return Scene(
            finding,
            (Bars(says, "True place ranks first", tuple(bars), 1.0),),
            f"Difference with less without: {note}. 95 % interval over people, one training each.",
        )

    return Training(
        "Train with and without",
        say(
            "In the toy town, three in ten {steps} need {two_steps} and three in ten are returns. Train with the "
            "holdout and without it. Another town starts from other chance: see whether the result stays."
        ),
        handles,
        run,
    )


_GROUPS: Final = (("head", "known {steps}"), ("unseen", "new {steps}"))


def _moved(row: dict) -> str:
    if row["low"] > 0:
        return "are found more often"
    return "are found less often" if row["high"] < 0 else "show no clear change"


def _check(world: Workspace, say: Say) -> Question:
    """What the holdout is worth in the city's own model, or what it practises on where nothing was trained again."""
    table = shipped_ablations(world.bundle, "hr1", "tail")
    row = None if table is None else next((r for r in table.to_dict("records") if r["name"] == _VARIANT), None)
    if row is None:
        counts = world.graph.counts.tocoo().data
        share = float(counts[counts > TAIL_MAX_COUNT].sum() / counts.sum())
        return share_question(
            say("How many of all training trips take a {step} seen more than once, which the holdout may hide?"),
            share,
            fact=f"{percent(share)} of all trips do.",
            too_low="Frequent steps are few, but each is taken many times.",
            too_high="Many trips take a step that nobody takes again.",
        )
    right = 0 if row["lower"] > 0 else 1 if row["upper"] < 0 else 2
    fact = (
        f"With it the share put first changes by {signed(float(row['drop']))}, interval "
        f"[{signed(float(row['lower']))}, {signed(float(row['upper']))}], over {int(row['n']):,} rare cases."
    )
    return choose(
        say(
            "The model of {city} was trained again without the holdout. What did it do for rare {steps}?",
            city=world.name,
        ),
        (
            ("It helps: more are first with it", f"{'Right' if right == 0 else 'No'}. {fact}"),
            ("It harms: fewer are first with it", f"{'Right' if right == 1 else 'No'}. {fact}"),
            ("It cannot be told from chance", f"{'Right' if right == 2 else 'No'}. {fact} Look where 0 lies."),
        ),
        right,
    )
