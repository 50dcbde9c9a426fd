"""RECAP (paper, Sec. 3): one module for each part."""
