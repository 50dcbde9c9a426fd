"""Invented names for venues, unique within a city: names.toml holds their words and the patterns of each category."""

import tomllib
from pathlib import Path
from typing import Any, Final

from recap.data.synthetic.draws import Draws

_NAMES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
_STEMS, _SURNAMES, _ADJECTIVES, _NOUNS, _STREETS, _WAYS = (
    tuple(_NAMES[kind].split()) for kind in ("stems", "surnames", "adjectives", "nouns", "streets", "ways")
)


def draw_name(category: str, district: str, taken: set[str], draws: Draws) -> str:
    """A new name for a venue; it is added to `taken`."""
    patterns = _NAMES["patterns"][category]
    for attempt in range(200):
        name = str(patterns[draws.below(len(patterns))]).format(
            a=_ADJECTIVES[draws.below(len(_ADJECTIVES))],
            n=_NOUNS[draws.below(len(_NOUNS))],
            s=_STEMS[draws.below(len(_STEMS))],
            p=_SURNAMES[draws.below(len(_SURNAMES))],
            q=_SURNAMES[draws.below(len(_SURNAMES))],
            r=_STREETS[draws.below(len(_STREETS))],
            w=_WAYS[draws.below(len(_WAYS))],
            d=district,
        )
        if attempt > 20:
            name = f"{name}, {_STREETS[draws.below(len(_STREETS))]} {_WAYS[draws.below(len(_WAYS))]}"
        if name not in taken:
            taken.add(name)
            return name
    raise AssertionError(f"no name left for {category} in {district}")
