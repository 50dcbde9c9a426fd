"""Figures as SVG, PDF and PNG, which a browser draws."""

import os
from pathlib import Path

import plotly.graph_objects as go
import pytest

from analysis.figures.elements import element
from analysis.figures.vector import write_figure

BAR = go.Figure(go.Bar(x=["Rare"], y=[3]), layout={"height": 270})
ROW = element("figure", element("b", "Rare"), element("i", style={"border": "4px solid red"}), style={"height": "90px"})


@pytest.mark.parametrize("figure", [BAR, ROW])
def test_a_figure_in_every_form(chromium: str, monkeypatch: pytest.MonkeyPatch, figure: object) -> None:
    """Text stays text; SVG and PDF are vectors of the figure, and nothing outside is asked for."""
    pytest.importorskip("kaleido", reason="kaleido is not installed: pip install -e '.[paper]'")
    monkeypatch.setenv("PATH", f"{Path(chromium).parent}{os.pathsep}{os.environ['PATH']}")
    svg = write_figure(figure, "svg")
    assert svg.startswith(b"<svg") and b">Rare</text>" in svg and b"<image" not in svg and b"foreignObject" not in svg
    pdf = write_figure(figure, "pdf")
    assert pdf.startswith(b"%PDF") and b"/Font" in pdf and b"/Subtype /Image" not in pdf
    assert write_figure(figure, "png").startswith(b"\x89PNG")
