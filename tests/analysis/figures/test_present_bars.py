"""Present's bars: as long as their values say, whatever is next to them."""

from typing import Any

import pandas as pd

from analysis.figures.compare import draw_how_often
from analysis.figures.palette import LIGHT


def bars_in(drawn: Any) -> list[tuple[str, str, str]]:
    """(style of the bar, number, name) of every row that starts with a filled bar."""
    children = [child for child in drawn[2:] if not isinstance(child, str)]
    here = [children] if children and "background" in children[0][1].get("style", "") else []
    own = [(bar[1]["style"], number[2], name[2]) for bar, number, name in here]
    return own + [found for child in children for found in bars_in(child)]


def test_lengths_are_values() -> None:
    """99, 98, 50 and 0 of 100: widths in proportion that no long name can shrink, each next to its own number."""
    rows = pd.DataFrame({"group": ["tail", "head", "all"], "n": [9, 9, 0], "a": [0.98, 0, 1], "b": [0.99, 0.5, 1]})
    found = bars_in(draw_how_often(rows, a="A model with a very long name", b="RECAP", palette=LIGHT))
    assert [(number, name) for _, number, name in found] == [
        ("99", "RECAP"),
        ("98", "A model with a very long name"),
        ("50", "RECAP"),
        ("0", "A model with a very long name"),
    ]
    styles = [dict(part.split(": ") for part in style.split("; ")) for style, _, _ in found]
    widths = [float(style["width"].removesuffix("%")) for style in styles]
    assert [round(width / widths[0], 3) for width in widths] == [round(v / 0.99, 3) for v in (0.99, 0.98, 0.5, 0)]
    assert {style["flex"] for style in styles} == {"none"}
