"""The explanation as HTML: a page that opens offline, and the body that a notebook shows.

Names come from outside data, so everything is escaped; the page holds no script and asks for nothing.
"""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from analysis import formatting
from analysis.explain.explanation import FullExplanation
from analysis.explain.headline import headline
from analysis.explain.minimal_sets import describe_set
from analysis.figures.case_layout import (
    part_is_active,
    place_paths,
    place_visits,
    shown_parts,
    waterfall,
)
from analysis.figures.palette import DARK, LIGHT
from analysis.glossary import PART_NAMES, SCORE_PARTS
from analysis.report.sharing import shareable
from recap.printable import visible
from recap.privacy import EXACT_NOTE, Generalisation
from recap.storage.atomic import write_text


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
        "chance": formatting.chance,
        "percent": formatting.percent,
        "time_of_day": formatting.time_of_day,
        "set": describe_set,
    }
    return environment


def template(name: str, filters: Mapping[str, Callable[..., str]]) -> Template:
    """One of our templates, escaped like the others, with filters of its own."""
    environment = _environment().overlay()
    environment.filters = {**environment.filters, **filters}
    return environment.get_template(name)


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
    title = headline(explanations[0]).text if explanations else "No case"
    return (
        _environment()
        .get_template("page.html.j2")
        .render(title=title, bodies=bodies, note=EXACT_NOTE if exact else rule.describe(names_places=True))
    )


def write_page(explanations: list[FullExplanation], path: Path, *, exact: bool = False) -> None:
    """Write the page, whole or not at all; see `render_page`.

    Raises:
        RecapError: the disk refused.
    """
    write_text(path, render_page(explanations, exact=exact), make_parents=True)


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
        "user": formatting.user_name(explanation.user),
        "now": explanation.revisits[0].now_time,
        "headline": headline(explanation).text,
        "waterfall": lambda entry: bars[entry.poi],
        "at": lambda value: round(100 * (value - low) / span, 2),
        "wide": lambda value: round(100 * abs(value) / span, 2),
        "rows": [
            {
                "label": PART_NAMES[part],
                "a": _signed_part(a, part),
                "b": _signed_part(b, part),
                "difference": explanation.contrast.parts[part],
                "active": part_is_active(part, explanation),
            }
            for part in SCORE_PARTS
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
