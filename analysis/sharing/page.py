"""A shared page as one HTML file: no script, no outside resources, both themes, printable.

It is rendered from `SharedPage` alone. Names come from outside data, so everything is escaped.
"""

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from analysis import formatting
from analysis.explain.explanation import CaseExplanation
from analysis.figures.contributions import waterfall
from analysis.figures.palette import DARK, LIGHT
from analysis.records.ablations import part_label
from analysis.sharing.case_map import CaseMap, case_map
from analysis.sharing.generalise import share_case
from analysis.sharing.masking import Masking, places_by_name
from analysis.sharing.places import MaskedPlaces
from analysis.sharing.shared_case import SharedCase, SharedPage, SharedPlace
from recap.machine.rendering import finalize
from recap.storage.atomic import new_file

_MOST_PATHS: Final = 8


def render_html(page: SharedPage) -> str:
    bodies = [_case(case, page.places, case_map(case, page.places)) for case in page.cases]
    return template("page.html.j2").render(page=page, bodies=bodies, style=_style())


def write_html(page: SharedPage, path: Path) -> None:
    """Write the page completely or not at all; RecapError where the disk refuses."""
    with new_file(path) as temporary:
        temporary.write_bytes(render_html(page).encode())


def render_notebook(explanation: CaseExplanation) -> str:
    """One exact case as an element with its own style, without a map, for the person who asked."""
    masking = Masking(None, MaskedPlaces.named({poi: name for name, poi in places_by_name(explanation).items()}), None)
    case = share_case(explanation, masking, 1)
    return f"<style>{_style()}</style>{_case(case, masking.shared_places(), None)}"


CaseExplanation.html_body = staticmethod(render_notebook)


def _style() -> str:
    return template("style.css.j2").render(light=LIGHT, dark=DARK)


def _case(case: SharedCase, places: list[SharedPlace], drawn: CaseMap | None) -> str:
    values = _values(case, places)
    return template("case.html.j2").render(c=case, p=places.__getitem__, m=drawn, v=values, a=case.a, b=case.b)


def _values(case: SharedCase, places: list[SharedPlace]) -> dict[str, Any]:
    """The template's further input: positions, rows, roles."""
    a, b = case.a, case.b
    bars = {entry.poi: waterfall(entry) for entry in (a, b)}
    ends = [0.0, *(end for side in bars.values() for bar in side for end in bar.ends)]
    low, span = min(ends), max(max(ends) - min(ends), 1e-9)
    ranks = {entry.name: entry.rank for entry in case.without}
    paths = case.paths[:_MOST_PATHS]
    sides = zip(case.roles, case.visits, strict=True)
    return {
        "roles": dict(zip(("target", "runner_up"), case.roles, strict=True)),
        "headline": case.headline.text,
        "bars": lambda entry: bars[entry.poi],
        "at": lambda value: round(100 * (value - low) / span, 2),
        "wide": lambda value: round(100 * abs(value) / span, 2),
        "rows": [
            {"label": part_label(group), "a": a.groups[group], "b": b.groups[group], "rank": ranks.get(group)}
            for group in a.groups
        ],
        "others": [(part_label(name), rank) for name, rank in ranks.items() if name not in a.groups],
        "paths": [(path, number / (len(paths) - 1) if len(paths) > 1 else 0.5) for number, path in enumerate(paths)],
        "height": 60 + 46 * max(len(paths), 1),
        "has_points": any(path.points is not None for path in case.paths),
        "weeks": max([dot.weeks_ago for visits in case.visits for dot in visits.dots], default=0.0) or 1.0,
        "timelines": [{"side": side, "name": places[r.place].name, "dots": r.dots} for side, r in sides],
    }


def template(name: str) -> Template:
    """A template that escapes its input."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("analysis.sharing"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=finalize,
    )
    environment.filters |= {
        "ordinal": formatting.ordinal,
        "points": formatting.points,
        "signed": formatting.signed_points,
        "share": formatting.share,
        "chance": formatting.chance,
        "percent": formatting.percent,
    }
    return environment
