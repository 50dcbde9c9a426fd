"""Runs beside each other: their curves on one axis, and the options of a sweep with what each combination reached."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.figures.charts import FONT, escape_tags, styled
from analysis.figures.palette import Palette
from analysis.formatting import share
from recap.runs.store.types import RunComparison

REACHED: Final = {"val": "Best val HR@20", "test": "Test HR@20"}
"""What a sweep's runs reached: column of `sweep_table` and its words."""
_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash")


def plot_overlay(curves: Mapping[str, pd.DataFrame], *, label: str, palette: Palette) -> go.Figure:
    """One curve a run, the first run in the model's colour, each named at its end.

    Args:
        curves: ``epoch, value`` of each run, by what it is called; runs without a value have no curve.
        label: of the value axis.
    """
    figure = go.Figure()
    drawn = {name: table for name, table in curves.items() if len(table)}
    ends = {name: float(table["value"].iloc[-1]) for name, table in drawn.items()}
    values = [float(value) for table in drawn.values() for value in table["value"]]
    room = (max(values) - min(values) or 1.0) if values else 1.0
    heights, above = {}, float("-inf")
    for name in sorted(ends, key=lambda name: ends[name]):  # names of ends that meet are moved apart
        above = heights[name] = max(ends[name], above + 0.07 * room)
    for position, (name, table) in enumerate(drawn.items()):
        first = name == next(iter(curves))
        colour = palette.model if first else None
        ink = colour.text if colour else palette.ink
        shown = escape_tags(name)
        figure.add_scatter(
            x=table["epoch"],
            y=table["value"],
            mode="lines",
            line={
                "color": colour.fill if colour else palette.baseline,
                "width": 2.8 if first else 2,
                "dash": _DASHES[position % len(_DASHES)],
            },
            name=shown,
            hovertemplate="%{fullData.name}, epoch %{x}: %{y:.4g}<extra></extra>",
        )
        figure.add_annotation(
            x=1.0,
            xref="paper",
            y=heights[name],
            text=f"<b>{shown} {share(ends[name])}</b>" if first else f"{shown} {share(ends[name])}",
            showarrow=False,
            xanchor="left",
            xshift=6,
            font={"size": 13, "color": ink},
        )
    styled(figure, palette, height=260, margin={"l": 48, "b": 40, "r": 108})
    last = max((int(table["epoch"].max()) for table in drawn.values()), default=1)
    figure.update_xaxes(title_text="Epoch", tick0=1, dtick=max(1, round(last / 8)), tickformat="d")
    figure.update_yaxes(title_text=label, nticks=5)
    return figure


def sweep_table(compared: RunComparison) -> pd.DataFrame:
    """One row a run: ``run``, the options in which the runs differ, ``val`` and ``test`` (HR@20 over all cases, NaN
    where a run has none yet)."""
    rows = []
    for entry in compared["runs"]:
        reached = {part: ((entry[part] or {}).get("all") or {}).get("hr20") for part in ("val", "test")}
        rows.append({"run": entry["id"], **{name: entry["fields"][name] for name in compared["differing"]}, **reached})
    table = pd.DataFrame(rows, columns=["run", *compared["differing"], "val", "test"])
    return table.astype({"val": float, "test": float})


def plot_sweep(table: pd.DataFrame, *, palette: Palette, option_words: Callable[[str], str] | None = None) -> go.Figure:
    """Parallel coordinates: one axis an option, the last ones what was reached; a line is a run, dark where it is good.

    Drag along an axis to keep the lines that cross it there.

    Args:
        table: from `sweep_table`.
        option_words: what an option is called; the last part of its name otherwise.
    """
    reached = [name for name in REACHED if table[name].notna().any()]
    known = table[table[reached[0]].notna()] if reached else table.iloc[:0]
    options = [name for name in table.columns if name not in ("run", *REACHED)]
    words = option_words or (lambda name: name)
    dimensions = [_axis(words(name), known[name]) for name in options]
    dimensions += [
        {
            "label": REACHED[name].replace(" HR", "<br>HR"),
            "values": known[name].fillna(known[name].min()),
            "tickformat": ".3f",
        }
        for name in reached
    ]
    # Plotly's own halo is white or grey; this one parts words from the lines below them in either theme.
    halo = ", ".join(f"{x}px {y}px 2px {palette.page}" for x in (-1, 1) for y in (-1, 1))
    figure = go.Figure(
        go.Parcoords(
            dimensions=dimensions,
            line={
                "color": known[reached[0]] if reached else None,
                "colorscale": [[0, palette.baseline], [1, palette.model.fill]],
            },
            labelfont={"family": FONT, "size": 13, "color": palette.ink, "shadow": halo},
            tickfont={"family": FONT, "size": 12, "color": palette.quiet, "shadow": halo},
            rangefont={"size": 1, "color": "rgba(0,0,0,0)"},
            unselected={"line": {"color": palette.grid, "opacity": 0.4}},
        )
    )
    return styled(figure, palette, height=280, margin={"l": 70, "r": 50, "t": 60, "b": 16})


def _axis(name: str, values: pd.Series) -> dict[str, Any]:
    """An option's axis: its values evenly spaced and named, numbers in order; plotly reads no tags in these names."""
    numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    levels = sorted(set(values)) if numeric else sorted({str(value) for value in values})
    place = {level: at for at, level in enumerate(levels)}
    return {
        "label": escape_tags(name.rpartition(".")[2].replace("_", " ")).replace(" ", "<br>", 1),
        "values": np.array([place[value if numeric else str(value)] for value in values]),
        "tickvals": list(range(len(levels))),
        "ticktext": [str(level) for level in levels],
        "range": [-0.2, max(len(levels) - 0.8, 0.2)],
    }
