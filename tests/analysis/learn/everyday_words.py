"""Long words that need no glossary: everybody uses them. A new long word in a lesson goes here or into the glossary."""

from typing import Final

EVERYDAY: Final = frozenset(
    (
        "another",
        "anybody",
        "average",
        "decimal",
        "difference",
        "estimate",
        "however",
        "identify",
        "nobody",
        "otherwise",
        "popular",
        "together",
    )
)
