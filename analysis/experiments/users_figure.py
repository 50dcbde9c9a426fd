"""Accuracy by number of users as an SVG picture."""

from collections.abc import Mapping, Sequence
from typing import Final

from markupsafe import Markup

from analysis.figures.palette import LIGHT

_LEFT, _STEP, _TOP, _BOTTOM = 60, 110, 20, 280
_COLOURS: Final = (LIGHT.quiet, LIGHT.paths.fill, LIGHT.model.fill)
_SVG: Final = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 330" role="img" aria-label="{}" font-family="sans-serif" '
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
    low, span = min(values), (max(values) - min(values)) or 1.0
    xs = [_LEFT + _STEP * at for at in range(len(users))]
    marks = [
        _TEXT.format(x, _BOTTOM + 30, "middle", LIGHT.ink, f"{number:,} users")
        for x, number in zip(xs, users, strict=True)
    ]
    for place, ((label, line), colour) in enumerate(zip(lines.items(), _COLOURS, strict=False)):
        heights = [_BOTTOM - (value - low) / span * (_BOTTOM - _TOP) for value in line]
        marks.append(_LINE.format(" ".join(f"{x},{y:.1f}" for x, y in zip(xs, heights, strict=True)), colour))
        marks.append(_TEXT.format(xs[-1] + 10, _BOTTOM - 24 * (2 - place), "start", colour, label))
        marks += [_TEXT.format(xs[at] - 6, heights[at], "end", colour, f"{line[at]:.3f}") for at in (0, -1)]
    return _SVG.format(about, LIGHT.page, Markup().join(marks))
