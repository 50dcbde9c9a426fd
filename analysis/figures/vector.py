"""A figure as SVG, PDF or PNG, drawn in a browser of this computer: charts by kaleido, others by `vector.js`."""

import asyncio
import json
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Literal

import plotly.graph_objects as go

from analysis.figures.elements import BUILD, STYLE, Element
from recap.errors import RecapError

Form = Literal["svg", "pdf", "png"]
FORMS: Final[tuple[Form, ...]] = ("svg", "pdf", "png")
_WIDTH_PX: Final = 900
_PNG_SCALE: Final = 2
_PX_AN_INCH: Final = 96


def why_no_vectors() -> str:
    """What is missing to write figures, in one line; empty if nothing is."""
    try:
        from choreographer.browsers.chromium import Chromium
        from kaleido import calc_fig_sync  # noqa: F401
    except ImportError:
        return "SVG and PDF need kaleido: pip install 'recap-mobility[paper]'"
    if Chromium.find_browser(skip_local=False) is None:
        return "SVG and PDF need Chrome or Chromium on the computer that runs RECAP"
    return ""


def write_figure(figure: go.Figure | Element | bytes, form: Form) -> bytes:
    """The figure as it is shown, 900 pixels wide.

    Args:
        figure: a chart, page elements, or a map of `analysis.figures.svg_draw`, which has a size of its own.

    Raises:
        RecapError: kaleido or a browser is missing.
    """
    missing = why_no_vectors()
    if missing:
        raise RecapError(missing)
    if not isinstance(figure, go.Figure):
        with ThreadPoolExecutor(1) as thread:  # the visitor's own thread may have a loop
            return thread.submit(lambda: asyncio.run(_from_browser(figure, form))).result()
    from kaleido import calc_fig_sync

    look = {"format": form, "width": _WIDTH_PX, "height": figure.layout.height}
    look["scale"] = _PNG_SCALE if form == "png" else 1
    return bytes(calc_fig_sync(figure, opts=look, kopts={"mathjax": False}))  # MathJax would come from outside


async def _from_browser(picture: Element | bytes, form: Form) -> bytes:
    from choreographer import Browser

    script = BUILD + Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    shown = picture.decode() if isinstance(picture, bytes) else json.dumps(picture)
    async with Browser(headless=True) as browser:
        tab = await browser.create_tab("about:blank")

        async def ask(command: str, **options: Any) -> dict[str, Any]:
            answer = await tab.send_command(command, options)
            return dict(answer["result"])

        call = f"{script}\nlayOut({shown}, {_WIDTH_PX}, {json.dumps(STYLE)})"
        made = (await ask("Runtime.evaluate", expression=call, returnByValue=True))["result"]["value"]
        if form == "svg":
            return str(made["svg"]).encode()
        if form == "pdf":
            paper = {"paperWidth": made["wide"] / _PX_AN_INCH, "paperHeight": made["high"] / _PX_AN_INCH}
            paper |= dict.fromkeys(("marginTop", "marginBottom", "marginLeft", "marginRight"), 0)
            return b64decode((await ask("Page.printToPDF", printBackground=True, pageRanges="1", **paper))["data"])
        clip = {"x": 0, "y": 0, "width": made["wide"], "height": made["high"], "scale": _PNG_SCALE}
        return b64decode((await ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip))["data"])
