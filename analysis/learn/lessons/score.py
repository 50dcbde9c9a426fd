"""The lesson on a score as a sum of contributions."""

import math
from functools import partial
from typing import Final

import numpy as np
import pandas as pd

from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.model_flow import ModelFlow, describe_flow
from analysis.explain.robustness import check_rows
from analysis.figures.model_flow import FLOW_PX, describe_flow_picture, plot_flow
from analysis.formatting import points, signed_points, user_name
from analysis.learn import lesson
from analysis.learn.charts import Bar, Bars, Picture
from analysis.records.ablations import part_label
from analysis.workspace import Workspace
from recap import columns as c
from recap.history.graph import TAIL_MAX_COUNT
from recap.machine.printable import markdown_text

_OUTLINE: Final = lesson.OUTLINES["score"]
_ASKED: Final = 4
_NAMED: Final = 3
_SMALL: Final = 0.005
_CLEAR: Final = 0.1
_TRIED: Final = 20


def choose_case(world: Workspace) -> int:
    """A rare transition that the model ranks first, if possible one that needs past visits."""
    ablations, cases = lesson.require_model(world).ablations(), world.cases
    first = (cases[c.TRANSITION_COUNT].to_numpy() <= TAIL_MAX_COUNT) & (ablations[c.RANK].to_numpy() == 1)
    lesson.require(bool(first.any()), "In this city the model ranks no rare transition first.")
    needed = first & (np.nan_to_num(ablations["without_history"].to_numpy(np.float64)) > 1)
    return clear_case(world, np.flatnonzero(needed if needed.any() else first)[:_TRIED].tolist())


def clear_case(world: Workspace, cases: list[int]) -> int:
    """The first case in which one group puts the place clearly furthest ahead; the first of all if there is none."""
    for case in cases:
        gaps = _gaps(describe_flow(build_edited_case(lesson.require_model(world).predictor, case)))
        if np.diff(sorted([-math.inf, *gaps.values()]))[-1] >= _CLEAR:
            return case
    return cases[0]


def _gaps(flow: ModelFlow) -> dict[str, float]:
    """How far each group puts the true place ahead of the other."""
    truth, other = flow.places
    return {group: truth.groups[group] - other.groups[group] for group in truth.groups}


def build(world: Workspace) -> lesson.Lesson:
    """Needs a model that ranks a rare transition first."""
    case = choose_case(world)
    edited = build_edited_case(lesson.require_model(world).predictor, case)
    flow = describe_flow(edited)
    truth, other = flow.places
    gaps = _gaps(flow)
    sizes = {group: abs(truth.groups[group]) + abs(other.groups[group]) for group in gaps}
    order = sorted((group for group in gaps if sizes[group] >= _SMALL), key=lambda group: -abs(gaps[group]))
    lesson.require(len(order) > 1, "In this case a single group makes the whole score. Choose another model.")
    names = [markdown_text(place.name) for place in flow.places]
    asked = sorted(order[:_ASKED], key=list(gaps).index)
    best = max(asked, key=lambda group: gaps[group])
    listed = ", ".join(
        f"{part_label(group).lower()} {signed_points(gaps[group])}"
        for group in sorted(asked, key=lambda group: -gaps[group])[:_NAMED]
    )
    return lesson.Lesson(
        _OUTLINE,
        intro=(
            f"{user_name(edited.moment.user)} went on to **{names[0]}** (◎), which the model ranks first, ahead of "
            f"**{names[1]}** (●)."
        ),
        guess=lesson.choose(
            f"Which group puts {names[0]} furthest ahead?",
            [part_label(group) for group in asked],
            asked.index(best),
            f"The largest leads: {listed}.",
            _picture(flow),
        ),
        handles=(lesson.Handle("groups", "Groups added up", tuple(map(str, range(len(order) + 1))), 1),),
        scene=lambda handles: _scene(flow, order, gaps, handles[0]),
        idea=_OUTLINE.reveal,
        check=_check(world, edited, order),
        deeper=lesson.Deeper("explain", "Open this case in Explain", {"case": str(case)}),
    )


def _picture(flow: ModelFlow) -> Picture:
    rows = pd.DataFrame(
        [
            {"Part": part.title, **{place.name: points(part.adds[number]) for number, place in enumerate(flow.places)}}
            for part in flow.parts
            if part.adds is not None
        ]
    )
    says = "; ".join(describe_flow_picture(flow, place) for place in range(2)) + "."
    return Picture(says, partial(plot_flow, flow), rows, FLOW_PX)


def _scene(flow: ModelFlow, order: list[str], gaps: dict[str, float], number: int) -> lesson.Scene:
    lead = sum(gaps[group] for group in order[:number])
    name = flow.places[0].name
    groups = "1 group" if number == 1 else f"{number} groups"
    verb = "leads" if lead >= 0 else "trails"
    finding = (
        f"With {groups}, {name} {verb} by {points(abs(lead))}." if number else "With no group, both have 0 points."
    )
    bars = [Bar("Lead so far", lead, signed_points(lead), "truth" if lead >= 0 else "model")]
    bars += [Bar(part_label(group), gaps[group], signed_points(gaps[group]), "baseline") for group in order[:number]]
    chart = Bars.of(finding, f"Lead over {flow.places[1].name}, in points", bars)
    return lesson.Scene(finding, (chart,), "The largest difference first. Rounded to two decimals.")


def _check(world: Workspace, edited: EditedCase, order: list[str]) -> lesson.LessonQuestion:
    checks = [check for check in check_rows(edited, world.seeds()) if check.row in order]
    lesson.require(bool(checks), "No contribution of this case could be checked. Choose another model.")
    stable = [part_label(check.row).lower() for check in checks if not check.problems]
    failing = [f"{part_label(check.row).lower()} ({check.problems[0]})" for check in checks if check.problems]
    verb = "is" if len(stable) == 1 else "are"
    fact = f"{len(stable)} of {len(checks)} {verb} stable" + (f": {', '.join(stable)}." if stable else ".")
    fact += f" Not stable: {', '.join(failing)}." if failing else ""
    return lesson.choose(
        f"We compare {len(checks)} contributions with random other cases and with other seeds. How many are stable?",
        ("None", "Some", "All"),
        0 if not stable else 1 if failing else 2,
        fact,
    )
