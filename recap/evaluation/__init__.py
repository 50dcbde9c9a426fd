"""From scores to ranks, records and metrics."""
