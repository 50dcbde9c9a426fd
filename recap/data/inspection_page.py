"""An inspection as one HTML page without outside parts, to send to whoever produced the file."""

import math
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined

from recap import columns as c
from recap.data.cleaning import DataConfig
from recap.data.inspection import Inspection, preview_rows
from recap.printable import visible
from recap.privacy import EXACT_NOTE, Generalisation

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Inspection of {{ files }}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c;
  background: #fff; }
h1, h2, h3 { line-height: 1.25; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5rem 0 1rem; }
th, td { border: 1px solid #c8c8c8; padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
li { overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Inspection of {{ files }}</h1>
<p>Read as <strong>{{ it.source_format }}</strong>, because {{ it.why }}.
{{ "{:,}".format(it.account.rows_in) }} rows in the file, {{ "{:,}".format(it.account.rows_kept) }} understood.</p>
{% for note in it.account.notes %}<p>{{ note }}</p>
{% endfor %}
{% if it.account.columns %}
<h2>Columns</h2>
<table><tr><th scope="col">meaning</th><th scope="col">column</th></tr>
{% for field, column in it.account.columns.items() %}<tr><td>{{ field }}</td><td>{{ column }}</td></tr>
{% endfor %}</table>
{% endif %}
<h2>What it holds</h2>
<table>
{% for name, value in it.facts.items() %}<tr><th scope="row">{{ name }}</th><td class="number">
{{- "{:,}".format(value) if value is integer else value }}</td></tr>
{% endfor %}</table>
<h2>First rows, as understood</h2>
<div class="wide"><table><tr>{% for name in it.first_rows[0] %}<th scope="col">{{ name }}</th>{% endfor %}</tr>
{% for row in it.first_rows %}<tr>{% for value in row.values() %}<td>{{ value }}</td>{% endfor %}</tr>
{% endfor %}</table></div>
<h2>Problems</h2>
{% for problem in it.problems %}
<h3>{{ "{:,}".format(problem.count) }} {{ problem.title }}</h3>
<p>{{ problem.advice }}</p>
{% if problem.examples %}<ul>
{% for example in problem.examples %}<li>{{ example }}</li>
{% endfor %}</ul>{% endif %}
{% else %}<p>None found.</p>
{% endfor %}
<h2>What a dataset would keep</h2>
{% if it.preview.refusal %}<p>Nothing: {{ it.preview.refusal }}</p>
{% else %}<table>
<tr><th scope="row">check-ins kept</th><td class="number">{{ "{:,}".format(it.preview.checkins) }}</td></tr>
{% for reason, count in kept.items() %}<tr><th scope="row">dropped: {{ reason }}</th>
<td class="number">{{ "{:,}".format(count) }}</td></tr>
{% endfor %}</table>{% endif %}
<p><small>{{ note }}</small></p>
</body>
</html>
"""


def inspection_page(inspection: Inspection, config: DataConfig, *, exact: bool = False) -> str:
    """The page; every text from the file is escaped.

    Args:
        exact: keep ids, times and coordinates as they are, and say so on the page; otherwise see `shareable`.
    """
    rule = Generalisation()
    if not exact:
        inspection = shareable(inspection, rule)
    template = Environment(autoescape=True, undefined=StrictUndefined, finalize=_shown).from_string(_PAGE)
    return template.render(
        it=inspection,
        files=", ".join(inspection.account.files),
        kept=preview_rows(inspection, config),
        note=EXACT_NOTE if exact else rule.describe() + " Examples of problems are left out.",
    )


def _shown(value: Any) -> Any:
    """Control characters of the file as text."""
    return visible(value) if isinstance(value, str) else value


def shareable(inspection: Inspection, rule: Generalisation) -> Inspection:
    """A copy for other eyes: counts stay; ids, names, times and coordinates of the rows are generalised."""
    facts = dict(inspection.facts)
    for name in ("first", "last"):
        facts[name] = str(facts[name])[:7]  # the month
    for name, outwards in (("south", math.floor), ("west", math.floor), ("north", math.ceil), ("east", math.ceil)):
        facts[name] = outwards(float(facts[name]))
    refusal = "it refuses; without --html, `recap inspect` says why" if inspection.preview.refusal else ""
    return inspection.model_copy(
        update={
            "facts": facts,
            "first_rows": [_shareable_row(row, rule) for row in inspection.first_rows],
            "problems": [problem.model_copy(update={"examples": []}) for problem in inspection.problems],
            "preview": inspection.preview.model_copy(update={"refusal": refusal}),
        }
    )


def _shareable_row(row: dict[str, Any], rule: Generalisation) -> dict[str, Any]:
    new = dict(row)
    new[c.USER_ID] = rule.pseudonym(str(row[c.USER_ID]))
    new[c.POI_ID] = rule.place_name(str(row[c.POI_ID]))
    new[c.TIME] = rule.iso_time(str(row[c.TIME])).replace("T", " ")
    for name in (c.LATITUDE, c.LONGITUDE):
        new[name] = float(rule.cell(np.array(row[name])))
    for name in (c.POI_NAME, c.TRAJECTORY_ID):
        if name in new:
            new[name] = ""
    return new
