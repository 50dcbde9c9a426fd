"""A model's name in words, from its configuration."""

from typing import Final

from recap.model.config import ModelConfig

_SWITCHES: Final = {
    ("use_graph", False): "without the graph token",
    ("use_history", False): "without the user's history",
    ("use_correction", False): "without the correction",
}
_PAPER_VALUES: Final = ("num_hops", "suffix_length", "recent_window", "use_future_time")
_PRIOR_SWITCHES: Final = {
    "use_count": "the visit count",
    "use_recency": "recency",
    "use_window": "the recent window",
}
_SIZES: Final = (
    "poi_dim",
    "category_dim",
    "hidden_dim",
    "num_layers",
    "num_heads",
    "feedforward_dim",
    "graph_dim",
    "calibration_dim",
)


def variant_name(config: ModelConfig) -> str:
    """The model in words, to begin a sentence with.

    >>> variant_name(ModelConfig())
    'RECAP as in the paper'
    >>> variant_name(ModelConfig(hidden_dim=128, use_graph=False))
    'RECAP as in the paper, smaller or larger, without the graph token'
    """
    paper = ModelConfig()
    if config.has_curves and not config.has_encoder:
        return "Feature curves alone"
    said = ["RECAP with learned curves" if config.has_curves else "RECAP as in the paper"]
    if not config.has_curves and any(getattr(config, name) != getattr(paper, name) for name in _SIZES):
        said.append("smaller or larger")
    said += [words for (name, value), words in _SWITCHES.items() if getattr(config, name) == value]
    if config.core_scope != ("unvisited" if config.has_curves else "everywhere"):
        said.append({"nowhere": "without a core"}.get(config.core_scope, f"the core scores {config.core_scope} places"))
    said += [f"{name} = {getattr(config, name)}" for name in _PAPER_VALUES if _differs(config, paper, name)]
    said += [f"without {words}" for name, words in _PRIOR_SWITCHES.items() if not getattr(config.prior, name)]
    return ", ".join(said)


def _differs(config: ModelConfig, paper: ModelConfig, name: str) -> bool:
    value: object = getattr(config, name)
    return value != getattr(paper, name)
