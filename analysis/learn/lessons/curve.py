"""The lesson on the curve of the time since the last visit."""

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.explain.curves import Curve, learned_curves, values_at
from analysis.explain.edited_case import build_edited_case
from analysis.figures.charts import note, styled
from analysis.figures.curves import plot_curves
from analysis.figures.palette import Palette
from analysis.formatting import days, signed_points, user_name
from analysis.learn import lesson
from analysis.learn.charts import Picture
from analysis.workspace import Workspace
from recap import columns as c
from recap.features.catalogue import TIME_SINCE_FEATURE
from recap.machine.printable import markdown_text

_OUTLINE: Final = lesson.OUTLINES["curve"]
TIMES: Final = (0, 1, 6, 24, 72, 168, 720, 1440, 4320)
"""Hours since the last visit that the learner can choose, after "never"."""
SHAPES: Final[dict[str, Callable[[np.ndarray], np.ndarray]]] = {
    "It falls": lambda x: 1 - x,
    "It rises": lambda x: x,
    "Up, then down": lambda x: 1 - np.abs(2 * x - 1),
    "Down, then up": lambda x: np.abs(2 * x - 1),
    "It is flat": lambda x: np.full_like(x, 0.5),
}
FLAT: Final = 0.15
"""A curve that moves by fewer points is flat."""
_SAMPLES: Final = 60
_LETTERS: Final = "ABC"


def shape_of(curve: Curve) -> int:
    """The shape of `SHAPES` that correlates most with a curve at visited places; a nearly constant curve is flat."""
    x = np.linspace(0.0, 1.0, _SAMPLES)
    first, last = curve.knots[1], curve.knots[-1]
    y = np.array([curve.at(first + share * (last - first)) for share in x])
    if np.ptp(y) < FLAT:
        return len(SHAPES) - 1
    shapes = list(SHAPES.values())[:-1]
    return int(np.argmax([np.corrcoef(y, shape(x))[0, 1] for shape in shapes]))


def build(world: Workspace) -> lesson.Lesson:
    """Needs a model with this curve, and a user with three places."""
    predictor = lesson.require_model(world).predictor
    has_curves = predictor.model.curves is not None
    lesson.require(has_curves, "This lesson needs a RECAP with learned curves. Choose another one.")
    curve = next(curve for curve in learned_curves(predictor) if curve.name == TIME_SINCE_FEATURE.name)
    lesson.require(len(curve.knots) >= 3, "In this city nobody returns to a place.")
    right = shape_of(curve)
    ends = [curve.at(curve.knots[1]), curve.points[-1]]
    fact = f"It goes from {signed_points(ends[0])} points just after a visit to {signed_points(ends[1])} long after."
    shown = [hours for hours in TIMES if curve.feature.from_unit(hours) <= curve.knots[-1]]
    return lesson.Lesson(
        _OUTLINE,
        intro="One curve of the model turns the time since the user's last visit to a place into points.",
        guess=lesson.choose(
            "Which shape does the learned curve have, from just visited to long ago?",
            tuple(SHAPES),
            right,
            fact,
            _shapes(),
        ),
        handles=(lesson.Handle("time", "Time since the last visit", ("never", *(_ago(hours) for hours in shown)), 3),),
        scene=lambda handles: _scene(curve, shown[handles[0] - 1] if handles[0] else None),
        idea=f"{_OUTLINE.reveal}{_although(ends)}",
        check=_check(world, curve),
        deeper=lesson.Deeper("explain", "See all curves in Explain", {"half": "The model"}),
    )


def _although(ends: list[float]) -> str:
    """Why a curve may rise where the lesson on past visits says that recent visits count."""
    if ends[1] <= ends[0]:
        return ""
    return " Recent visits still count: they add points on the curves of visits that fade, which this one corrects."


def _ago(hours: float) -> str:
    return "just now" if hours < 1 else f"{days(hours / 24)} ago"


def _scene(curve: Curve, hours: float | None) -> lesson.Scene:
    value = 0.0 if hours is None else curve.feature.from_unit(hours)
    added = signed_points(curve.at(value))
    finding = f"Never visited: {added} points." if hours is None else f"Last visit {_ago(hours)}: {added} points."
    says = f"{finding} The learned curve of the time since the last visit."
    rows = pd.DataFrame({"Hours": np.round(curve.amounts, 1), "Points": [signed_points(y) for y in curve.points]})
    return lesson.Scene(finding, (Picture(says, partial(_marked, curve, {"": value}), rows),), _NOTE)


_NOTE: Final = "Grey bars: how common each value is, in 256 test cases."


def _marked(curve: Curve, marks: dict[str, float], palette: Palette) -> go.Figure:
    figure = plot_curves([curve], palette, columns=1, row_height=320)
    for letter, value in marks.items():
        figure.add_scatter(
            x=[value],
            y=[curve.at(value)],
            mode="markers+text",
            cliponaxis=False,
            text=[f"<b>{letter}</b>"],
            textposition="top center",
            textfont={"size": 18, "color": palette.ink},
            marker={"size": 13, "color": palette.model.fill, "opacity": 1},
            hoverinfo="skip",
        )
    return figure


def _shapes() -> Picture:
    rows = pd.DataFrame({"Shape": list(SHAPES)})
    return Picture("Five shapes: " + ", ".join(SHAPES) + ".", _draw_shapes, rows)


def _draw_shapes(palette: Palette) -> go.Figure:
    x = np.linspace(0.0, 1.0, _SAMPLES)
    titles = [f"<b>{name.replace(', ', ',<br>')}</b>" for name in SHAPES]
    figure = make_subplots(rows=1, cols=len(SHAPES), horizontal_spacing=0.04, subplot_titles=titles)
    line = {"color": palette.revisits.fill, "width": 3}
    for column, shape in enumerate(SHAPES.values(), start=1):
        figure.add_scatter(x=x, y=shape(x), mode="lines", line=line, hoverinfo="skip", row=1, col=column)
    styled(figure, palette, height=200, margin={"t": 44, "b": 30})
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(range=[-0.1, 1.1], visible=False)
    figure.update_annotations(font={"size": 14, "color": palette.quiet})
    below = {"xref": "paper", "yref": "paper", "yanchor": "top"}
    return figure.add_annotation(note(0, 0, "From just visited to long ago", palette.quiet, 14, **below))


def _check(world: Workspace, curve: Curve) -> lesson.LessonQuestion:
    """Ask which of three marks is a place that a user knows."""
    for case in world.cases[c.CASE].tolist():
        edited_case = build_edited_case(world.predictor, int(case))
        pois = np.unique(edited_case.variant.history.poi_H[:-1]).tolist()
        if len(pois) < len(_LETTERS):
            continue
        values = values_at(edited_case, pois)[curve.name]
        known = sorted((value, poi) for value, poi in zip(values, pois, strict=True) if value is not None)
        chosen = [known[0], known[len(known) // 2], known[-1]]
        if len({round(value, 1) for value, _ in chosen}) == len(chosen):
            break
    else:
        raise lesson.LessonUnavailableError("In this city nobody knows three places.")
    right = int(case + 1) % len(chosen)
    value, poi = chosen[right]
    marks = dict(zip(_LETTERS, (value for value, _ in chosen), strict=True))
    points = signed_points(curve.at(value))
    rows = pd.DataFrame({"Mark": list(marks), "Points": [signed_points(curve.at(value)) for value in marks.values()]})
    name, when = markdown_text(world.labels[poi]), _ago(curve.feature.in_unit(value))
    return lesson.choose(
        f"{user_name(edited_case.moment.user)} was last at {name} {when}. Which mark shows this?",
        tuple(_LETTERS),
        right,
        f"{name} is {_LETTERS[right]} and gets {points} points from this curve.",
        Picture("The learned curve with three marks, A, B and C.", partial(_marked, curve, marks), rows),
    )
