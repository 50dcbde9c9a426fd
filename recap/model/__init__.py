"""RECAP (paper, Sec. 3): one module for each part, named by what it computes."""
