"""An inspection as one HTML page without outside parts, to send to whoever produced the file."""

import math
from typing import Any

import numpy as np

from recap import columns as c
from recap.data.cleaning import DataConfig
from recap.data.inspection import Inspection, preview_rows
from recap.privacy import Generalisation
from recap.rendering import render


def inspection_page(inspection: Inspection, config: DataConfig) -> str:
    """The page, generalised as in `shareable`; every text from the file is escaped."""
    rule = Generalisation()
    inspection = shareable(inspection, rule)
    return render(
        "inspection.html.j2",
        it=inspection,
        files=", ".join(inspection.account.files),
        kept=preview_rows(inspection, config),
        note=rule.describe() + " Examples of problems are left out.",
    )


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
    new[c.TIME] = rule.iso_time(str(row[c.TIME]), str(row[c.USER_ID])).replace("T", " ")
    for name in (c.LATITUDE, c.LONGITUDE):
        new[name] = float(rule.cell(np.array(row[name])))
    for name in (c.POI_NAME, c.TRAJECTORY_ID):
        if name in new:
            new[name] = ""
    return new
