"""The page of results is what its files make of it, and every result in them is finished."""

from pathlib import Path

import pytest

from analysis.experiments.results import ExperimentResult
from analysis.experiments.tables import page

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_is_generated() -> None:
    """docs/results.md is up to date with docs/results/."""
    assert (DOCS / "results.md").read_text(encoding="utf-8") == page(DOCS / "results")


@pytest.mark.parametrize("path", sorted((DOCS / "results").glob("*.json")), ids=lambda path: path.stem)
def test_results_are_whole(path: Path) -> None:
    """Every experiment shown ran to its end, and names its data, seeds, machine, day and command."""
    result = ExperimentResult.load(path)
    assert result.finished and result.command.startswith("recap experiment run")
    assert result.date and result.hardware and len(result.dataset_hash) == 64
