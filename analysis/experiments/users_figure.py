"""Accuracy by number of users as an SVG picture."""

from collections.abc import Mapping, Sequence
from typing import Final

from markupsafe import Markup

from analysis.figures.palette import LIGHT

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 340, 60, 500, 20, 280
_LEAST_GAP: Final = 18
_COLOURS: Final = (LIGHT.quiet, LIGHT.paths.fill, LIGHT.model.fill)


def users_figure(users: Sequence[int], lines: Mapping[str, Sequence[float]], axis: str) -> str:
    """One line for each model, numbers of users evenly spaced; a line's name stands at its end.

    Args:
        lines: label -> one accuracy for each number of users; at most three.
    """
    values = [value for line in lines.values() for value in line]
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    xs = [_LEFT + at * (_RIGHT - _LEFT) / max(len(users) - 1, 1) for at in range(len(users))]

    def height(value: float) -> float:
        return _BOTTOM - (value - low) / span * (_BOTTOM - _TOP)

    marks = [_text(x, _BOTTOM + 24, f"{number:,}", "middle") for x, number in zip(xs, users, strict=True)]
    marks.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 48, "users", "middle"))
    marks += [_text(_LEFT - 10, height(value) + 4, f"{value:.3f}", "end") for value in (low, high)]
    lowest = float(_HEIGHT)
    named = sorted(zip(lines.items(), _COLOURS, strict=False), key=lambda line: line[0][1][-1])
    for (label, line), colour in named:
        points = " ".join(f"{x:.1f},{height(value):.1f}" for x, value in zip(xs, line, strict=True))
        marks.append(_LINE.format(points, colour))
        lowest = min(height(line[-1]) + 4, lowest - _LEAST_GAP)
        marks.append(_text(_RIGHT + 10, lowest, label, "start"))
    return str(_SVG.format(_WIDTH, _HEIGHT, axis, LIGHT.page, LIGHT.ink, Markup().join(marks))) + "\n"


_SVG: Final = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img" aria-label="{}" font-family="sans-serif" '
    'font-size="13"><rect width="100%" height="100%" fill="{}"/><g fill="{}">{}</g></svg>'
)
_LINE: Final = Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="2.5"/>')


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(x, y, anchor, text)
