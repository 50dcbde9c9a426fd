"""A model is called the paper's only where its configuration has the paper's parts."""

import pytest
from recap.evidence.config import EvidenceConfig, WeighingConfig

from recap.model.config import ModelConfig, PriorConfig
from recap.model.variant import variant_name
from recap.presets import train_preset


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (train_preset("nyc").model, "RECAP with the paper's parts and sizes"),
        (train_preset("quick").model, "RECAP with the paper's parts, at other sizes"),
        (train_preset("demo").model, "RECAP with evidence terms"),
        (ModelConfig(num_hops=3), "RECAP changed: num_hops is 3"),
        (ModelConfig(use_history=False, state="graph"), "RECAP changed: without the revisit prior, state is graph"),
        (ModelConfig(prior=PriorConfig(use_count=False)), "RECAP changed: prior.use_count is False"),
        (
            ModelConfig(evidence=EvidenceConfig(), use_graph=False),
            "RECAP with evidence terms, changed: without the graph branch",
        ),
        (
            train_preset("recap_weighed").model,
            "a network over clues alone, without RECAP's encoder, graph, prior and scores",
        ),
        (
            ModelConfig(evidence=EvidenceConfig(), core_scope="nowhere", use_history=False),
            "a sum of clues alone, without RECAP's encoder, graph, prior and scores",
        ),
        (
            ModelConfig(evidence=EvidenceConfig(weighing=WeighingConfig()), core_scope="nowhere", use_graph=False),
            "RECAP whose network weighs the evidence, without the graph branch, without a score of its own",
        ),
    ],
)
def test_names(config: ModelConfig, name: str) -> None:
    """Parts decide whether the paper is named at all, sizes how."""
    assert variant_name(config) == name
