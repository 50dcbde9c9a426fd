"""Every size, switch and starting value of the model, as typed configuration."""

from typing import Literal, Self, TypedDict, cast

from pydantic import Field, model_validator

from recap.config import Config
from recap.evidence.config import EvidenceConfig


class PriorConfig(Config):
    """Starting values and bounds of the revisit prior (Eq. 9); the paper gives none of them."""

    scale: float = Field(1.0, description="lambda_prior at the start.")
    count_weight: float = Field(1.0, description="w_cnt at the start.")
    recency_weight: float = Field(1.0, description="w_rec at the start.")
    window_weight: float = Field(1.0, description="w_win at the start.")
    recency_steps: float = Field(10.0, gt=0, description="tau_rec at the start, in check-ins; kept positive.")
    max_prior: float = Field(10.0, gt=0, description="b_max, the largest prior a candidate can get.")
    use_count: bool = Field(True, description="False: w/o count.")
    use_recency: bool = Field(True, description="False: w/o recency.")
    use_window: bool = Field(True, description="False: w/o recent window.")


class ModelConfig(Config):
    """The architecture (paper, App. B.3) and its ablation switches."""

    poi_dim: int = Field(128, ge=1, le=4096, description="Size of a POI-ID embedding e_p.")
    category_dim: int = Field(32, ge=1, le=1024, description="Size of a category embedding a_p.")
    hidden_dim: int = Field(256, ge=4, le=4096, description="Transformer width.")
    num_layers: int = Field(2, ge=1, le=48, description="Transformer layers.")
    num_heads: int = Field(4, ge=1, le=256, description="Attention heads.")
    feedforward_dim: int = Field(512, ge=1, le=16384, description="Feed-forward width inside a layer.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Transformer dropout.")
    embedding_dropout: float = Field(0.3, ge=0, lt=1, description="Dropout on POI and category embeddings of a token.")
    output_dropout: float = Field(0.2, ge=0, lt=1, description="Dropout on h_t before scoring.")
    suffix_length: int = Field(10, ge=1, le=200, description="k, check-ins the Transformer sees.")
    within_trajectory: bool = Field(False, description="Keep the suffix inside the current trajectory.")
    state: Literal["last_checkin", "graph", "user", "mean"] = Field(
        "last_checkin", description="Which encoder output is the prediction state h_t."
    )
    core_scope: Literal["everywhere", "unvisited", "nowhere"] = Field(
        "everywhere",
        description="unvisited: the core scores places the user has not been to, and is 0 elsewhere. nowhere: it "
        "scores none, and its state h_t acts through the correction and the weights of the evidence alone.",
    )
    use_graph: bool = Field(True, description="False: w/o Graph, the graph token's slot is removed.")
    num_hops: int = Field(2, ge=1, le=8, description="N, propagation steps of the graph token.")
    graph_dim: int = Field(256, ge=1, le=4096, description="Hidden width of the graph token's MLP.")
    graph_dropout: float = Field(0.1, ge=0, lt=1, description="Dropout on the graph token.")
    use_history: bool = Field(True, description="False: w/o History, no prior and no correction.")
    recent_window: int = Field(10, ge=0, le=100000, description="L_win, check-ins of the recent window.")
    max_candidates: int = Field(256, ge=1, le=100000, description="Most recently visited candidates kept for one case.")
    calibration_dim: int = Field(128, ge=1, le=4096, description="Hidden width of the contextual calibration.")
    detach_context: bool = Field(
        False, description="Stop gradients of the calibration at h_t and e_d, so that they train the calibration alone."
    )
    use_future_time: bool = Field(
        False, description="Feed the target's hour and weekday (Appendix, time-specific recommendation)."
    )
    prior: PriorConfig = Field(default_factory=lambda: PriorConfig(), description="The revisit prior.")
    evidence: EvidenceConfig | None = Field(
        None, description="Beyond the paper: named evidence added to the score; none leaves it out."
    )

    @property
    def weighs_evidence_alone(self) -> bool:
        """Whether the network says how much each clue counts, and scores no place by itself."""
        return self.evidence is not None and self.evidence.weighing is not None and self.core_scope == "nowhere"

    @property
    def reads_state(self) -> bool:
        """Whether anything of the score reads h_t; where nothing does, check-ins act through the clues alone."""
        weighing = None if self.evidence is None else self.evidence.weighing
        return self.core_scope != "nowhere" or self.use_history or (weighing is not None and weighing.reads_state)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.hidden_dim % self.num_heads:
            raise ValueError(f"hidden_dim {self.hidden_dim} must be a multiple of num_heads {self.num_heads}")
        if self.state == "graph" and not self.use_graph:
            raise ValueError("state 'graph' needs use_graph")
        return self


class StageValues(TypedDict):
    """A `Stage` as JSON, in lines of metrics.jsonl and in the resume state."""

    graph_weight: float
    prior: bool
    correction: bool
    warm_weight: float
    backbone_lr_scale: float


class Stage(Config):
    """Which parts act, and how strongly, at one epoch (Algorithm 1)."""

    graph_weight: float = Field(1.0, ge=0, le=1, description="Factor on the graph token; 0 is inactive.")
    prior: bool = Field(True, description="R_t is added, and the evidence of a model that has it.")
    correction: bool = Field(True, description="Delta_t is added.")
    warm_weight: float = Field(0.0, ge=0, description="lambda_warm(e).")
    backbone_lr_scale: float = Field(1.0, gt=0, description="Factor on the backbone's learning rate.")

    def as_json(self) -> StageValues:
        """Every field by name."""
        return cast(StageValues, self.model_dump())

    def inactive_parts(self, model: ModelConfig) -> list[str]:
        """Names of score parts and inputs that play no role at this stage, for honest displays."""
        inactive = []
        if not model.use_graph or self.graph_weight == 0:
            inactive.append("graph_token")
        if not model.use_history or not self.prior:
            inactive.append("prior")
        if not model.use_history or not self.correction:
            inactive.append("correction")
        if model.evidence is not None and not self.prior:
            inactive.append("evidence")
        return inactive
