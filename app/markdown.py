"""Text from data made harmless before it meets Markdown."""

import re
from typing import Final

_MARKUP: Final = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&\"'^=])")


def escape(text: str) -> str:
    """Text from data, escaped so that Markdown shows it as it is: no link, image, formula, badge or tag.

    >>> print(escape("[a](b)"))
    \\[a\\]\\(b\\)
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
