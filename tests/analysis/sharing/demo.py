"""The bundled city as sharing sees it: 533 people, 2,102 places, of which 975 were visited by fewer than five."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.workspace import Workspace
from recap.predictor import Predictor
from tests.analysis.sharing.scanner import Secrets

CITY = Path(__file__).parents[3] / "checkpoints" / "demo-city"


@cache
def predictor() -> Predictor:
    return Predictor.load(CITY / "checkpoint", CITY / "dataset")


@cache
def opened() -> Workspace:
    return Workspace(predictor().dataset, predictor().graph)


@cache
def secrets() -> Secrets:
    return Secrets(predictor().dataset, 5, (predictor().dataset.hash, predictor().checkpoint.hash))


@cache
def basemap() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((CITY / "basemap.json").read_text(encoding="utf-8"))
    return read


@cache
def explained(case: int, *, full: bool = False) -> CaseExplanation:
    """A case, with checks and the search for the turning edit where full."""
    return explain_case(predictor(), case, counterfactuals=full, checks=full, search=full)
