"""Long-tail figures: accuracy by count, cohorts of the tail, hop sweep."""

import math
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.figures.charts import add_notes, escape_tags, styled
from analysis.figures.palette import Palette, ink_on, mix, translucent
from analysis.records.accuracy import METRIC_LABELS
from recap import columns as c

WITHIN: Final = "Within<br>two hops"
BEYOND: Final = "Beyond<br>two hops"
COUNT_AXES: Final = {
    c.TRANSITION_COUNT: "Times this step occurred in training",
    c.DESTINATION_COUNT: "Times this place was visited in training",
}


def plot_accuracy_by_count(
    table: pd.DataFrame,
    metric: str,
    *,
    by: str,
    top: float,
    tail_up_to: int | None,
    reference: str,
    title: str,
    palette: Palette,
) -> go.Figure:
    """Bars by how often the step or the place was seen; a tick marks the baseline, n stands under each bin.

    Bars carry ``[column, low, high]`` as customdata, so that a click opens the bin's cases.

    Args:
        table: from `accuracy_by_count`, with a reference.
        by: the column that was counted over.
        top: end of the y axis, see `accuracy_axis`; figures beside each other share it.
        tail_up_to: bins up to this count stand on a grey band and in the full colour; None for no tail.
        reference: the baseline's name.
        title: of the figure.
    """
    figure = go.Figure()
    _add_bars(figure, table, by, metric, tail_up_to, reference, palette)
    figure.update_xaxes(title_text=COUNT_AXES[by], title_standoff=36, type="category", tickangle=0)
    styled(figure, palette, height=400, margin={"l": 46, "t": 40, "b": 78})
    figure.update_yaxes(range=[0, top], tickformat=".2f", nticks=6)
    add_notes(
        figure,
        [
            {
                "x": 0,
                "xref": "x domain",
                "y": 1,
                "yref": "paper",
                "yanchor": "bottom",
                "yshift": 8,
                "xanchor": "left",
                "text": title,
                "font": {"size": 15, "color": palette.ink},
            }
        ],
    )
    tail_bins = 0 if tail_up_to is None else int(((table["high"] >= 0) & (table["high"] <= tail_up_to)).sum())
    if tail_bins:
        figure.add_vrect(
            x0=-0.5,
            x1=tail_bins - 0.5,
            fillcolor=palette.band,
            line_width=0,
            layer="below",
            annotation={"text": "<b>tail</b>", "font": {"color": palette.quiet, "size": 13}},
            annotation_position="top left",
        )
    return figure


def accuracy_axis(*tables: pd.DataFrame) -> float:
    """The end of a y axis that holds all intervals: 1.06 from accuracies of .5 on, else a little above the highest."""
    top = max(0.05, *(float(table["upper"].max()) for table in tables))
    return 1.06 if not math.isfinite(top) or top > 0.5 else top * 1.15 * 1.06


def _add_bars(
    figure: go.Figure,
    table: pd.DataFrame,
    by: str,
    metric: str,
    tail_up_to: int | None,
    reference: str,
    palette: Palette,
) -> None:
    is_tail = [tail_up_to is None or 0 <= high <= tail_up_to for high in table["high"]]
    faint = mix(palette.model.fill, palette.page, 0.42)
    label, name = METRIC_LABELS[metric], escape_tags(reference)
    known = table["value"].notna()
    figure.add_bar(
        x=table["bin"],
        y=table["value"].fillna(0),
        marker={"color": [palette.model.fill if tail else faint for tail in is_tail], "line_width": 0},
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
    table: pd.DataFrame, reference: str, palette: Palette, *, within: str = WITHIN, beyond: str = BEYOND
) -> go.Figure:
    """The four cohorts of the tail as squares; each carries ``[in_history, within_two_hops]`` as customdata.

    Args:
        table: from `accuracy_by_cohort`, with a reference.
        reference: the baseline's name.
        within, beyond: what the rows of squares are called.
    """
    figure, notes = go.Figure(), []
    for row in table.to_dict(orient="records"):
        flags = [bool(row[c.IN_HISTORY]), bool(row[c.WITHIN_TWO_HOPS])]
        x, y = int(not flags[0]), int(flags[1])
        known = row["n"] > 0
        share = min(max(float(row["value"]), 0.0), 1.0) if known else 0.0
        colour = mix(palette.model.fill, palette.page, 0.08 + 0.82 * share)
        figure.add_shape(
            type="rect",
            x0=x - 0.485,
            x1=x + 0.485,
            y0=y - 0.47,
            y1=y + 0.47,
            fillcolor=colour,
            line_width=0,
            layer="below",
        )
        figure.add_scatter(
            x=[x],
            y=[y],
            mode="markers",
            marker={"symbol": "square", "size": 87, "color": colour, "opacity": 0},
            customdata=[flags],
            hovertext=f"{row['lower']:.3f} to {row['upper']:.3f}, 95 % interval" if known else "no such case",
            hoverinfo="text",
        )
        ink = ink_on(colour, palette)
        beside = f"{escape_tags(reference)} {row['reference']:.2f}   " if known else ""
        notes.append(_square_note(x, y + 0.12, f"<b>{row['value']:.2f}</b>" if known else "–", ink, 25))
        notes.append(_square_note(x, y - 0.2, f"{beside}n = {row['n']:,}", ink, 13))
    notes += [
        _square_note(x, 1.62, f"<b>{text}</b>", palette.revisits.text, 14)
        for x, text in ((0, "Visited before"), (1, "Never visited"))
    ]
    notes += [
        _square_note(-0.53, y, f"<b>{text}</b>", palette.paths.text, 14, xanchor="right")
        for y, text in ((1, within), (0, beyond))
    ]
    add_notes(figure, notes)
    styled(figure, palette, height=290)
    figure.update_xaxes(visible=False, range=[-1.05, 1.5])
    figure.update_yaxes(visible=False, range=[-0.5, 1.75])
    return figure


def _square_note(x: float, y: float, text: str, colour: str, size: int, xanchor: str = "center") -> dict[str, Any]:
    return {"x": x, "y": y, "text": text, "xanchor": xanchor, "align": xanchor, "font": {"size": size, "color": colour}}


def plot_hops(hops: pd.DataFrame, palette: Palette, chosen: int = 2, *, axis: str = "Hops N") -> go.Figure:
    """Candidates, coverage and signal to noise for N = 1..5 in three panels; the model's N is full (Fig. 5).

    Args:
        hops: rows of `recap.dataset_statistics.hop_statistics`.
        chosen: the N to mark.
        axis: what N counts.
    """
    panels = (
        ("Candidates<br>a place", "avg_candidates", "{:,.0f}"),
        ("Unseen steps<br>reached", "coverage", "{:.2f}"),
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
            textposition=_beside_line(hops[name].tolist()),
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
    figure.update_xaxes(title_text=axis, dtick=1, range=[0.5, 5.6], showline=True)
    figure.update_annotations(font={"size": 14, "color": palette.ink})
    return figure


def _beside_line(values: list[float]) -> list[str]:
    """Where each number stands so that the line does not cross it: away from the steeper of its two sides."""
    sides = []
    for before, value, after in zip([None, *values[:-1]], values, [*values[1:], None], strict=True):
        if before is None:
            sides.append("top left")
        elif after is not None and after < 0.8 * value:
            sides.append("top right")
        else:
            sides.append("top left" if value > 1.2 * before else "top center")
    return sides
