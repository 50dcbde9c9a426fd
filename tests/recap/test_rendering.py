"""Templates: what is escaped, what is refused, and that the cards of the demo city are those that are hashed."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from recap.checkpoint import Checkpoint, model_card
from recap.data.card import dataset_card
from recap.data.dataset import Dataset
from recap.rendering import render

DEMO = Path(__file__).parents[2] / "checkpoints" / "demo-city"


def test_a_missing_value_is_an_error() -> None:
    """A page with a hole in it is not written."""
    with pytest.raises(UndefinedError, match="title"):
        render("model_card.md.j2", manifest={}, summary={})


@pytest.mark.parametrize("name", ["checkpoint", "paper", "without-holdout"])
def test_the_bundled_model_card_is_what_the_template_makes(name: str) -> None:
    """Byte by byte."""
    checkpoint = Checkpoint.load(DEMO / name)
    card = (checkpoint.folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert card == model_card(checkpoint.manifest, checkpoint.read_summary())


def test_a_group_without_cases_has_no_number() -> None:
    """None is shown as a dash."""
    checkpoint = Checkpoint.load(DEMO / "checkpoint")
    summary = checkpoint.read_summary()
    summary["test"] = {
        "all": summary["test"]["all"],
        "tail": {"n": 0, **dict.fromkeys(("hr1", "hr20", "ndcg20", "mrr"))},
    }
    assert "| recap | tail | 0 | – | – | – | – |\n" in model_card(checkpoint.manifest, summary)


def test_the_bundled_dataset_card_is_what_the_template_makes() -> None:
    """The same for the dataset."""
    folder = DEMO / "dataset"
    assert dataset_card(Dataset.load(folder)) == (folder / "CARD.md").read_text(encoding="utf-8")
