"""Words of a lesson in each register: a sentence is written once, its marked words follow the reader."""

from dataclasses import dataclass
from typing import Final

from analysis.registers import Words

_MARKED: Final = {
    # mark: (plain, the paper's)
    "step": ("step", "transition"),
    "steps": ("steps", "transitions"),
    "Steps": ("Steps", "Transitions"),
    "place": ("place", "POI"),
    "places": ("places", "POIs"),
    "Places": ("Places", "POIs"),
    "walker": ("walker", "user"),
    "walkers": ("walkers", "users"),
    "two_step": ("two-step", "two-hop"),
    "two_steps": ("two steps", "two hops"),
    "hop": ("step", "hop"),
    "hops": ("steps", "hops"),
    "habit": ("habit", "the revisit prior"),
    "gate": ("time factor", "gate"),
    "graph": ("its view of where people go", "the graph token"),
}


@dataclass(frozen=True)
class Say:
    """Says sentences to one kind of reader; numbers are put in last and are the same for all."""

    words: Words

    def __call__(self, text: str, **values: object) -> str:
        """A sentence with its marked words and its values.

        >>> Say(Words("student"))("A {step} seen {n} times.", n=3)
        'A step seen 3 times.'
        >>> Say(Words("researcher"))("A {step} seen {n} times.", n=3)
        'A transition seen 3 times.'
        """
        at = 0 if self.words.is_plain else 1
        return text.format(**{mark: pair[at] for mark, pair in _MARKED.items()}, **values)
