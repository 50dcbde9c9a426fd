"""From scores to ranks, records and metrics; knows `score(batch) -> Scores` and no model."""
