"""Templates: what is escaped, what is refused, and that the cards of the demo city are those that are hashed."""

import pytest
from jinja2 import UndefinedError

from recap.checkpoint import Checkpoint, model_card
from recap.data.dataset import Dataset
from recap.data.inspection import dataset_card
from recap.machine.rendering import render
from tests.learn_worlds import DEMO


def test_the_bundled_cards_are_what_the_templates_make() -> None:
    """Of models and of the dataset, byte by byte."""
    for name in ("checkpoint", "paper"):
        checkpoint = Checkpoint.load(DEMO / name)
        made = model_card(checkpoint.manifest, checkpoint.read_summary())
        assert made == (checkpoint.folder / "MODEL_CARD.md").read_text(encoding="utf-8"), name
    folder = DEMO / "dataset"
    assert dataset_card(Dataset.load(folder)) == (folder / "CARD.md").read_text(encoding="utf-8")


def test_a_group_without_cases_has_no_number() -> None:
    """It has a dash; a page with a hole in it is not written."""
    checkpoint = Checkpoint.load(DEMO / "checkpoint")
    summary, none = checkpoint.read_summary(), {"n": 0, **dict.fromkeys(("hr1", "hr20", "ndcg20", "mrr"))}
    summary["test"] = {"all": summary["test"]["all"], "tail": none}
    assert "| recap | tail | 0 | – | – | – | – |\n" in model_card(checkpoint.manifest, summary)
    with pytest.raises(UndefinedError, match="title"):
        render("model_card.md.j2", manifest={}, summary={})
