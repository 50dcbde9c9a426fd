"""Named features of the next place: what the user's past and other users' check-ins say about each candidate."""
