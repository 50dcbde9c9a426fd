"""How one row was checked, drawn: ranks with and without it in each seed, and its points among the placebos."""

import math
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from analysis.explain.stamps import RowStamp
from analysis.figures.charts import assembled, vertical_line
from analysis.figures.palette import Palette
from analysis.formatting import ordinal, signed_points

LISTED: Final = 20
_BINS: Final = 30
_OWN: Final = ("own_visits", "hour_and_weekday", "own_transitions")
_PATHS: Final = ("two_hop_addends", "graph_token")


def plot_seeds(stamp: RowStamp, palette: Palette) -> go.Figure:
    """One dumbbell a seed: full with the row, open without it, on a log scale; this checkpoint first."""
    marks: list[dict[str, Any]] = []
    checks = stamp.seed_checks
    worst = max([LISTED, *(rank for check in checks for rank in (check.rank, check.without or 1))])
    for at, check in enumerate(checks):
        y = len(checks) - at
        ends = [check.rank, check.rank if check.without is None else check.without]
        line = {"color": palette.grid, "width": 4}
        marks.append({"type": "scatter", "x": ends, "y": [y, y], "mode": "lines", "line": line, "hoverinfo": "skip"})
        dots = [(check.rank, palette.model.fill, palette.model.text, "circle")]
        if check.without is not None and check.without != check.rank:
            dots.append((check.without, palette.quiet, palette.ink, "circle-open"))
        marks += [
            {
                "type": "scatter",
                "x": [rank],
                "y": [y],
                "mode": "markers+text",
                "marker": {"color": colour, "size": 12, "symbol": symbol, "line": {"width": 2}},
                "text": f"{rank:,g}",
                "textposition": "middle right" if rank == max(ends) and rank != min(ends) else "middle left",
                "textfont": {"color": words, "size": 13},
                "hovertext": f"Seed {check.seed}: {ordinal(rank)}{'' if symbol == 'circle' else ' without'}, "
                f"{signed_points(check.points)} points",
                "hoverinfo": "text",
                "cliponaxis": False,
            }
            for rank, colour, words, symbol in dots
        ]
    listed = {
        "x": math.log10(LISTED),
        "y": 0,
        "yref": "paper",
        "yanchor": "top",
        "text": f"{LISTED} listed",
        "font": {"color": palette.quiet, "size": 12},
    }
    layout = {
        "annotations": [listed],
        "shapes": [vertical_line(LISTED, color=palette.quiet, width=1, dash="dot")],
        "xaxis": {
            "type": "log",
            "range": [-0.35, math.log10(worst) + 0.45],
            "showticklabels": False,
            "showline": False,
        },
        "yaxis": {
            "tickvals": [len(checks) - at for at in range(len(checks))],
            "ticktext": [str(check.seed) for check in checks],
            "range": [0.3, len(checks) + 0.7],
            "showgrid": False,
        },
    }
    return assembled(marks, layout, palette, height=60 + 26 * len(checks), margin={"t": 4, "b": 24, "l": 40, "r": 36})


def describe_seed_chart(stamp: RowStamp) -> str:
    """The dumbbells for those who cannot see them."""
    ranks = (
        f"seed {check.seed} {check.rank:g} to {'nothing' if check.without is None else f'{check.without:g}'}"
        for check in stamp.seed_checks
    )
    return f"Rank with and without {stamp.label}: " + "; ".join(ranks)


def plot_placebos(stamp: RowStamp, palette: Palette) -> go.Figure:
    """Histogram of the placebos' points, with the row's own marked and the bar that 95 % stay within."""
    assert stamp.placebo is not None
    test = stamp.placebo
    low, high = min([test.points, *test.placebos]), max([test.points, *test.placebos])
    spread = (high - low) or 1.0
    counts, edges = np.histogram(test.placebos, bins=_BINS, range=(low - 0.02 * spread, high + 0.02 * spread))
    hue = palette.revisits if stamp.row in _OWN else palette.paths if stamp.row in _PATHS else None
    fill, words = (palette.tail, palette.ink) if hue is None else (hue.fill, hue.text)
    top = int(counts.max())
    data = [
        {
            "type": "bar",
            "x": ((edges[:-1] + edges[1:]) / 2).tolist(),
            "y": counts.tolist(),
            "width": 0.92 * float(edges[1] - edges[0]),
            "marker": {"color": palette.baseline},
            "hovertemplate": "%{y} placebos near %{x:.2f}<extra></extra>",
        },
        {
            "type": "scatter",
            "x": [test.points, test.points],
            "y": [0, 0.5 * top],
            "mode": "lines",
            "line": {"color": fill, "width": 2},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "x": [test.points],
            "y": [0],
            "mode": "markers",
            "marker": {"color": fill, "size": 13},
            "hovertext": f"This case: {signed_points(test.points)}",
            "hoverinfo": "text",
            "cliponaxis": False,
        },
    ]
    own = {
        "x": test.points,
        "y": 0.5 * top,
        "yanchor": "bottom",
        "text": f"<b>{signed_points(test.points)}</b>",
        "xanchor": _anchor((test.points - low) / spread),
        "font": {"color": words, "size": 14},
    }
    layout = {
        "annotations": [own],
        "shapes": [vertical_line(test.bar, color=palette.quiet, width=1, dash="dot")],
        "bargap": 0,
        "xaxis": {"title": {"text": "Points over mean"}, "nticks": 5, "showline": True},
        "yaxis": {"visible": False, "range": [0, 1.25 * top]},
    }
    return assembled(data, layout, palette, height=210, margin={"t": 8, "b": 42, "l": 4, "r": 4})


def _anchor(at: float) -> str:
    """Which side of a mark its number hangs on, so that it stays inside the plot."""
    return "right" if at > 0.8 else "left" if at < 0.2 else "center"
