"""Lesson 3: a middle place makes an unseen pair plausible; planted in a toy town, and held against the real city."""

from typing import Final

import numpy as np

from analysis.formatting import percent, signed
from analysis.learn.charts import Bar, Bars, Way
from analysis.learn.lesson import Deeper, Handle, Lesson, LessonUnavailableError, Outline, Scene
from analysis.learn.measure import choose, share_question
from analysis.learn.toy_lesson import opened_town, parts_training, poi_of, town_map
from analysis.learn.toy_town import PLACES, SQUARES, place_name, square_of, stop_of
from analysis.learn.vocabulary import Say
from analysis.long_tail.ablations import shipped_ablations
from analysis.workspace import Workspace
from recap import columns as c

OUTLINE: Final = Outline(
    "compose",
    "Two known steps make a new one",
    "A step that nobody took can follow from two that people took.",
    3,
    "Find the middle place behind a new step, and test whether a model needs it.",
    (
        "In the toy town two steps are all it takes. What differs in the real city?",
        "When is a good path no more than a nice story?",
    ),
    ("unseen", "graph_token", "interval"),
)
HOUSE: Final = SQUARES
"""A closed house: nobody goes straight from it to its square before the test."""
_MIDDLES: Final = tuple(place for place in range(PLACES) if place not in (HOUSE, square_of(HOUSE)))
_START: Final = _MIDDLES.index(stop_of(HOUSE + 1))
_TOWN: Final = (0.5, 0.0, 0)
_ABLATIONS: Final = {"w/o Graph": "Without {graph}", "w/o History": "Without {habit}"}


def build(world: Workspace, say: Say) -> Lesson:
    """Make the lesson.

    Raises:
        LessonUnavailableError: the city has no unseen test step.
    """
    town = opened_town(*_TOWN)
    source, target = poi_of(town, HOUSE), poi_of(town, square_of(HOUSE))
    every = np.arange(town.dataset.num_pois)
    chance = town.graph.two_step_probability(np.full_like(every, source), every)
    rank = int((chance > chance[target]).sum()) + 1
    ends = {"house": place_name(HOUSE), "square": place_name(square_of(HOUSE))}
    fact = say(
        "Of all {places} {two_steps} away, {square} is number {rank}: {chance} of such double {steps} end there.",
        rank=rank,
        chance=percent(float(chance[target])),
        **ends,
    )
    guess = choose(
        say("Nobody ever went straight from {house} to {square}. Can a model still put {square} first?", **ends),
        (
            (
                "No. What was never seen cannot be found",
                f"It can. {fact} The parts were seen, though the whole was not.",
            ),
            ("Yes, over a place in the middle", f"Right. {fact}"),
            ("Only by luck", f"No luck is needed. {fact}"),
        ),
        1 if rank == 1 else 0,
    )
    cases = world.cases
    unseen = cases[cases[c.TRANSITION_COUNT] == 0]
    if unseen.empty:
        raise LessonUnavailableError("This city has no test step that was never seen before.")
    linked = int(unseen[c.TWO_STEP_WALK].sum())
    check = share_question(
        say("Now {city}. How many of its new test {steps} have a middle {place} that links them?", city=world.name),
        linked / len(unseen),
        fact=f"{linked:,} of {len(unseen):,} do.",
        too_low="Many places lie close together in the graph. But a path alone is no proof (lesson 8).",
        too_high="Many new steps go where no two known steps lead.",
    )

    def scene(at: tuple[int, ...]) -> Scene:
        return _scene(say, town, source, target, poi_of(town, _MIDDLES[at[0]]))

    return Lesson(
        OUTLINE,
        intro=say(
            "This is a toy town with {count} {places}. We made it, so we know the truth. People go from a house to its "
            "stop, and from the stop to a square. In the test weeks they go straight from {house} to {square}.",
            count=PLACES,
            **ends,
        ),
        prediction=guess,
        handles=(
            Handle(
                "middle",
                "Middle place: choose here or click on the map",
                tuple(place_name(place) for place in _MIDDLES),
                _START,
                "list",
            ),
        ),
        scene=scene,
        lesson_learned=say(
            "Two {steps} that people took can make a third that nobody took. In our town that is the whole truth, so "
            "the model needs it. In a real city it may not be."
        ),
        aside={
            "student": "You know A to B and B to C. So you can guess A to C.",
            "stakeholder": "The toy town shows what the model could do. The city shows what it does.",
            "researcher": "The product is A_sm A_md of the row-normalised training graph; the token reads A². "
            "The toy models are trained again without the part; what is lost is HR@1.",
        },
        check=check,
        deeper=Deeper(
            "walk", "See new steps of the city in Walk", {"cases": "step:0:0", "case": str(int(unseen.index[0]))}
        ),
        training=parts_training(say),
        contrast=_contrast(world, say),
    )


def _scene(say: Say, town: Workspace, source: int, target: int, middle: int) -> Scene:
    labels = town.labels
    ends = (np.array([source, middle]), np.array([middle, target]))
    first, second = town.graph.probability(*ends).tolist()
    counts = town.graph.count(*ends).tolist()
    names = {"house": labels[source], "middle": labels[middle], "square": labels[target]}
    if first > 0 and second > 0:
        finding = say(
            "{house} to {middle}: {first}. {middle} to {square}: {second}. Both: {both}.",
            first=percent(first),
            second=percent(second),
            both=percent(first * second),
            **names,
        )
    elif first > 0:
        finding = say("{middle} is no link: nobody went on to {square}.", **names)
    else:
        finding = say("{middle} is no link: nobody went there from {house}.", **names)
    ways = tuple(
        Way(start, end, 2 + 6 * share, f"{count:,} times" if count else "never", bool(count))
        for start, end, share, count in zip(*(ends[0].tolist(), ends[1].tolist()), (first, second), counts, strict=True)
    )
    says = f"Map of the toy town. {finding} Counts: {counts[0]} and {counts[1]}."
    note = (
        "Counts are training steps; per cent is the share of all steps that leave the place. Drawn apart: the houses "
        "stand in one street, the squares in one quarter."
    )
    return Scene(finding, (town_map(town, _TOWN[2], says, ways, source, target, middle),), note)


def _contrast(world: Workspace, say: Say) -> Scene | None:
    """What the same ablations cost the city's own model, trained again without the part."""
    table = shipped_ablations(world.bundle, "hr1", "all")
    if table is None:
        return None
    known = {str(row["name"]): row for row in table.to_dict(orient="records")}
    bars = []
    for name, label in _ABLATIONS.items():
        if name in known:
            row = known[name]
            text = f"{signed(row['drop'])} [{signed(row['lower'])}, {signed(row['upper'])}]"
            meaning = "paths" if name == "w/o Graph" else "revisits"
            bars.append(Bar(say(label), float(row["drop"]), text, meaning, float(row["lower"]), float(row["upper"])))  # type: ignore[arg-type]
    if "w/o Graph" not in known or not bars:
        return None
    graph = known["w/o Graph"]
    verdict = (
        "the model without {graph} is as good as the whole one, as far as can be told"
        if graph["lower"] <= 0 <= graph["upper"]
        else "the model loses without {graph}"
        if graph["drop"] > 0
        else "the model is better without {graph}"
    )
    finding = say(f"Now the real thing. In {{city}}, {verdict}.", city=world.name)
    says = f"{finding} " + "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."
    over = f"95 % interval over users, n = {int(graph['n']):,} cases"
    note = f"Share of cases put first, lost when trained again without the part; {over}."
    return Scene(finding, (Bars(says, "Share put first, lost", tuple(bars)),), note)
