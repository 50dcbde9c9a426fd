"""Named additive evidence for the next POI, for the `evidence` ranker and for models."""

from recap.evidence.features import DENSE_FEATURES, Evidence, EvidenceConfig, EvidenceFeatures

__all__ = ["DENSE_FEATURES", "Evidence", "EvidenceConfig", "EvidenceFeatures"]
