"""Accuracy by number of users as an SVG picture."""

from collections.abc import Mapping, Sequence
from typing import Final

from markupsafe import Markup

from analysis.figures.palette import LIGHT

_LEFT, _STEP, _TOP, _BOTTOM = 60, 110, 20, 280
_COLOURS: Final = (LIGHT.quiet, LIGHT.paths.fill, LIGHT.model.fill)
_SVG: Final = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 330" role="img" aria-label="{}" font-family="sans-serif" '
    'font-size="13"><rect width="100%" height="100%" fill="{}"/>{}</svg>\n'
)
_LINE: Final = Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="2.5"/>')
_TEXT: Final = Markup('<text x="{}" y="{:.1f}" text-anchor="{}" fill="{}">{}</text>')


def users_figure(users: Sequence[int], lines: Mapping[str, Sequence[float]], about: str) -> str:
    """One line for each model; the numbers of users have equal distances.

    Args:
        lines: label -> one accuracy for each number of users; at most three.
    """
    values = [value for line in lines.values() for value in line]
    low, high = min(values), max(values)
    xs = [_LEFT + _STEP * at for at in range(len(users))]

    def height(value: float) -> float:
        return _BOTTOM - (value - low) / ((high - low) or 1.0) * (_BOTTOM - _TOP)

    ends = [(x, f"{number:,} users") for x, number in zip(xs, users, strict=True)]
    marks = [_TEXT.format(x, _BOTTOM + 30, "middle", LIGHT.ink, text) for x, text in ends]
    for value in (low, (low + high) / 2, high):
        marks.append(_LINE.format(f"{xs[0]},{height(value):.1f} {xs[-1]},{height(value):.1f}", LIGHT.grid))
        marks.append(_TEXT.format(xs[0] - 8, height(value) + 4, "end", LIGHT.ink, f"{value:.3f}"))
    for place, ((label, line), colour) in enumerate(zip(lines.items(), _COLOURS, strict=False)):
        points = " ".join(f"{x},{height(value):.1f}" for x, value in zip(xs, line, strict=True))
        marks.append(_LINE.format(points, colour))
        marks.append(_TEXT.format(xs[-1] + 12, _BOTTOM - 24 * (2 - place), "start", colour, label.replace("`", "")))
    return _SVG.format(about, LIGHT.page, Markup().join(marks))
