"""A model is called the paper's only where its configuration has the paper's parts."""

import pytest

from recap.model.config import ModelConfig, PriorConfig
from recap.model.variant import variant_name
from recap.presets import train_preset

CURVES = PriorConfig(kind="curves")


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (train_preset("paper").model, "RECAP as in the paper"),
        (train_preset("recap").model, "RECAP with learned curves, without the correction"),
        (train_preset("feature_curves").model, "Feature curves alone"),
        (ModelConfig(hidden_dim=128), "RECAP as in the paper, smaller or larger"),
        (ModelConfig(num_hops=3), "RECAP as in the paper, num_hops = 3"),
        (ModelConfig(core_scope="nowhere"), "RECAP as in the paper, without a core"),
        (ModelConfig(core_scope="unvisited"), "RECAP as in the paper, the core scores unvisited places"),
        (ModelConfig(use_history=False), "RECAP as in the paper, without the user's history"),
        (ModelConfig(prior=PriorConfig(use_count=False)), "RECAP as in the paper, without the visit count"),
        (ModelConfig(prior=CURVES), "RECAP with learned curves, the core scores everywhere places"),
        (
            ModelConfig(prior=CURVES, core_scope="unvisited", use_graph=False),
            "RECAP with learned curves, without the graph token",
        ),
    ],
)
def test_names(config: ModelConfig, name: str) -> None:
    """Parts decide whether the paper is named at all, sizes how."""
    assert variant_name(config) == name
