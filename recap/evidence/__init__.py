"""Named additive evidence for the next POI, for the `evidence` ranker and for models."""
