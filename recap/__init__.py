"""RECAP: next-place prediction that rebuilds rare transitions from two-hop paths and the user's own revisits."""
