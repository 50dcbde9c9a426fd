"""Bars for a slide: groups of named values, drawn as a PNG without a browser and readable from the last row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageDraw

from analysis.figures.letters import Letters
from analysis.figures.map_ground import to_png
from analysis.figures.palette import LIGHT, Palette
from analysis.formatting import percent
from recap.machine.printable import shortened

_SIZE: Final = (1520, 900)
_NAMES_PX: Final = 560
_END_PX: Final = 190
"""Room for the value behind the longest bar."""
_LARGEST_PX: Final = 40
_LONGEST: Final = 26


@dataclass(frozen=True)
class SlideBar:
    """A value by name, with its words; ``low`` and ``high`` are a 95 % interval; the model in question is coloured."""

    name: str
    value: float
    text: str
    low: float | None = None
    high: float | None = None
    mine: bool = False


def accuracy_bar(
    name: str, value: float, metric: str, low: float | None = None, high: float | None = None, *, mine: bool = False
) -> SlideBar:
    """A bar of an accuracy: per cent of the cases found, or a mean."""
    return SlideBar(name, value, percent(value) if metric.startswith("hr") else f"{value:.3f}", low, high, mine)


def draw_bars(
    groups: Sequence[tuple[str, Sequence[SlideBar]]], letters: Letters, *, top: float = 1.0, palette: Palette = LIGHT
) -> bytes:
    """Groups of bars under each other, each with its title; ``top`` is the value of the longest bar."""
    lines = sum(1.4 * bool(title) + len(bars) for title, bars in groups) + 0.3 * len(groups)
    step = min(_SIZE[1] / max(lines, 1), 2 * _LARGEST_PX)
    font = letters.font(round(min(0.62 * step, _LARGEST_PX)))
    bold = letters.font(round(min(0.66 * step, _LARGEST_PX)), bold=True)
    image = Image.new("RGB", _SIZE, palette.page)
    draw = ImageDraw.Draw(image)
    scale = (_SIZE[0] - _NAMES_PX - _END_PX) / max(top, 1e-9)
    y = (_SIZE[1] - lines * step) / 2
    for title, bars in groups:
        if title:
            draw.text((0, y + 0.9 * step), letters.fit(title), fill=palette.ink, font=bold, anchor="lm")
            y += 1.4 * step
        for bar in bars:
            middle, end = y + step / 2, _NAMES_PX + scale * bar.value
            look, ink = (bold, palette.model.text) if bar.mine else (font, palette.ink)
            name = letters.fit(shortened(bar.name, _LONGEST))
            draw.text((_NAMES_PX - 20, middle), name, fill=ink, font=look, anchor="rm")
            fill = palette.model.fill if bar.mine else palette.baseline
            draw.rectangle([_NAMES_PX, middle - 0.32 * step, max(end, _NAMES_PX + 2), middle + 0.32 * step], fill=fill)
            if bar.low is not None and bar.high is not None:
                ends = [(_NAMES_PX + scale * value, middle) for value in (bar.low, bar.high)]
                draw.line(ends, fill=palette.ink, width=4)
                end = max(end, ends[1][0])
            draw.text((end + 16, middle), letters.fit(bar.text), fill=ink, font=look, anchor="lm")
            y += step
        y += 0.3 * step
    return to_png(image)
