"""An opened model in a notebook: explanations and comparisons that display themselves."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from analysis.compare.comparison import Comparison, PairedCases, compare
from analysis.compare.side import sides_with_seeds
from analysis.explain.explain_case import explain_case as explain_one
from analysis.explain.explanation import CaseExplanation
from analysis.records.accuracy import fitting_metric
from analysis.sharing import comparison as comparison  # renders what a cell returns
from analysis.sharing import page as page  # renders what a cell returns
from analysis.workspace import Workspace


def explain_case(model: Workspace, case: int, **options: Any) -> CaseExplanation:
    """Explain one test case of a RECAP, with the options of `analysis.explain.explain_case.explain_case`."""
    return explain_one(model.predictor, case, **{"seeds": model.seeds(), **options})


def compare_models(
    model: Workspace,
    other: Workspace | str | Path,
    metric: str | None = None,
    k: int | None = None,
) -> Comparison:
    """Compare a model (B) with another (A) on the same test cases.

    The other is an opened model, a checkpoint folder, a baseline's name, or imported predictions by name; metric and k
    are those of `analysis.compare.comparison.compare`. None: hits in a list of half a user's places at most.
    """
    a = other if isinstance(other, Workspace) else model.with_model(other)
    side_a, side_b = sides_with_seeds([a, model], ())
    return compare(_paired(model.without_model), side_a, side_b, metric or fitting_metric(model.places_known), k)


@lru_cache(maxsize=4)
def _paired(dataset: Workspace) -> PairedCases:
    return PairedCases(dataset.cases)
