"""Small computations that know nothing of check-ins: ragged ranges, sparse products, dropout masks, distances."""
