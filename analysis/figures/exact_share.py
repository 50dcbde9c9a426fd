"""One bar: how much of a margin is exact addends, and how much an opaque network."""

import plotly.graph_objects as go

from analysis.figures.charts import styled
from analysis.figures.palette import Palette
from analysis.formatting import percent


def plot_exact_share(share: float, palette: Palette) -> go.Figure:
    """Greys only: exact addends are full, the network is hatched; both are told in words.

    Args:
        share: of exact addends, 0 to 1.
    """
    figure = go.Figure()
    for value, shape in ((share, ""), (1 - share, "/")):
        figure.add_bar(
            x=[value],
            y=[""],
            orientation="h",
            marker={
                "color": palette.tail if not shape else palette.page,
                "line": {"width": 1, "color": palette.tail},
                "pattern": {"shape": shape, "fgcolor": palette.tail, "size": 6, "solidity": 0.3},
            },
            hoverinfo="skip",
        )
    told = (
        (0.0, "left", f"<b>Explained exactly {percent(share)}</b>", palette.ink),
        (1.0, "right", f"opaque network {percent(1 - share)}", palette.quiet),
    )
    for x, anchor, text, colour in told:
        figure.add_annotation(
            x=x,
            y=1,
            yref="paper",
            yanchor="bottom",
            xanchor=anchor,
            text=text,
            showarrow=False,
            font={"color": colour, "size": 14},
        )
    styled(figure, palette, height=52, margin={"t": 26, "b": 4, "l": 0, "r": 0})
    figure.update_layout(barmode="stack", showlegend=False, bargap=0)
    figure.layout.xaxis.update(visible=False, range=[0, 1])
    figure.layout.yaxis.update(visible=False)
    return figure
