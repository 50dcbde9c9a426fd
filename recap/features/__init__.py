"""Named features of the next place, from the user's past and other users' check-ins."""
