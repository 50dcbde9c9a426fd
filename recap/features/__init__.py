"""Named features of the next place."""
