"""Long-tail figures: rare transitions by kind, accuracy by count, hops and ablations."""

import math
from collections.abc import Sequence
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.figures.charts import add_notes, assembled, escape_tags, styled
from analysis.figures.palette import Palette, ink_on, mix, translucent
from analysis.records.accuracy import METRIC_LABELS
from recap import columns as c

COUNT_AXES: Final = {
    c.TRANSITION_COUNT: "Times the transition was seen in training",
    c.DESTINATION_COUNT: "Times the place was visited in training",
}


def plot_accuracy_by_count(
    table: pd.DataFrame,
    metric: str,
    *,
    by: str,
    tail_up_to: int | None,
    reference: str,
    chosen: Sequence[int] | None = None,
    palette: Palette,
) -> go.Figure:
    """Bars by how often the transition or the place was seen; ticks mark the other model, n is below each bin.

    Bars carry ``[column, low, high]`` as customdata, so that a click lists the bin's cases.

    Args:
        table: from `accuracy_by_count`, with a reference.
        by: the column that was counted over.
        tail_up_to: bins up to this count are on a grey band in full colour; None for no tail.
        reference: the other model's name.
        chosen: low and high of the bin whose cases are listed.
    """
    figure = go.Figure()
    _add_bars(figure, table, by, metric, tail_up_to, reference, chosen, palette)
    figure.update_xaxes(title_text=COUNT_AXES[by], title_standoff=34, type="category", tickangle=0)
    styled(figure, palette, height=310, margin={"l": 40, "t": 22, "b": 70})
    figure.update_yaxes(range=[0, accuracy_axis(table)], nticks=5)
    tail_bins = 0 if tail_up_to is None else int(((table["high"] >= 0) & (table["high"] <= tail_up_to)).sum())
    if tail_bins:
        figure.add_vrect(
            x0=-0.5,
            x1=tail_bins - 0.5,
            fillcolor=palette.band,
            line_width=0,
            layer="below",
            annotation={"text": "rare", "font": {"color": palette.quiet, "size": 13}, "yanchor": "bottom"},
            annotation_position="top left",
        )
    return figure


def accuracy_axis(table: pd.DataFrame) -> float:
    """Upper end of a y axis: 1.06 for accuracies above .5, else a little above the highest."""
    top = max(0.05, float(table[["upper", "reference"]].max().max()))
    return 1.06 if not math.isfinite(top) or top > 0.5 else top * 1.15


def _add_bars(
    figure: go.Figure,
    table: pd.DataFrame,
    by: str,
    metric: str,
    tail_up_to: int | None,
    reference: str,
    chosen: Sequence[int] | None,
    palette: Palette,
) -> None:
    is_tail = [tail_up_to is None or 0 <= high <= tail_up_to for high in table["high"]]
    faint = mix(palette.model.fill, palette.page, 0.42)
    label, name = METRIC_LABELS[metric], escape_tags(reference)
    known = table["value"].notna()
    figure.add_bar(
        x=table["bin"],
        y=table["value"].fillna(0),
        marker={
            "color": [palette.model.fill if tail else faint for tail in is_tail],
            "line": {
                "color": palette.ink,
                "width": [
                    2 if chosen is not None and [low, high] == list(chosen) else 0
                    for low, high in zip(table["low"], table["high"], strict=True)
                ],
            },
        },
        error_y={
            "type": "data",
            "array": (table["upper"] - table["value"]).fillna(0),
            "arrayminus": (table["value"] - table["lower"]).fillna(0),
            "color": palette.quiet,
            "thickness": 1.2,
            "width": 0,
        },
        customdata=[[by, int(low), int(high)] for low, high in zip(table["low"], table["high"], strict=True)],
        hovertext=[
            f"{label} {value:.3f} ({lower:.3f} to {upper:.3f})<br>{name} {other:.3f}<br>n = {n:,}" if n else "n = 0"
            for value, lower, upper, other, n in zip(
                table["value"], table["lower"], table["upper"], table["reference"], table["n"], strict=True
            )
        ],
        hoverinfo="text",
        unselected={"marker": {"opacity": 1}},
    )
    for position, reference_value in enumerate(table["reference"]):
        if known.iloc[position]:
            # As wide as a bar and a little more, at any width of the figure.
            figure.add_shape(
                type="line",
                x0=position - 0.43,
                x1=position + 0.43,
                y0=reference_value,
                y1=reference_value,
                line={"color": palette.ink, "width": 2.5},
            )
    numbers = [
        {
            "x": position,
            "y": 0,
            "yanchor": "top",
            "yshift": -22,
            "text": f"{n:,}",
            "font": {"size": 11, "color": palette.quiet},
        }
        for position, n in enumerate(table["n"])
    ]
    add_notes(figure, numbers)


def plot_cohorts(
    table: pd.DataFrame, reference: str, *, chosen: Sequence[int] | None = None, palette: Palette
) -> go.Figure:
    """The four cohorts of rare transitions as cells; each carries ``[in_history, within_two_hops]`` as customdata.

    Args:
        table: from `accuracy_by_cohort`, with a reference.
        reference: the other model's name.
        chosen: the flags of the cell whose cases are listed.
    """
    traces: list[dict[str, Any]] = []
    notes = []
    for row in table.to_dict(orient="records"):
        flags = [int(row[c.IN_HISTORY]), int(row[c.WITHIN_TWO_HOPS])]
        x, y, known = 1 - flags[0], flags[1], row["n"] > 0
        share = min(max(float(row["value"]), 0.0), 1.0) if known else 0.0
        colour = mix(palette.model.fill, palette.page, 0.06 + 0.94 * share)
        is_chosen = chosen is not None and flags == list(chosen)
        traces.append(
            {
                "type": "bar",  # a shape takes no clicks
                "x": [x],
                "y": [0.94],
                "base": [y - 0.47],
                "width": [0.97],
                "marker": {"color": colour, "line": {"color": palette.ink, "width": 3 if is_chosen else 0}},
                "customdata": [flags],
                "hovertext": f"95 % interval {row['lower']:.3f} to {row['upper']:.3f}" if known else "no such case",
                "hoverinfo": "text",
                "unselected": {"marker": {"opacity": 1}},
            }
        )
        ink = ink_on(colour, palette)
        other = f"{escape_tags(reference)} {row['reference']:.2f} · " if known else ""
        notes.append(_square_note(x, y + 0.11, f"<b>{row['value']:.2f}</b>" if known else "–", ink, 28))
        notes.append(_square_note(x, y - 0.2, f"{other}{row['n']:,} cases", ink, 13))
    notes += [
        _square_note(0, 1.6, "<b>Place visited before</b>", palette.revisits.text, 14),
        _square_note(1, 1.6, "<b>New place</b>", palette.ink, 14),
        _square_note(-0.53, 1, "<b>Within<br>two hops</b>", palette.paths.text, 14, xanchor="right"),
        _square_note(-0.53, 0, "<b>Beyond<br>two hops</b>", palette.ink, 14, xanchor="right"),
    ]
    layout = {
        "barmode": "overlay",
        "annotations": notes,
        "xaxis": {"visible": False, "range": [-0.95, 1.5]},
        "yaxis": {"visible": False, "range": [-0.5, 1.72]},
    }
    return assembled(traces, layout, palette, height=310)


def _square_note(x: float, y: float, text: str, colour: str, size: int, xanchor: str = "center") -> dict[str, Any]:
    return {"x": x, "y": y, "text": text, "xanchor": xanchor, "align": xanchor, "font": {"size": size, "color": colour}}


def plot_hops(hops: pd.DataFrame, palette: Palette, chosen: int = 2) -> go.Figure:
    """Candidates, coverage and signal to noise for N = 1..5 in three panels; the model's N is filled (Fig. 5).

    Args:
        hops: rows of `recap.dataset_statistics.hop_statistics`.
        chosen: the N to mark.
    """
    panels = (
        ("Candidates<br>a place", "avg_candidates", "{:,.0f}"),
        ("Unseen transitions<br>reached", "coverage", "{:.2f}"),
        ("Signal to noise<br>× 1000", "snr_x1000", "{:.1f}"),
    )
    figure = make_subplots(rows=1, cols=3, horizontal_spacing=0.09, subplot_titles=[title for title, _, _ in panels])
    for column, (_, name, pattern) in enumerate(panels, start=1):
        mine = hops["n"] == chosen
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
    styled(figure, palette, height=300, margin={"t": 48, "b": 48})
    figure.update_xaxes(title_text="Hops N", dtick=1, range=[0.5, 5.6], showline=True)
    figure.update_annotations(font={"size": 14, "color": palette.ink})
    return figure


def _near_line(values: list[float]) -> list[str]:
    """Where each number goes so that the line does not cross it: away from the steeper side."""
    sides = []
    for before, value, after in zip([None, *values[:-1]], values, [*values[1:], None], strict=True):
        if before is None:
            sides.append("top left")
        elif after is not None and after < 0.8 * value:
            sides.append("top right")
        else:
            sides.append("top left" if value > 1.2 * before else "top center")
    return sides


def plot_ablations(table: pd.DataFrame, metric_label: str, palette: Palette) -> go.Figure:
    """Drop of each ablation against the full model with its interval, in the given order (Fig. 6).

    Args:
        table: ``name, drop, lower, upper``; positive means worse than the full model.
    """
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
