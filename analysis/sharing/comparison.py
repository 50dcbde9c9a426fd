"""A comparison as HTML for notebooks, without scripts."""

from typing import Any

from analysis.compare import words
from analysis.compare.comparison import GROUP_LABELS, Comparison
from analysis.figures.palette import DARK, LIGHT
from analysis.records.accuracy import METRIC_LABELS
from analysis.sharing.page import template
from recap.history.graph import TAIL_MAX_COUNT

_LEFT, _WIDTH, _MIDDLE, _HALF = 60, 690, 105, 90
"""Pixels of the figure: left edge, width, height of no difference, and half its height."""


def render_comparison(result: Comparison) -> str:
    """One HTML element with its own style; names are escaped."""
    marks, reach = _marks(result)
    return template("comparison.html.j2").render(
        c=result,
        points=words.as_points,
        p=words.p_value,
        light=LIGHT,
        dark=DARK,
        headline=words.comparison_headline(result),
        sentences=words.sentences(result),
        metric=METRIC_LABELS[result.metric],
        marks=marks,
        reach=reach,
        tail=_WIDTH / len(marks) * int(result.bins["high_count"].between(0, TAIL_MAX_COUNT).sum()),
        all=result.row("all").to_dict(),
        rows=[
            row | {"label": GROUP_LABELS[row["group"]], "better": words.verdict_words(row, result)}
            for row in result.rows.to_dict(orient="records")
        ],
    )


Comparison.html_body = staticmethod(render_comparison)


def _marks(result: Comparison) -> tuple[list[dict[str, Any]], float]:
    rows = result.bins.to_dict(orient="records")
    known = [row for row in rows if row["n"] > 0]
    reach = max([1e-3, *(max(abs(row["low"]), abs(row["high"])) for row in known)])
    marks = []
    for position, row in enumerate(rows):
        n = int(row["n"])
        mark: dict[str, Any] = {"bin": row["bin"], "n": n, "x": round(_LEFT + _WIDTH * (position + 0.5) / len(rows), 1)}
        if n:
            clear = row["verdict"] != "close"
            mark |= {name: _y(row[of], reach) for name, of in (("y", "difference"), ("top", "high"), ("bottom", "low"))}
            mark |= {"is_clear": clear, "differs": row["low"] != 0 or row["high"] != 0}
            mark["colour"] = "var(--b)" if row["verdict"] == "b" else "var(--ink)" if clear else "var(--quiet)"
            mark["title"] = f"{words.as_points(row['difference'])} points, {n:,} cases"
        else:
            mark |= {"is_clear": False, "differs": False, "title": "n = 0"}
        marks.append(mark)
    return marks, reach


def _y(value: float, reach: float) -> float:
    return round(_MIDDLE - _HALF * value / reach, 1)
