"""A chart as SVG or PDF, drawn by kaleido in a browser of this computer."""

from typing import Literal

import plotly.graph_objects as go

from recap.errors import RecapError

_WIDTH_PX = 900


def why_no_vectors() -> str:
    """What is missing to write SVG and PDF, in one line; empty if nothing is."""
    try:
        from choreographer.browsers.chromium import Chromium
        from kaleido import calc_fig_sync  # noqa: F401
    except ImportError:
        return "SVG and PDF need kaleido: pip install 'recap-mobility[paper]'"
    if Chromium.find_browser(skip_local=False) is None:
        return "SVG and PDF need Chrome or Chromium on the computer that runs RECAP"
    return ""


def write_vector(figure: go.Figure, form: Literal["svg", "pdf"]) -> bytes:
    """The chart as it is shown, 900 pixels wide.

    Raises:
        RecapError: kaleido or a browser is missing.
    """
    missing = why_no_vectors()
    if missing:
        raise RecapError(missing)
    from kaleido import calc_fig_sync

    look = {"format": form, "width": _WIDTH_PX, "height": figure.layout.height}
    return bytes(calc_fig_sync(figure, opts=look, kopts={"mathjax": False}))  # MathJax would come from outside
