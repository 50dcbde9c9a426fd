"""How the evidence ranker is fitted, and where a fitted one is kept; knows no torch, so that asking costs nothing."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Final

from pydantic import Field

from recap.config import Config
from recap.errors import RecapError
from recap.evidence.config import EvidenceConfig
from recap.storage.user_folder import user_subfolder

FORMAT_VERSION: Final = 3
"""Of the saved file; also part of the cache key, so it must grow when a feature changes its meaning."""
MOST_PLACES: Final = 20_000
"""Up to here the ranker is fitted unasked: a fit holds a number for each source and place, so memory grows with their
product, 1.6 GB at most."""


class EvidenceRankerConfig(Config):
    """How the evidence ranker is fitted."""

    features: EvidenceConfig = Field(default_factory=lambda: EvidenceConfig(), description="Time scales.")
    latest_share: float = Field(
        0.25,
        gt=0,
        le=1,
        description="Share of the training cases to fit on, the latest: they are most like what comes.",
    )
    num_cases: int = Field(40_000, ge=1, description="Drawn at random from these; all where there are fewer.")
    num_candidates: int = Field(
        1_000_000,
        ge=1,
        description="Candidates that the drawn cases may have together, about: memory and time grow with them.",
    )
    l2: float = Field(1e-5, ge=0, description="Penalty on squared weights, per standard deviation of their feature.")
    max_iterations: int = Field(150, ge=1, description="L-BFGS iterations at most.")


def cache_file(dataset_hash: str, config: EvidenceRankerConfig, seed: int) -> Path | None:
    """Where a fitted ranker is kept: named after data, configuration, seed and code version; None without a cache."""
    key = json.dumps([dataset_hash, config.model_dump(mode="json"), seed, FORMAT_VERSION, version("recap-mobility")])
    try:
        return user_subfolder("cache") / f"evidence-{hashlib.sha256(key.encode()).hexdigest()[:16]}.safetensors"
    except RecapError:
        return None


def is_fitted(dataset_hash: str) -> bool:
    """Whether the ranker `evidence` was fitted on a dataset before, so that it only has to rank."""
    path = cache_file(dataset_hash, EvidenceRankerConfig(), 0)
    return path is not None and path.is_file()
