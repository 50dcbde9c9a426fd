"""Long-tail figures: rare transitions by kind, accuracy by count, hops and ablations."""

import math
from collections.abc import Hashable
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.figures.bars import SlideBar, accuracy_bar
from analysis.figures.charts import escape_tags, styled
from analysis.figures.elements import Element, element
from analysis.figures.palette import Palette, ink_on, mix, translucent
from analysis.records.case_selection import CaseSelection
from recap import columns as c

COUNT_AXES: Final = {
    c.TRANSITION_COUNT: "Times the transition was seen in training",
    c.DESTINATION_COUNT: "Times the place was visited in training",
}


_BARS_PX: Final = 190
CHART_PX: Final = 310
"""Height of the cells and of the bars."""


def draw_accuracy_by_count(
    table: pd.DataFrame, *, by: str, tail_up_to: int | None, reference: str, chosen: str | None = None, palette: Palette
) -> Element:
    """Bars by how often the transition or the place was seen; ticks mark the other model.

    A click on a bar returns the text of its `CaseSelection`.

    Args:
        table: from `accuracy_by_count`, with a reference.
        tail_up_to: bins up to this count are on a grey band in full colour; None for no tail.
    """
    top = accuracy_axis(table)
    ticks = [level for level in (0.0, 0.5, 1.0) if level <= top] if top > 0.5 else [0.0, round(top / 2, 3)]
    axis = [element("span", f"{level:g}", style=_at(level, top, right="8px", color=palette.quiet)) for level in ticks]
    grid = [
        element("div", style=_at(level, top, left=0, right=0, border_top=f"1px solid {palette.grid}", transform="none"))
        for level in ticks
    ]
    lines = element("div", *grid, style={"position": "absolute", "top": 0, "width": "100%", "height": f"{_BARS_PX}px"})
    columns = []
    for row in table.to_dict(orient="records"):
        is_rare = tail_up_to is not None and 0 <= row["high"] <= tail_up_to
        selection = CaseSelection.of_bin(by, int(row["low"]), int(row["high"])).text
        columns.append(
            _column(
                row,
                top,
                selection,
                reference,
                palette,
                rare=is_rare,
                faint=tail_up_to is not None and not is_rare,
                chosen=chosen,
            )
        )
    if tail_up_to is not None and columns:
        columns[0].append(
            element("span", "rare", style={"position": "absolute", "top": "-20px", "color": palette.quiet})
        )
    plot = element(
        "div",
        element("div", *axis, style={"position": "relative", "width": "40px", "height": f"{_BARS_PX}px"}),
        element("div", lines, *columns, style={"display": "flex", "flex": 1, "position": "relative"}),
        style={"display": "flex", "padding_top": "24px"},
    )
    below = {"text_align": "center", "color": palette.quiet, "margin": "12px 0 0 40px"}
    return element("div", plot, element("div", COUNT_AXES[by], style=below))


def _at(value: float, top: float, **look: object) -> dict[str, object]:
    """CSS for a value's position above the axis."""
    placed = {
        "position": "absolute",
        "bottom": f"{_BARS_PX * min(value / top, 1):.1f}px",
        "transform": "translateY(50%)",
    }
    return placed | look


def _column(
    row: dict[Hashable, Any],
    top: float,
    selection: str,
    reference: str,
    palette: Palette,
    *,
    rare: bool,
    faint: bool,
    chosen: str | None,
) -> Element:
    """A bin: bar, interval, the other model's tick, count, and number of cases."""
    known, marks, tip = row["n"] > 0, [], "no case"
    if known:
        fill = mix(palette.model.fill, palette.page, 0.42) if faint else palette.model.fill
        outline = f"2px solid {palette.ink}" if selection == chosen else "none"
        height = f"{_BARS_PX * row['value'] / top:.1f}px"
        bar = {"background": fill, "outline": outline, "left": "19%", "right": "19%", "bottom": 0, "height": height}
        length = f"{_BARS_PX * (row['upper'] - row['lower']) / top:.1f}px"
        interval = {"left": "50%", "height": length, "border_left": f"1.2px solid {palette.quiet}", "transform": "none"}
        tick = {"left": "7%", "right": "7%", "border_top": f"2.5px solid {palette.ink}"}
        marks = [
            element("div", style={"position": "absolute"} | bar),
            element("div", style=_at(row["lower"], top, **interval)),
            element("div", style=_at(row["reference"], top, **tick)),
        ]
        interval_text = f"{row['value']:.3f} ({row['lower']:.3f} to {row['upper']:.3f})"
        tip = f"{interval_text}, {reference} {row['reference']:.3f}, {row['n']:,} cases"
    ground = {"position": "relative", "display": "block", "height": f"{_BARS_PX}px"}
    small = {"font_size": "11px", "color": palette.quiet, "display": "block"}
    button = element(
        "button",
        element("span", *marks, style=ground | ({"background": palette.band} if rare else {})),
        element("span", str(row["bin"]), style={"display": "block", "margin_top": "6px"}),
        element("span", f"{row['n']:,}", style=small),
        type="button",
        title=tip,
        data_pick=selection,
        style={"width": "100%", "text_align": "center"},
    )
    return element("div", button, style={"flex": 1, "position": "relative", "min_width": 0})


def accuracy_axis(table: pd.DataFrame) -> float:
    """Upper end of a y axis: 1.06 for accuracies above .5, else a little above the highest."""
    top = max(0.05, float(table[["upper", "reference"]].max().max()))
    return 1.06 if not math.isfinite(top) or top > 0.5 else top * 1.15


def draw_cohorts(
    table: pd.DataFrame, reference: str, eta: int, *, chosen: str | None = None, palette: Palette
) -> Element:
    """The four cohorts of transitions seen up to ``eta`` times; a click returns a cell's `CaseSelection` as text.

    Args:
        table: from `accuracy_by_cohort`, with a reference.
    """
    head = {"font_weight": 700, "text_align": "center", "align_self": "end"}
    side = {
        "font_weight": 700,
        "text_align": "right",
        "align_self": "center",
        "padding_right": "8px",
        "white_space": "pre-line",
    }
    cells = {(bool(row[c.IS_KNOWN]), bool(row[c.WITHIN_TWO_HOPS])): row for row in table.to_dict(orient="records")}
    parts = [
        element("div"),
        element("div", "Known place", style=head | {"color": palette.revisits.text}),
        element("div", "New place", style=head),
    ]
    for near, label, colour in (
        (True, "Within\ntwo hops", palette.paths.text),
        (False, "Beyond\ntwo hops", palette.ink),
    ):
        parts.append(element("div", label, style=side | {"color": colour}))
        parts += [
            _cell(cells[known, near], reference, CaseSelection.of_cohort(known, near, eta).text, chosen, palette)
            for known in (True, False)
        ]
    grid = {
        "display": "grid",
        "gap": "8px",
        "grid_template": "32px 1fr 1fr / minmax(70px, 1fr) 2.6fr 2.6fr",
        "height": f"{CHART_PX - 12}px",
    }
    return element("div", *parts, style=grid)


def _cell(row: dict[Hashable, Any], reference: str, selection: str, chosen: str | None, palette: Palette) -> Element:
    known = row["n"] > 0
    value = min(max(float(row["value"]), 0.0), 1.0) if known else 0.0
    ground = mix(palette.model.fill, palette.page, 0.06 + 0.94 * value)
    counted = f"{row['n']:,} cases"
    look = {
        "background": ground,
        "color": ink_on(ground, palette),
        "border_radius": "6px",
        "outline_offset": "-3px",
        "outline": f"3px solid {palette.ink}" if selection == chosen else "none",
        "text_align": "center",
    }
    number = {"display": "block", "font_size": "28px", "font_weight": 700}
    return element(
        "button",
        element("span", f"{row['value']:.2f}" if known else "–", style=number),
        f"{reference} {row['reference']:.2f} · {counted}" if known else counted,
        type="button",
        title=f"95 % interval {row['lower']:.3f} to {row['upper']:.3f}" if known else "no such case",
        data_pick=selection,
        style=look,
    )


def cohort_bars(table: pd.DataFrame, model: str, reference: str, metric: str) -> list[tuple[str, list[SlideBar]]]:
    """The cohorts of `draw_cohorts` as bars for a slide."""
    groups = []
    for row in table[table["n"] > 0].to_dict(orient="records"):
        place = "Known place" if row[c.IS_KNOWN] else "New place"
        mine = accuracy_bar(model, row["value"], metric, row["lower"], row["upper"], mine=True)
        title = f"{place}, {'within' if row[c.WITHIN_TWO_HOPS] else 'beyond'} two hops, n = {row['n']:,}"
        groups.append((title, [mine, accuracy_bar(reference, row["reference"], metric)]))
    return groups


def plot_hops(hops: pd.DataFrame, palette: Palette) -> go.Figure:
    """Candidates, coverage and signal to noise of `hop_statistics` for N = 1..5; N = 2 is filled (Fig. 5)."""
    panels = (
        ("Candidates<br>a place", "avg_candidates", "{:,.0f}"),
        ("Unseen transitions<br>reached", "coverage", "{:.2f}"),
        ("Signal to noise<br>× 1000", "snr_x1000", "{:.1f}"),
    )
    figure = make_subplots(rows=1, cols=3, horizontal_spacing=0.09, subplot_titles=[title for title, _, _ in panels])
    for column, (_, name, pattern) in enumerate(panels, start=1):
        mine = hops["n"] == 2
        figure.add_scatter(
            x=hops["n"],
            y=hops[name],
            mode="lines+markers+text",
            text=[
                f"<b>{text}</b>" if own else text
                for text, own in zip(hops[name].map(pattern.format), mine, strict=True)
            ],
            textposition=_near_line(hops[name].tolist()),
            textfont={"size": 12, "color": [palette.ink if own else palette.quiet for own in mine]},
            line={"color": translucent(palette.paths.fill, 0.6), "width": 2},
            marker={
                "size": [14 if own else 9 for own in mine],
                "color": [palette.paths.fill if own else palette.page for own in mine],
                "line": {"color": palette.paths.fill, "width": 2},
            },
            hoverinfo="skip",
            cliponaxis=False,
            row=1,
            col=column,
        )
        top = float(hops[name].max()) if len(hops) else 1.0
        figure.update_yaxes(range=[-0.06 * (top or 1), 1.22 * (top or 1)], visible=False, row=1, col=column)
    styled(figure, palette, height=300, margin={"t": 48, "b": 48, "l": 26, "r": 6})
    figure.update_xaxes(title_text="Hops N", dtick=1, range=[0.5, 5.6], showline=True)
    figure.update_annotations(font={"size": 12, "color": palette.ink})
    return figure


def _near_line(values: list[float]) -> list[str]:
    """Sides of the numbers, away from the steeper part of the line."""
    sides = []
    for before, value, after in zip([None, *values[:-1]], values, [*values[1:], None], strict=True):
        if before is None:
            sides.append("top left")
        elif after is None and value < 1.05 * before:
            sides.append("bottom center")
        elif after is not None and after < 0.8 * value:
            sides.append("top right")
        else:
            sides.append("top left" if value > 1.2 * before else "top center")
    return sides


def plot_ablations(table: pd.DataFrame, metric_label: str, palette: Palette) -> go.Figure:
    """Drop of each ablation (``name, drop, lower, upper``; positive is worse) against the full model (Fig. 6)."""
    figure = go.Figure()
    figure.add_bar(
        x=table["drop"],
        y=table["name"].map(escape_tags),
        orientation="h",
        marker={"color": palette.model.fill},
        error_x={
            "type": "data",
            "array": table["upper"] - table["drop"],
            "arrayminus": table["drop"] - table["lower"],
            "color": palette.quiet,
            "thickness": 1.2,
            "width": 0,
        },
        hoverinfo="skip",
    )
    styled(figure, palette, height=60 + 34 * max(len(table), 1), margin={"b": 48, "l": 150})
    figure.add_vline(x=0, line={"color": palette.ink, "width": 1})
    figure.update_xaxes(title_text=f"Drop in {metric_label} without it", showgrid=True, gridcolor=palette.grid)
    figure.update_yaxes(autorange="reversed", tickfont={"color": palette.ink}, showgrid=False)
    return figure
