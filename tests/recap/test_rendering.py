"""Templates: what is escaped, what is refused, and that the cards of the demo city are those that are hashed."""

import json
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("name", ["checkpoint", "without-holdout"])
def test_the_bundled_model_card_is_what_the_template_makes(name: str) -> None:
    """Byte by byte, but for options that are younger than the card, which SHA256SUMS covers."""
    checkpoint = Checkpoint.load(DEMO / name)
    card = (checkpoint.folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    made = model_card(checkpoint.manifest, checkpoint.read_summary())
    (head, config), (made_head, made_config) = text_and_configuration(card), text_and_configuration(made)
    assert made_head == head
    younger = {path for path in made_config if path not in config}
    assert younger == {
        "select_on",
        "sampled_softmax",
        "validation_cases",
        "test_cases",
        "model.evidence.sessions",
        "model.evidence.burst_minutes",
        "model.evidence.habits",
        "model.evidence.surroundings",
        "model.evidence.weighing",
        "model.evidence.others_popularity",
        "optimiser.weighing_learning_rate",
        "optimiser.weighing_penalty",
        "optimiser.weighing_decay",
        "optimiser.schedule",
    }
    assert {path: made_config[path] for path in config} == config


def text_and_configuration(card: str) -> tuple[str, dict[str, Any]]:
    """A card around its configuration, and the configuration's values by dotted path."""
    before, _, rest = card.partition("```json\n")
    block, _, after = rest.partition("```")

    def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in values.items():
            found |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
        return found

    return before + after, flat(json.loads(block))


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
