"""Named additive evidence for the next POI, for the `evidence` ranker and for models."""

from recap.evidence.features import DENSE_FEATURES, Evidence, EvidenceConfig, EvidenceFeatures
from recap.evidence.others import EdgeEdits
from recap.evidence.two_hop import TwoStepWalks, two_step_walks

__all__ = [
    "DENSE_FEATURES",
    "EdgeEdits",
    "Evidence",
    "EvidenceConfig",
    "EvidenceFeatures",
    "TwoStepWalks",
    "two_step_walks",
]
