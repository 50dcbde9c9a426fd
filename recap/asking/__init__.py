"""Open a model and ask it: about cases, edited cases, new users, and what comes next."""
