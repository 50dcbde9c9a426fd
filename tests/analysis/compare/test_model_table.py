"""All models and metrics in one table, as a paper prints it."""

import pytest

from analysis.compare.model_table import model_table, write_table
from tests.analysis.compare.tables import records

RANKS = {"A_1": [1, 1, 1, 30], "B": [1, 2, 40, 40], "C": [30, 40, 40, 40]}
MODELS = {name: records(ranks, seen=[5, 0, 0, 0]) for name, ranks in RANKS.items()}


def test_values_are_means_and_weighted_ones_those_of_the_paper() -> None:
    """HR@1 of A: 3 of 4; weighted, .3267 x 1 (frequent) + .6733 x 2/3 (rare)."""
    table = model_table(MODELS).set_index(["model", "metric"])["value"]
    assert (table["A_1", "hr1"], table["B", "hr1"], table["C", "hr1"]) == (0.75, 0.25, 0.0)
    weighted = model_table(MODELS, weighted=True).set_index(["model", "metric"])["value"]
    assert weighted["A_1", "hr1"] == pytest.approx(0.3267 + 0.6733 * 2 / 3, abs=1e-3)


def test_best_is_bold_and_second_underlined() -> None:
    """In Markdown and in LaTeX, where special characters of a name are escaped; CSV has every digit."""
    table = model_table(MODELS)
    lines = write_table(table, "markdown").splitlines()
    assert lines[2].startswith("| A_1 | **0.7500** |") and lines[3].startswith("| B | <u>0.2500</u> |")
    latex = write_table(table, "latex", intervals=True)
    assert r"A\_1 & \textbf{0.7500} [" in latex and r"B & \underline{0.2500} [" in latex
    assert latex.count("\\\\\n") == 4 and r"\toprule" in latex
    csv = write_table(table, "csv", intervals=True).splitlines()
    assert csv[0].startswith("model,hr1,hr1_low,hr1_high,hr5") and csv[1].startswith("A_1,0.75,")
