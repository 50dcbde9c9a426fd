"""Typed configuration of the model."""

from typing import ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from recap.config import Config

MAX_CANDIDATES: Final = 256
"""Most recently visited places that the paper's prior keeps for one case."""
MAX_PRIOR: Final = 10.0
"""b_max, the largest value of the paper's prior."""


class AnyValue:
    """Contains every value: for a field that no longer matters."""

    def __contains__(self, value: object) -> bool:
        return True


class PriorConfig(Config):
    """The revisit prior R_t: the paper's three terms (Eq. 9) or curves. The paper does not give starting values."""

    kind: Literal["paper", "curves"] = Field(
        "paper", description="paper: Eq. 9. curves: a learned curve for each named feature (docs/explanations.md)."
    )
    start: Literal["zero", "pretrained"] = Field(
        "zero", description="Where curves start: at zero, or at the pretrained ones, which then hold them."
    )
    given_time: bool = Field(
        False,
        description="Curves that read the time of the next check-in: where at a given time (docs/explanations.md).",
    )
    count_weight: float = Field(1.0, description="w_cnt at the start.")
    recency_steps: float = Field(10.0, gt=0, description="tau_rec at the start, in check-ins; kept positive.")
    use_count: bool = Field(True, description="False: w/o count.")
    use_recency: bool = Field(True, description="False: w/o recency.")
    use_window: bool = Field(True, description="False: w/o recent window.")

    retired: ClassVar = {
        "scale": AnyValue(),
        "recency_weight": AnyValue(),
        "window_weight": AnyValue(),
        "max_prior": (10.0,),
    }


class ModelConfig(Config):
    """The architecture (paper, App. B.3) and its ablation switches."""

    poi_dim: int = Field(128, ge=1, le=4096, description="Size of a POI-ID embedding e_p.")
    category_dim: int = Field(32, ge=1, le=1024, description="Size of a category embedding a_p.")
    hidden_dim: int = Field(256, ge=4, le=4096, description="Transformer width.")
    num_layers: int = Field(2, ge=1, le=48, description="Transformer layers.")
    num_heads: int = Field(4, ge=1, le=256, description="Attention heads.")
    feedforward_dim: int = Field(512, ge=1, le=16384, description="Feed-forward width inside a layer.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the Transformer and the graph token.")
    embedding_dropout: float = Field(0.3, ge=0, lt=1, description="Dropout on POI and category embeddings of a token.")
    output_dropout: float = Field(0.2, ge=0, lt=1, description="Dropout on h_t before scoring.")
    suffix_length: int = Field(10, ge=1, le=200, description="k, check-ins the Transformer sees.")
    core_scope: Literal["everywhere", "unvisited", "nowhere"] = Field(
        "everywhere",
        description="Where the core scores: everywhere, only at places new to the user, or nowhere (no core).",
    )
    use_graph: bool = Field(True, description="False: w/o Graph, the graph token's slot is removed.")
    num_hops: int = Field(2, ge=1, le=8, description="N, propagation steps of the graph token.")
    graph_dim: int = Field(256, ge=1, le=4096, description="Hidden width of the graph token's MLP.")
    use_history: bool = Field(
        True, description="False: w/o History, no past visits, no times of day and no correction."
    )
    use_correction: bool = Field(True, description="False: w/o Correction.")
    recent_window: int = Field(10, ge=0, le=100000, description="L_win, check-ins of the recent window.")
    calibration_dim: int = Field(128, ge=1, le=4096, description="Hidden width of the contextual calibration.")
    use_future_time: bool = Field(
        False, description="Feed the target's hour and weekday (Appendix, time-specific recommendation)."
    )
    prior: PriorConfig = Field(default_factory=lambda: PriorConfig(), description="The revisit prior.")

    retired: ClassVar = {
        "evidence": (None,),  # words: key of earlier files
        "state": ("last_checkin",),
        "within_trajectory": (False,),
        "detach_context": (False,),
        "graph_dropout": AnyValue(),
        "max_candidates": (MAX_CANDIDATES,),
    }

    @property
    def has_curves(self) -> bool:
        return self.prior.kind == "curves"

    @property
    def reads_target_time(self) -> bool:
        """Whether it needs the time of the next check-in."""
        return self.use_future_time or (self.has_curves and self.prior.given_time)

    @property
    def has_core(self) -> bool:
        return self.core_scope != "nowhere"

    @property
    def has_correction(self) -> bool:
        return self.use_history and self.use_correction

    @property
    def has_encoder(self) -> bool:
        """Whether anything reads the prediction state h_t."""
        return self.has_core or self.has_correction

    @property
    def has_token(self) -> bool:
        return self.use_graph and self.has_encoder

    @property
    def has_prior(self) -> bool:
        """Whether there is an R_t. Without the history, curves of other features remain."""
        return self.use_history or self.has_curves

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.hidden_dim % self.num_heads:
            raise ValueError(f"hidden_dim {self.hidden_dim} must be a multiple of num_heads {self.num_heads}")
        if not self.has_core and not self.has_prior:
            raise ValueError("core_scope=nowhere and use_history=false leave nothing that scores")
        return self


class Stage(Config):
    """Which parts act at one epoch, and how strongly (Algorithm 1)."""

    graph_weight: float = Field(1.0, ge=0, le=1, description="Factor on the graph token; 0 is inactive.")
    prior: bool = Field(True, description="R_t is added.")
    correction: bool = Field(True, description="Delta_t is added.")
    warm_weight: float = Field(0.0, ge=0, description="lambda_warm(e).")
    backbone_lr_scale: float = Field(1.0, gt=0, description="Factor on the backbone's learning rate.")

    def inactive_parts(self, model: ModelConfig) -> list[str]:
        """Parts and inputs that are inactive."""
        active = {
            "graph_token": model.has_token and self.graph_weight > 0,
            "prior": model.has_prior and self.prior,
            "correction": model.has_correction and self.correction,
        }
        return [part for part, is_active in active.items() if not is_active]
