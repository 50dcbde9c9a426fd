"""Charts as SVG and PDF, which a browser draws."""

import os
from pathlib import Path

import plotly.graph_objects as go
import pytest

from analysis.figures.vector import write_vector


def test_a_chart_as_svg_and_pdf(chromium: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text stays text; both are vectors of the chart, and nothing outside is asked for."""
    pytest.importorskip("kaleido", reason="kaleido is not installed: pip install -e '.[paper]'")
    monkeypatch.setenv("PATH", f"{Path(chromium).parent}{os.pathsep}{os.environ['PATH']}")
    figure = go.Figure(go.Bar(x=["Rare"], y=[3]), layout={"height": 270})
    svg = write_vector(figure, "svg")
    assert svg.startswith(b"<svg") and b">Rare</text>" in svg and b"<image" not in svg
    assert write_vector(figure, "pdf").startswith(b"%PDF")
