"""Algorithm 1: staged training of RECAP with exact resume."""
