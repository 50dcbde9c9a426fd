"""Overview figures: a model against baselines as lollipops, the sorted training counts of test steps, ablations."""

import math

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.charts import escape_tags, styled
from analysis.figures.palette import Palette, mix
from analysis.formatting import percent, signed
from recap import columns as c

PANELS = (("all", "All"), ("head", "Head"), ("tail", "Tail"))


def plot_lollipops(table: pd.DataFrame, palette: Palette, *, group: str) -> go.Figure:
    """Accuracy of every model over all, head or tail cases: names above their lines, numbers right, the lead below.

    One figure a group, so that they stand side by side where there is room and stacked where there is none.

    Args:
        table: from `accuracy_by_group`; the first model is the one in question.
        group: one of `PANELS`.
    """
    names = list(dict.fromkeys(table["model"]))
    figure = go.Figure()
    order = {name: len(names) - position for position, name in enumerate(names)}
    rows = table[table["group"] == group]
    n = int(rows["n"].iloc[0]) if len(rows) else 0
    for row in rows.to_dict(orient="records"):
        mine, y = row["model"] == names[0], order[row["model"]]
        known = not math.isnan(row["value"])
        colour = palette.model.fill if mine else palette.baseline
        value, name = row["value"] if known else 0.0, escape_tags(row["model"])
        figure.add_scatter(
            x=[0, value],
            y=[y - 0.18, y - 0.18],
            mode="lines+markers",
            line={"color": mix(colour, palette.page, 0.45), "width": 3},
            marker={"color": colour, "size": [0, 15 if mine else 11], "opacity": 1},
            hovertext=f"{name}: {value:.4f} ({row['lower']:.4f} to {row['upper']:.4f})" if known else "n = 0",
            hoverinfo="text",
        )
        number = f"{value:.3f}" if known else "–"
        ink = palette.model.text if mine else palette.ink
        for text, x, anchor in ((name, 0, "left"), (number, 1, "right")):
            figure.add_annotation(
                x=x,
                xref="paper",
                y=y + 0.22,
                xanchor=anchor,
                text=f"<b>{text}</b>" if mine else text,
                showarrow=False,
                font={"color": ink, "size": 14},
            )
    figure.add_annotation(
        x=0,
        xref="paper",
        y=len(names) + 0.95,
        xanchor="left",
        text=f"<b>{dict(PANELS)[group]}</b>  n = {n:,}",
        showarrow=False,
    )
    _add_lead(figure, rows, palette)
    styled(figure, palette, height=112 + 44 * len(names))
    figure.update_xaxes(visible=False, range=[-0.03, 1.03])
    figure.update_yaxes(range=[-0.7, len(names) + 1.3], visible=False)
    return figure


def _add_lead(figure: go.Figure, rows: pd.DataFrame, palette: Palette) -> None:
    leads = rows.dropna(subset="lead") if "lead" in rows else rows.iloc[:0]
    if len(leads):
        lead = leads.iloc[0]
        words = f"{signed(lead['lead'])} {'over' if lead['lead'] >= 0 else 'to'} the best"
        span = f"[{signed(lead['lead_lower'])}, {signed(lead['lead_upper'])}]"
        figure.add_annotation(
            x=1,
            xref="paper",
            y=0.45,
            xanchor="right",
            yanchor="top",
            align="right",
            text=f"{words}<br>{span}",
            showarrow=False,
            font={"color": palette.model.text, "size": 13},
        )


def plot_distribution(distribution: pd.DataFrame, palette: Palette, *, eta: int = 1) -> go.Figure:
    """Training counts of the distinct test steps, most frequent first, on a square-root scale; tail is dark (Fig. 9).

    Args:
        distribution: from `transition_distribution`.
        eta: head ends where a step occurred at most this often.
    """
    figure = go.Figure()
    for row in distribution.to_dict(orient="records"):
        count = int(row[c.TRANSITION_COUNT])
        colour = palette.head if count > eta else palette.unseen if count == 0 else palette.tail
        left, right = 100 * row["from_share"], 100 * row["to_share"]
        height = max(math.sqrt(count), 0.12)
        figure.add_scatter(
            x=[left, left, right, right],
            y=[0, height, height, 0],
            mode="lines",
            fill="toself",
            fillcolor=colour,
            line={"width": 0.3, "color": colour},
            hovertext=f"{count} in training: {row['pairs']:,} distinct steps, {row['cases']:,} cases",
            hoverinfo="text",
            hoveron="fills",
        )
    pairs = int(distribution["pairs"].sum())
    top = math.sqrt(float(distribution[c.TRANSITION_COUNT].max())) if pairs else 1.0
    top = max(top, 2.0)
    head = 100 * float(distribution.loc[distribution[c.TRANSITION_COUNT] > eta, "share"].sum())
    styled(figure, palette, height=316, margin={"b": 48, "l": 56})
    for text, width, x, anchor, y, colour in (
        ("Head", head, head - 1.5, "right", 0.98, palette.quiet),
        ("Tail", 100 - head, head + 1.5, "left", 0.86, palette.ink),
    ):
        if width > 16:
            figure.add_annotation(
                x=x,
                y=top * y,
                xanchor=anchor,
                text=f"<b>{text} {width:.0f} %</b>",
                showarrow=False,
                font={"color": colour, "size": 15},
            )
    figure.add_vline(x=head, line={"color": palette.quiet, "width": 1, "dash": "dot"})
    for row in distribution[distribution[c.TRANSITION_COUNT] <= 1].to_dict(orient="records"):
        if row["share"] > 0.06 and row[c.TRANSITION_COUNT] <= eta:
            word = "never" if row[c.TRANSITION_COUNT] == 0 else "once"
            figure.add_annotation(
                x=50 * (row["from_share"] + row["to_share"]),
                y=1.0 if word == "once" else 0.3,
                yanchor="bottom",
                text=f"{word} {percent(row['share'])}",
                showarrow=False,
                font={"color": palette.quiet, "size": 13},
            )
    ticks = [count for count in (0, 1, 5, 10, 20, 40, 80, 160, 320, 640, 1280) if math.sqrt(count) <= top * 1.05]
    figure.update_yaxes(
        title_text="Times in training",
        tickvals=[math.sqrt(count) for count in ticks],
        ticktext=[str(tick) for tick in ticks],
        range=[0, top * 1.08],
    )
    figure.update_xaxes(
        title_text=f"Distinct test steps, most frequent first (n = {pairs:,})",
        range=[0, 100],
        ticksuffix=" %",
        nticks=5,
    )
    return figure


def plot_ablations(table: pd.DataFrame, metric_label: str, palette: Palette) -> go.Figure:
    """Drop of each ablation against the full model with its interval, sorted as given (Fig. 6).

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
