"""What each part of a model is worth: accuracy lost without it, with intervals over users."""

from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from analysis.explain.model_words import WORTH_METRICS, among_title, lost
from analysis.figures.charts import assembled, note
from analysis.figures.model_flow import part_colour
from analysis.figures.palette import Palette
from analysis.formatting import MINUS
from analysis.records.ablations import GROUP_NAMES, HISTORY, TWO_HOPS, part_label
from recap.features.catalogue import PAST

_ROW: Final = 23
_TOP: Final = 44
_LABELS: Final = 0.2
_GAP: Final = 0.025
_NUMBER: Final = 0.055
"""Share of the width for the number at the right of each panel."""


def plot_worth(worth: pd.DataFrame, palette: Palette) -> go.Figure:
    """One row per part, one column per set of ranked places, from `ablation_worth`; HR@20 above MRR."""
    kinds = list(dict.fromkeys(worth["among"]))
    parts = _parts(worth)
    width = (1.0 - _LABELS - _GAP * len(kinds)) / len(kinds)
    block = _TOP + _ROW * len(parts)
    height = block * len(WORTH_METRICS)
    right: dict[str, Any] = {"colour": palette.ink, "size": 13.5, "xref": "paper", "xanchor": "right"}
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"bargap": 0.35}
    axis = 0
    for line, (metric, name) in enumerate(WORTH_METRICS.items()):
        top = 1.0 - line * block / height
        domain = [max(0.0, top - block / height), top - _TOP / height]
        low = min(0.0, *worth[f"{metric}_low"].tolist())
        high = max(1e-6, *worth[f"{metric}_high"].tolist())
        for number, kind in enumerate(kinds):
            tail = "" if axis == 0 else str(axis + 1)
            axis += 1
            left = _LABELS + _GAP + number * (width + _GAP)
            rows = worth[worth["among"] == kind].set_index("ablation").reindex(parts)
            data.append(_bars(rows, metric, parts, palette) | {"xaxis": f"x{tail}", "yaxis": f"y{tail}"})
            layout[f"xaxis{tail}"] = {
                "domain": [left, left + width - _NUMBER],
                "range": [low, high],
                "anchor": f"y{tail}",
                "showticklabels": False,
                "zeroline": True,
                "zerolinecolor": palette.baseline,
                "showline": False,
            }
            layout[f"yaxis{tail}"] = {"domain": domain, "anchor": f"x{tail}", "visible": False}
            layout[f"yaxis{tail}"]["range"] = [len(parts) - 0.5, -0.5]
            title = f"<b>{name} lost</b>, {among_title(kind)}"
            notes.append(note(left, top - 24 / height, title, palette.ink, 13.5, xref="paper", yref="paper"))
            for row, value in enumerate(rows[metric].tolist()):
                text = "–" if value != value else lost(value)
                notes.append(note(left + width, row, text, **right, yref=f"y{tail}"))
        for row, part in enumerate(parts):
            tail = "" if line == 0 else str(line * len(kinds) + 1)
            notes.append(note(_LABELS, row, part_label(part), **right, yref=f"y{tail}"))
    return assembled(data, layout | {"annotations": notes}, palette, height=height, margin={"t": 0})


def describe_worth(worth: pd.DataFrame) -> str:
    rows = worth.to_dict(orient="records")
    bars = [f"without {row['label']} {lost(row['hr'])} HR@20 lost, {among_title(row['among'])}" for row in rows]
    return "; ".join(bars).replace(MINUS, "minus ")


def _parts(worth: pd.DataFrame) -> list[str]:
    """Ablations to draw, without those that others repeat."""
    there = list(dict.fromkeys(worth["ablation"]))
    same = {TWO_HOPS} if "time_of_day_and_week" in there else {TWO_HOPS, HISTORY}
    return [name for name in there if name not in same]


def _bars(rows: pd.DataFrame, metric: str, parts: list[str], palette: Palette) -> dict[str, Any]:
    value = rows[metric].fillna(0.0)
    error = {
        "type": "data",
        "symmetric": False,
        "array": (rows[f"{metric}_high"] - value).fillna(0.0).tolist(),
        "arrayminus": (value - rows[f"{metric}_low"]).fillna(0.0).tolist(),
        "color": palette.ink,
        "thickness": 1.2,
        "width": 0,
    }
    return {
        "type": "bar",
        "orientation": "h",
        "x": value.tolist(),
        "y": list(range(len(parts))),
        "error_x": error,
        "marker": {"color": [_colour(part, palette) for part in parts]},
        "hoverinfo": "skip",
    }


def _colour(part: str, palette: Palette) -> str:
    if part == "graph_token":
        return palette.paths.fill
    return part_colour(PAST if part == HISTORY else GROUP_NAMES.get(part, part), palette)
