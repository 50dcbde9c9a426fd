"""The case explanation: one typed object behind every rendering (page, JSON, report, notebook)."""

from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from recap.config import Config

Role = Literal["truth", "model", "other"]
"""What a place is in a comparison of two: the true next place, a prediction, one more prediction beside it."""


class ScoreDecomposition(Config):
    """The score of one candidate as an exact sum.

    ``prior = count + recency + window - clip_loss``; ``residual = total - (core + prior + correction + evidence)``,
    where total is what the batched evaluation ranks by and the parts are recomputed on their own in float64.
    """

    poi: int
    name: str
    category: str
    rank: float = Field(description="1 is best; the mean rank where totals are equal.")
    probability: float = Field(description="Softmax of the totals over all POIs.")
    core: float
    count: float
    recency: float
    window: float
    clip_loss: float
    prior: float
    gate: float | None = Field(description="None where the correction does not act on this candidate.")
    correction: float
    evidence: float = Field(0.0, description="E_t(d) of a model with additive evidence; 0 in the paper's model.")
    evidence_terms: dict[str, float] = Field(
        default_factory=dict, description="The evidence by feature; terms that are 0 are left out."
    )
    total: float
    residual: float

    @model_serializer(mode="wrap")
    def _without_absent_evidence(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The paper's model has no evidence, and its score parts do not speak of any."""
        values: dict[str, Any] = handler(self)
        return values if self.evidence_terms else {k: v for k, v in values.items() if not k.startswith("evidence")}

    @property
    def is_clipped(self) -> bool:
        """The clip to [0, b_max] binds, so that count, recency and window do not add up to the prior."""
        return self.clip_loss != 0.0


class PathTerms(Config):
    """One two-hop path source -> middle -> target over training transitions."""

    middle: int
    name: str
    count_in: int
    count_out: int
    p_in: float
    p_out: float
    product: float
    share: float
    addend: float | None = Field(
        None,
        description="What the path adds to the score of its destination in a model with additive evidence, where the "
        "user's own transitions do not count; None in the paper's model.",
    )

    @model_serializer(mode="wrap")
    def _without_absent_addend(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        return values if self.addend is not None else {k: v for k, v in values.items() if k != "addend"}


class CaseExplanation(Config):
    """Why one test case was predicted as it was."""

    case: int
    user: int
    source: int
    source_name: str
    target: int
    target_name: str
    target_rank: float
    transition_count: int
    in_history: bool
    within_two_hops: bool
    two_step_walk: bool
    inactive: list[str] = Field(description="Parts that play no role at this checkpoint's epoch.")
    candidates: list[ScoreDecomposition]
    paths: list[PathTerms]
    a2_source_target: float
    dataset_hash: str
    checkpoint_hash: str
