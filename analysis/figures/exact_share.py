"""One bar: how much of a margin is exact addends, and how much an opaque network."""

import plotly.graph_objects as go

from analysis.figures.charts import assembled
from analysis.figures.palette import Palette
from analysis.formatting import percent


def plot_exact_share(share: float, palette: Palette) -> go.Figure:
    """Greys only: exact addends are full, the network is hatched; both are told in words.

    Args:
        share: of exact addends, 0 to 1.
    """
    bars = [
        {
            "type": "bar",
            "x": [value],
            "y": [""],
            "orientation": "h",
            "marker": {
                "color": palette.tail if not shape else palette.page,
                "line": {"width": 1, "color": palette.tail},
                "pattern": {"shape": shape, "fgcolor": palette.tail, "size": 6, "solidity": 0.3},
            },
            "hoverinfo": "skip",
        }
        for value, shape in ((share, ""), (1 - share, "/"))
    ]
    told = (
        (0.0, "left", f"<b>Explained exactly {percent(share)}</b>", palette.ink),
        (1.0, "right", f"opaque network {percent(1 - share)}", palette.quiet),
    )
    notes = [
        {
            "x": x,
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "xanchor": anchor,
            "text": text,
            "font": {"color": colour, "size": 14},
        }
        for x, anchor, text, colour in told
    ]
    layout = {
        "annotations": notes,
        "barmode": "stack",
        "bargap": 0,
        "xaxis": {"visible": False, "range": [0, 1]},
        "yaxis": {"visible": False},
    }
    return assembled(bars, layout, palette, height=52, margin={"t": 26, "b": 4, "l": 0, "r": 0})
