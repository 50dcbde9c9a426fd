"""The words that lessons share: a text marks them, and they are put in here."""

from typing import Final

_MARKED: Final = {
    "step": "transition",
    "steps": "transitions",
    "Steps": "Transitions",
    "place": "place",
    "places": "places",
    "Places": "Places",
    "user": "user",
    "users": "users",
    "two_step": "two-hop",
    "two_steps": "two hops",
    "hop": "hop",
    "hops": "hops",
    "habit": "the revisit prior",
    "gate": "gate",
    "graph": "the graph token",
}


class Say:
    """Fills a lesson's texts."""

    def __call__(self, text: str, **values: object) -> str:
        """A sentence with its marked words and its values.

        >>> Say()("A {step} seen {n} times.", n=3)
        'A transition seen 3 times.'
        """
        return text.format(**_MARKED, **values)
