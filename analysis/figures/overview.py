"""Overview figures: accuracy on rare and frequent transitions, and sorted transition counts."""

import math
import textwrap
from collections.abc import Hashable, Mapping
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.bars import SlideBar, accuracy_bar
from analysis.figures.charts import assembled, escape_tags, note, styled
from analysis.figures.palette import Palette
from analysis.formatting import percent, share
from analysis.long_tail.overview_headlines import PANEL_TITLES
from recap import columns as c
from recap.history.graph import TAIL_MAX_COUNT
from recap.machine.printable import shortened

_ROW_PX: Final = 34
_LEAST_PX: Final = 250
"""As high as the picture next to it."""
_NAMES_PX: Final = 104
_LINE: Final = 14
"""Letters of a name in one line; a longer one takes two."""
_TRACK: Final = 0.38
"""Share of a panel's width for its lines; its numbers follow, on a phone in the last pixels."""


def plot_lollipops(groups: pd.DataFrame, palette: Palette) -> go.Figure:
    """Accuracy of a few models, from `accuracy_by_group`, in three panels; the explained model is first."""
    names = list(dict.fromkeys(groups["model"]))
    y_of = {name: len(names) - number for number, name in enumerate(names)}
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"yaxis": {"range": [0.4, len(names) + 2], "visible": False}}
    looks = dict.fromkeys(names, (palette.ink, "{}")) | {names[0]: (palette.model.text, "<b>{}</b>")}
    notes = []
    for name, (colour, look) in looks.items():
        lines = textwrap.wrap(shortened(name, 2 * _LINE), _LINE, max_lines=2, placeholder="…") or [name]
        text, size = look.format("<br>".join(map(escape_tags, lines))), 14 if len(lines) == 1 else 12
        notes.append(note(0, y_of[name], text, colour, size, xref="paper", xshift=-_NAMES_PX, align="left"))
    width = 1 / len(PANEL_TITLES)
    for panel, (group, title) in enumerate(PANEL_TITLES.items()):
        left, right = panel * width, (panel + _TRACK) * width
        axis = "" if panel == 0 else str(panel + 1)
        layout[f"xaxis{axis}"] = {"range": [-0.04, 1.04], "domain": [left, right], "visible": False}
        rows = groups[groups["group"] == group].to_dict(orient="records")
        for row in rows:
            traces += _lollipop(row, y_of[row["model"]], f"x{axis}", palette, mine=row["model"] == names[0])
            colour, look = looks[row["model"]]
            text = look.format(
                ("≥ " if row.get("at_least") else "") + share(None if math.isnan(row["value"]) else row["value"])
            )
            notes.append(note(right, y_of[row["model"]], text, colour, 14, xref="paper", xshift=10))
        n = int(rows[0]["n"]) if rows else 0
        above, small = title.replace(", ", "<br>"), f"font-size:12px;color:{palette.quiet}"
        above = f'<b>{above}</b><br><span style="{small}">n = {n:,}</span>'
        notes.append(note(left, len(names) + 1.2, above, palette.ink, 14, xref="paper", align="left"))
    layout["annotations"] = notes
    return assembled(
        traces,
        layout,
        palette,
        height=max(round(_ROW_PX * (len(names) + 1.6)), _LEAST_PX),
        margin={"l": _NAMES_PX, "t": 0},
    )


def _lollipop(
    row: Mapping[Hashable, Any], y: float, xaxis: str, palette: Palette, *, mine: bool
) -> list[dict[str, Any]]:
    colour = palette.model.fill if mine else palette.baseline
    value, text = float(row["value"]), f"{row['value']:.4f} ({row['lower']:.4f} to {row['upper']:.4f})"
    line = {"type": "scatter", "xaxis": xaxis, "y": [y, y], "mode": "lines", "hoverinfo": "skip"}
    whole = {**line, "x": [0, 1], "line": {"color": palette.grid, "width": 3}}
    if not row["n"]:
        return [whole]
    return [
        whole,
        {**line, "x": [0, value], "line": {"color": colour, "width": 3}},
        {
            "type": "scatter",
            "xaxis": xaxis,
            "cliponaxis": False,
            "x": [value],
            "y": [y],
            "mode": "markers",
            "marker": {"color": colour, "size": 15 if mine else 11, "opacity": 1},
            "hovertext": f"{escape_tags(row['model'])}: {text}",
            "hoverinfo": "text",
        },
    ]


def overview_bars(groups: pd.DataFrame, metric: str) -> list[tuple[str, list[SlideBar]]]:
    """The same as bars for a slide."""
    first, panels = groups["model"].iloc[0], []
    for group, title in PANEL_TITLES.items():
        rows = groups[(groups["group"] == group) & (groups["n"] > 0)].to_dict(orient="records")
        bars = [
            accuracy_bar(
                row["model"], row["value"], metric, row["lower"], row["upper"], mine=bool(row["model"] == first)
            )
            for row in rows
            if not math.isnan(row["value"])
        ]
        panels += [(f"{title}, n = {rows[0]['n']:,}", bars)] if rows else []
    return panels


def plot_distribution(distribution: pd.DataFrame, palette: Palette) -> go.Figure:
    """Sorted counts of `transition_distribution` on a square-root scale; rare transitions are dark (Fig. 9)."""
    figure = go.Figure()
    for row in distribution.to_dict(orient="records"):
        count = int(row[c.TRANSITION_COUNT])
        colour = {0: palette.unseen, 1: palette.tail}.get(count, palette.head)
        left, right = 100 * row["from_share"], 100 * row["to_share"]
        height = max(math.sqrt(count), 0.12)
        figure.add_scatter(
            x=[left, left, right, right],
            y=[0, height, height, 0],
            mode="lines",
            fill="toself",
            fillcolor=colour,
            line={"width": 0.3, "color": colour},
            hovertext=f"{count} in training: {row['pairs']:,} distinct transitions, {row['cases']:,} cases",
            hoverinfo="text",
            hoveron="fills",
        )
    pairs = int(distribution["pairs"].sum())
    top = math.sqrt(float(distribution[c.TRANSITION_COUNT].max())) if pairs else 1.0
    top = max(top, 2.0)
    head = 100 * float(distribution.loc[distribution[c.TRANSITION_COUNT] > TAIL_MAX_COUNT, "share"].sum())
    styled(figure, palette, height=270, margin={"b": 48, "l": 56})
    for text, width, x, anchor, y, colour in (
        ("Frequent", head, head - 1.5, "right", 0.9, palette.quiet),
        ("Rare", 100 - head, head + 1.5, "left", 0.9, palette.ink),
    ):
        if width > 16:
            label = f"<b>{text}<br>{width:.0f} %</b>"
            figure.add_annotation(note(x, top * y, label, colour, 15, xanchor=anchor, align=anchor))
    figure.add_vline(x=head, line={"color": palette.quiet, "width": 1, "dash": "dot"})
    for row in distribution[distribution[c.TRANSITION_COUNT] <= TAIL_MAX_COUNT].to_dict(orient="records"):
        if row["share"] > 0.06:
            word = "never" if row[c.TRANSITION_COUNT] == 0 else "once"
            rounded = round(1 - row["from_share"], 2) - round(1 - row["to_share"], 2)  # both add up to what is rare
            x, y = 50 * (row["from_share"] + row["to_share"]), 1.0 if word == "once" else 0.3
            label = f"{word} {percent(rounded)}"
            figure.add_annotation(note(x, y, label, palette.quiet, xanchor="center", yanchor="bottom"))
    ticks = [count for count in (0, 1, 5, 10, 20, 40, 80, 160, 320, 640, 1280) if math.sqrt(count) <= top * 1.05]
    figure.update_yaxes(
        title_text="Times in training",
        tickvals=[math.sqrt(count) for count in ticks],
        ticktext=[str(tick) for tick in ticks],
        range=[0, top * 1.08],
    )
    figure.update_xaxes(
        title_text=f"Distinct test transitions, most frequent first (n = {pairs:,})",
        range=[0, 100],
        ticksuffix=" %",
        nticks=5,
    )
    return figure
