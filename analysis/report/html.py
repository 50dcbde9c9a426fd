"""The explanation as HTML: a page that opens offline, and the body that a notebook shows.

Names come from outside data, so everything is escaped; the page holds no script and asks for nothing.
"""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis import formatting
from analysis.explain.contrast import PARTS
from analysis.explain.explanation import FullExplanation
from analysis.explain.minimal_sets import describe_set
from analysis.explain.paths import user_name
from analysis.figures.case_layout import (
    PART_LABELS,
    part_is_active,
    place_paths,
    place_visits,
    shown_parts,
    waterfall,
)
from analysis.figures.palette import DARK, LIGHT
from analysis.report.sharing import shareable
from recap.errors import RecapError
from recap.printable import visible
from recap.privacy import EXACT_NOTE, Generalisation


def _shown(value: Any) -> Any:
    """Control characters of names as text; what was escaped already is ours."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("analysis.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {
        "ordinal": formatting.ordinal,
        "points": formatting.points,
        "signed": formatting.signed_points,
        "share": formatting.share,
        "percent": formatting.percent,
        "clock": formatting.clock,
        "set": describe_set,
    }
    return environment


def headline(explanation: FullExplanation) -> str:
    """The finding in one line, such as ``Ferry Terminal comes 2nd of 1,204; Tideline Bakery wins by 0.32.``"""
    margin = explanation.contrast.margin
    verdict = f"wins by {formatting.points(-margin)}" if margin < 0 else f"is behind by {formatting.points(margin)}"
    place = (
        f"{explanation.target_name} comes {formatting.ordinal(explanation.target_rank)} of {explanation.num_places:,}"
    )
    return f"{place}; {explanation.contrast.b.name} {verdict}."


def render_body(explanation: FullExplanation) -> str:
    """The explanation as one HTML element with its own style."""
    style = _environment().get_template("style.css.j2").render(light=LIGHT, dark=DARK)
    body = _environment().get_template("explanation.html.j2").render(**_context(explanation))
    return f"<style>{style}</style>{body}"


FullExplanation.html_body = staticmethod(render_body)


def render_page(explanations: list[FullExplanation], *, exact: bool = False) -> str:
    """A whole page with one or several explanations: generalised to be shared, or exact and saying so."""
    rule = Generalisation()
    if not exact:
        explanations = [shareable(explanation, rule) for explanation in explanations]
    bodies = [Markup(render_body(explanation)) for explanation in explanations]  # noqa: S704 - our own escaped output
    title = headline(explanations[0]) if explanations else "No case"
    return (
        _environment()
        .get_template("page.html.j2")
        .render(title=title, bodies=bodies, note=EXACT_NOTE if exact else rule.describe())
    )


def write_page(explanations: list[FullExplanation], path: Path, *, exact: bool = False) -> None:
    """Write the page, whole or not at all; see `render_page`.

    Raises:
        RecapError: the disk refused.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(render_page(explanations, exact=exact), encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RecapError(f"writing {path} failed: {error.strerror or error}; nothing was kept") from error


def _context(explanation: FullExplanation) -> dict[str, Any]:
    a, b = explanation.contrast.a, explanation.contrast.b
    bars = {entry.poi: waterfall(entry, explanation) for entry in (a, b)}
    ends = [0.0, a.total, b.total, *(end for steps in bars.values() for bar in steps for end in (bar.start, bar.end))]
    low, span = min(ends), max(max(ends) - min(ends), 1e-9)
    placed = place_paths(explanation.path_evidence)
    sides = zip(explanation.roles, explanation.revisits, strict=True)
    return {
        "e": explanation,
        "roles": dict(zip(("target", "rival"), explanation.roles, strict=True)),
        "a": a,
        "b": b,
        "walker": user_name(explanation.user),
        "now": explanation.revisits[0].now_time,
        "headline": headline(explanation),
        "waterfall": lambda entry: bars[entry.poi],
        "at": lambda value: round(100 * (value - low) / span, 2),
        "wide": lambda value: round(100 * abs(value) / span, 2),
        "rows": [
            {
                "label": PART_LABELS[part],
                "a": _signed_part(a, part),
                "b": _signed_part(b, part),
                "difference": explanation.contrast.parts[part],
                "active": part_is_active(part, explanation),
            }
            for part in PARTS
            if part in shown_parts(explanation)
        ],
        "largest_residual": max(abs(entry.residual) for entry in explanation.candidates),
        "placed": placed,
        "height": 60 + 46 * max(len(placed), 1),
        "timelines": [{"side": side, "name": r.name, "dots": place_visits(r)} for side, r in sides],
    }


def _signed_part(entry: Any, part: str) -> float:
    value = float(getattr(entry, part))
    return -value if part == "clip_loss" else value
