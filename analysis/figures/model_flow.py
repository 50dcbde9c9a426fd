"""Diagram of the model: inputs, readers, bands as wide as what they add, the score, the rank.

Units: x in hundredths of the width, y in pixels.
"""

from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from analysis.explain import model_words as words
from analysis.explain.model_flow import FlowPart, ModelFlow
from analysis.figures.charts import assembled, escape_tags, note
from analysis.figures.contributions import group_colour
from analysis.figures.palette import Palette, translucent
from analysis.formatting import MINUS, ordinal, percent, points, signed_points
from recap.asking.counterfactuals import GRAPH_TOKEN
from recap.features.catalogue import PAST
from recap.machine.printable import shortened
from recap.model.recap import CLIP, CORE, CORRECTION
from recap.model.revisit_prior import PRIOR_TERMS

_TOP: Final = 30
_PITCH: Final = 64
_BOX: Final = 52
FLOW_PX: Final = 560
"""The width that the diagram needs."""
_INPUT: Final = (0.2, 29.0)
_READER: Final = (34.5, 57.0)
_BAR: Final = (79.0, 82.0)
_WIDEST: Final = 56
"""Pixels of the widest band."""
_TALLEST: Final = 240
"""Pixels of the higher score's positive contributions together."""
_STEPS: Final = np.linspace(0.0, 1.0, 25)
_NAME: Final = 24


def plot_flow(flow: ModelFlow, palette: Palette, *, place: int = 0, opened: str = words.SCORE_PART) -> go.Figure:
    """The model with the explained place (0) or its runner-up (1); boxes can be clicked, the open part is marked."""
    data: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    notes = [note(x, 8, text, palette.quiet, 13) for x, text in ((_INPUT[0], "Input"), (_READER[0], "Points"))]
    scale, bar_top = _scale(flow)
    rows = {part.name: _TOP + _PITCH * row + _BOX / 2 for row, part in enumerate(flow.parts)}
    levels = _levels(flow, place)
    for part in flow.parts:
        y = rows[part.name]
        is_open = part.name == opened
        is_token = part.name == GRAPH_TOKEN
        shapes.append(
            _box(_INPUT, y, palette, is_open=is_open, ground=palette.paths.chip if is_token else palette.page)
        )
        notes.append(note(1.6, y - 10, f"<b>{part.title}</b>", palette.paths.text if is_token else palette.ink, 14))
        notes.append(note(1.6, y + 12, _text(part.reads[place], 26), palette.quiet, 12))
        if is_token:
            data.append(_token_line(y, rows[CORE], palette))
            loss = words.without_line(flow.places[place].rank, None if part.without is None else part.without[place])
            line = f"The sequence model reads it. {loss}"
            notes.append(note(_READER[0] - 5, y + 15, line, palette.paths.text, 12))
            continue
        shapes.append(_line(_INPUT[1], _READER[0], y, palette))
        shapes.append(_box(_READER, y, palette, is_open=is_open, ground=palette.band))
        notes.append(note(_READER[0] + 1.4, y - 10, f"<b>{part.reader[place]}</b>", palette.ink, 14))
        notes.append(note(_READER[0] + 1.4, y + 12, _both(flow, part, palette), palette.quiet, 12))
        if part.name == CORE and not flow.core_reads_all:
            notes.append(note(_READER[1] + 1, y + 18, "new places only", palette.quiet, 12))
        data += _band(part, y, levels[part.name], bar_top, scale, place, palette)
    data.append(_targets(flow, rows, bar_top))
    shapes_of_bar, notes_of_bar = _score(flow, place, bar_top, scale, palette, is_open=opened == words.SCORE_PART)
    height = _TOP + _PITCH * len(flow.parts)
    layout = {
        "shapes": shapes + shapes_of_bar,
        "annotations": notes + notes_of_bar,
        "xaxis": {"range": [0, 100], "visible": False},
        "yaxis": {"range": [height, 0], "visible": False},
        "hovermode": "closest",
    }
    return assembled(data, layout, palette, height=height, margin={"t": 0})


def describe_flow_picture(flow: ModelFlow, place: int) -> str:
    entry = flow.places[place]
    added = [f"{part.title} {signed_points(part.adds[place])}" for part in flow.parts if part.adds is not None]
    text = f"{entry.name}: {', '.join(added)}; score {points(entry.score)}, {ordinal(entry.rank)}"
    return text.replace(MINUS, "minus ")


def part_colour(name: str, palette: Palette) -> str:
    """Colour of a part: the user's past, other users' transitions, or neither."""
    return group_colour(PAST if name in (*PRIOR_TERMS, CLIP, CORRECTION) else name, palette)


def _scale(flow: ModelFlow) -> tuple[float, float]:
    """Pixels per point, and the bar's top; the same for both places."""
    adds = [[part.adds[place] for part in flow.parts if part.adds is not None] for place in range(2)]
    highest = max(sum(value for value in column if value > 0) for column in adds)
    widest = max(abs(value) for column in adds for value in column)
    scale = min(_TALLEST / max(highest, 1e-9), _WIDEST / max(widest, 1e-9))
    return scale, max(_TOP + 62.0, _TOP + _PITCH * len(adds[0]) / 2 - scale * highest / 2)


def _levels(flow: ModelFlow, place: int) -> dict[str, float]:
    """Where each band ends, in points below the bar's top.

    Positive bands are stacked downwards. Negative ones subtract upwards from the last positive one.
    """
    added = {part.name: part.adds[place] for part in flow.parts if part.adds is not None}
    levels, down = {}, 0.0
    for name, value in added.items():
        if value >= 0:
            levels[name] = down
            down += value
    for name, value in reversed(added.items()):
        if value < 0:
            down += value
            levels[name] = down
    return levels | {GRAPH_TOKEN: 0.0}


def _band(
    part: FlowPart, y: float, level: float, bar_top: float, scale: float, place: int, palette: Palette
) -> list[dict[str, Any]]:
    assert part.adds is not None
    value, colour = part.adds[place], part_colour(part.name, palette)
    width, end = abs(value) * scale, bar_top + level * scale
    if width < 0.75:
        smooth = y + (end - y) * _ease(_STEPS)
        line = {"color": translucent(colour, 0.6), "width": 1.5}
        return [_trace(_across(_READER[1], _BAR[0]).tolist(), smooth.tolist(), mode="lines", line=line)]
    upper = (y - width / 2) + (end - (y - width / 2)) * _ease(_STEPS)
    x = _across(_READER[1], _BAR[0])
    outline_x, outline_y = [*x.tolist(), *x[::-1].tolist()], [*upper.tolist(), *(upper[::-1] + width).tolist()]
    band = _filled(outline_x, outline_y, colour, palette, is_negative=value < 0)
    x0, x1 = _BAR
    block = _filled([x0, x1, x1, x0], [end, end, end + width, end + width], colour, palette, is_negative=value < 0)
    if value >= 0:
        block["fillcolor"] = colour
    return [band, block]


def _filled(x: list[float], y: list[float], colour: str, palette: Palette, *, is_negative: bool) -> dict[str, Any]:
    look: dict[str, Any] = {"fill": "toself", "fillcolor": translucent(colour, 0.5), "line": {"width": 0}}
    if is_negative:
        pattern = {"shape": "/", "fgcolor": colour, "bgcolor": palette.page, "size": 7, "solidity": 0.28}
        look = {"fill": "toself", "fillpattern": pattern, "line": {"width": 1, "color": colour}}
    return _trace(x, y, mode="lines", **look)


def _trace(x: list[float], y: list[float], **look: Any) -> dict[str, Any]:
    return {"type": "scatter", "x": x, "y": y, "hoverinfo": "skip"} | look


def _across(start: float, end: float) -> np.ndarray:
    return start + (end - start) * _STEPS


def _ease(share: np.ndarray) -> np.ndarray:
    return share * share * (3.0 - 2.0 * share)


def _token_line(y: float, core: float, palette: Palette) -> dict[str, Any]:
    end = core + _BOX / 2
    x = _INPUT[1] + (45.0 - _INPUT[1]) * np.sin(_STEPS * np.pi / 2)
    down = y + (end - y) * (1 - np.cos(_STEPS * np.pi / 2))
    line = {"color": palette.paths.fill, "width": 2, "dash": "dash"}
    return _trace(x.tolist(), down.tolist(), mode="lines", line=line)


def _targets(flow: ModelFlow, rows: dict[str, float], bar_top: float) -> dict[str, Any]:
    """Invisible marks over the boxes, because shapes take no clicks."""
    spots = [(x, rows[part.name], part) for part in flow.parts for x in (3, 8, 13, 18, 23)]
    spots += [(x, rows[part.name], part) for part in flow.parts for x in (38, 45, 52) if part.name != GRAPH_TOKEN]
    right = [(x, bar_top - 20 + 40 * step) for x in (80.5, 88, 95) for step in range(5)]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [*(x for x, _, _ in spots), *(x for x, _ in right)],
        "y": [*(y for _, y, _ in spots), *(y for _, y in right)],
        "customdata": [*(part.name for _, _, part in spots), *([words.SCORE_PART] * len(right))],
        "hovertext": [*(part.title for _, _, part in spots), *([words.title(words.SCORE_PART)] * len(right))],
        "hoverinfo": "text",
        "marker": {"symbol": "square", "size": 44, "opacity": 0},
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
    }


def _score(
    flow: ModelFlow, place: int, top: float, scale: float, palette: Palette, *, is_open: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    entry, other = flow.places[place], flow.places[1 - place]
    hue, other_hue = (palette.of_role(flow.roles[which]) for which in (place, 1 - place))
    ends = sorted((top, top + entry.score * scale))
    edge = {"type": "line", "line": {"color": hue.fill, "width": 3 if is_open else 2}}
    x = _BAR[1] + 1.0
    shapes = [{**edge, "x0": x, "x1": x, "y0": ends[0], "y1": ends[1]}]
    shapes += [{**edge, "x0": x - 0.5, "x1": x, "y0": end, "y1": end} for end in ends]
    top, end = min(ends[0], top), {"xanchor": "right"}
    likely = f"{percent(entry.probability)} probability" if entry.probability >= 0.01 else "below 1 % probability"
    name = f"<b>{words.GLYPHS[flow.roles[place]]} {_text(entry.name, _NAME)}</b>"
    notes = [
        note(99.8, 42, name, hue.text, 16, xanchor="right"),
        note(99.8, top + 24, f"<b>{ordinal(entry.rank)}</b>", palette.ink, 36, **end),
        note(99.8, top + 60, f"of {flow.num_places:,} places", palette.quiet, 12, **end),
        note(99.8, top + 84, f"<b>Score {points(entry.score)}</b>", hue.text, 14, **end),
        note(99.8, top + 106, likely, palette.quiet, 12, **end),
        note(
            99.8,
            top + 164,
            f"{words.GLYPHS[flow.roles[1 - place]]} {_text(other.name, _NAME)}",
            other_hue.text,
            15,
            xanchor="right",
        ),
        note(
            99.8, top + 186, f"{ordinal(other.rank)}, score {points(other.score)}", palette.quiet, 14, xanchor="right"
        ),
    ]
    return shapes, notes


def _both(flow: ModelFlow, part: FlowPart, palette: Palette) -> str:
    """What a part adds to both places, in HTML."""
    assert part.adds is not None
    pieces = []
    for role, value in zip(flow.roles, part.adds, strict=True):
        colour = palette.of_role(role).text
        pieces.append(f'<span style="color:{colour}">{words.GLYPHS[role]} {signed_points(value)}</span>')
    return "   ".join(pieces)


def _box(span: tuple[float, float], y: float, palette: Palette, *, is_open: bool, ground: str) -> dict[str, Any]:
    (left, right), top, bottom = span, y - _BOX / 2, y + _BOX / 2
    across, down = 0.6, 6
    path = (
        f"M {left + across},{top} L {right - across},{top} Q {right},{top} {right},{top + down} "
        f"L {right},{bottom - down} Q {right},{bottom} {right - across},{bottom} "
        f"L {left + across},{bottom} Q {left},{bottom} {left},{bottom - down} "
        f"L {left},{top + down} Q {left},{top} {left + across},{top} Z"
    )
    line = {"color": palette.ink if is_open else palette.grid, "width": 2 if is_open else 1}
    return {"type": "path", "path": path, "fillcolor": ground, "line": line, "layer": "below"}


def _line(start: float, end: float, y: float, palette: Palette) -> dict[str, Any]:
    line = {"color": palette.baseline, "width": 1.5}
    return {"type": "line", "x0": start, "x1": end, "y0": y, "y1": y, "line": line, "layer": "below"}


def _text(text: str, limit: int) -> str:
    return escape_tags(shortened(text, limit))
