"""Fonts for pictures that are drawn without a browser."""

import unicodedata
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from PIL import ImageFont

from recap.machine.printable import one_line

_PLAIN: Final = {"−": "-", "→": "->", "×": "x", "–": "-", "·": "-", "≥": ">=", "…": "..."}
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


class Letters:
    """Fonts of one file, or Pillow's own.

    Args:
        path: a font file; None for Pillow's own, which knows no accents.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._font = lru_cache(maxsize=32)(self._load)

    def font(self, size: int, *, bold: bool = False) -> Font:
        return self._font(size, bold)

    def fit(self, text: str) -> str:
        """The text in letters that the font knows.

        >>> Letters().fit("Café → 9 km")
        'Cafe -> 9 km'
        """
        text = one_line(text)
        if self._path is not None:
            return text
        decomposed = unicodedata.normalize("NFKD", "".join(_PLAIN.get(letter, letter) for letter in text))
        return decomposed.encode("ascii", "ignore").decode()

    def _load(self, size: int, bold: bool) -> Font:
        if self._path is None:
            return ImageFont.load_default(size)
        font = ImageFont.truetype(str(self._path), size)
        with suppress(OSError):  # a font of one weight
            font.set_variation_by_name("Semibold" if bold else "Regular")
        return font
