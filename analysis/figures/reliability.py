"""Reliability plot: how often the first place is right, against the share that the model gives it."""

import plotly.graph_objects as go

from analysis.figures.charts import styled
from analysis.figures.palette import Palette
from analysis.records.reliability import Reliability


def plot_reliability(reliability: Reliability, palette: Palette) -> go.Figure:
    """Bars reach to how often the first place is right; on the diagonal a share would be a probability."""
    figure = go.Figure()
    shown = [entry for entry in reliability.as_shown if entry.n and entry.right is not None]
    figure.add_bar(
        x=[(entry.low + entry.high) / 2 for entry in shown],
        y=[entry.right for entry in shown],
        width=0.088,
        marker={"color": palette.model.fill},
        text=[f"{entry.n:,}" for entry in shown],
        textposition="outside",
        textfont={"color": palette.quiet, "size": 12},
        customdata=[[entry.share, entry.n] for entry in shown],
        hovertemplate="share %{customdata[0]:.3f}, right %{y:.3f}, n = %{customdata[1]:,}<extra></extra>",
        cliponaxis=False,
    )
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": palette.quiet, "width": 1, "dash": "dot"}, hoverinfo="skip"
    )
    styled(figure, palette, height=260)
    figure.update_xaxes(title_text="Model's share for its first place", range=[0, 1], tickformat=".1f")
    figure.update_yaxes(title_text="Right", range=[0, 1.08], tickformat=".1f")
    return figure
