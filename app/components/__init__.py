"""Pieces of views that are used by more than one, or that would make one too long."""
