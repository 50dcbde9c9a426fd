"""What a configuration is called: the paper's model only where its parts are the paper's."""

from typing import Final

from recap.model.config import ModelConfig

_PARTS: Final = (
    "use_graph",
    "num_hops",
    "use_history",
    "state",
    "core_scope",
    "suffix_length",
    "recent_window",
    "within_trajectory",
    "use_future_time",
)
_IN_WORDS: Final = {
    ("use_graph", False): "without the graph branch",
    ("use_history", False): "without the revisit prior",
    ("core_scope", "nowhere"): "without a score of its own",
    ("core_scope", "unvisited"): "with a score of its own for new places alone",
}
_PRIOR_PARTS: Final = ("use_count", "use_recency", "use_window")
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
    """The model in words, as the subject of "Shown is".

    >>> variant_name(ModelConfig())
    "RECAP with the paper's parts and sizes"
    >>> variant_name(ModelConfig(hidden_dim=128))
    "RECAP with the paper's parts, at other sizes"
    >>> variant_name(ModelConfig(use_graph=False))
    'RECAP changed: without the graph branch'
    """
    paper = ModelConfig()
    changed = [
        _IN_WORDS.get((name, getattr(config, name)), f"{name} is {getattr(config, name)}")
        for name in _PARTS
        if getattr(config, name) != getattr(paper, name)
    ]
    changed += [
        f"prior.{name} is {getattr(config.prior, name)}"
        for name in _PRIOR_PARTS
        if getattr(config.prior, name) != getattr(paper.prior, name)
    ]
    if config.evidence is not None and not config.reads_state:
        has_network = config.evidence.weighing is not None and config.evidence.weighing.network is not None
        kind = "network over" if has_network else "sum of"
        return f"a {kind} clues alone, without RECAP's encoder, graph, prior and scores"
    if config.evidence is not None and config.evidence.weighing is not None:
        return ", ".join(["RECAP whose network weighs the evidence", *changed])
    if changed:
        name = "RECAP with evidence terms, changed" if config.evidence is not None else "RECAP changed"
        return f"{name}: {', '.join(changed)}"
    if config.evidence is not None:
        return "RECAP with evidence terms"
    if any(getattr(config, name) != getattr(paper, name) for name in _SIZES):
        return "RECAP with the paper's parts, at other sizes"
    return "RECAP with the paper's parts and sizes"
