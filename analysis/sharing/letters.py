"""Text on pictures: wrapped lines in a font that knows the letters, or plain ones where there is none."""

import unicodedata
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from PIL import ImageDraw, ImageFont

from recap.printable import one_line

_PLAIN: Final = {"−": "-", "→": "->", "×": "x", "–": "-", "·": "-", "≥": ">=", "…": "..."}
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


class Letters:
    """Fonts of one file, or Pillow's own.

    Args:
        path: a font file, variable or not; None for Pillow's own, which knows no accents.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._font = lru_cache(maxsize=32)(self._load)

    def font(self, size: int, *, bold: bool = False) -> Font:
        """A font of a size in pixels."""
        return self._font(size, bold)

    def fit(self, text: str) -> str:
        """The text in letters that the font knows."""
        text = one_line(text)
        if self._path is not None:
            return text
        decomposed = unicodedata.normalize("NFKD", "".join(_PLAIN.get(letter, letter) for letter in text))
        return decomposed.encode("ascii", "ignore").decode()

    def paragraph(
        self,
        draw: ImageDraw.ImageDraw,
        at: tuple[float, float],
        text: str,
        *,
        size: int,
        colour: str,
        width: float,
        bold: bool = False,
        most: int = 4,
    ) -> float:
        """Draw wrapped text, at most so many lines; returns where the next paragraph may start."""
        font = self.font(size, bold=bold)
        lines = _wrap(draw, self.fit(text), font, width)
        if len(lines) > most:
            lines = [*lines[: most - 1], lines[most - 1].rstrip(".,; ") + self.fit("…")]
        y = at[1]
        for line in lines:
            draw.text((at[0], y), line, fill=colour, font=font)
            y += size * 1.22
        return y

    def _load(self, size: int, bold: bool) -> Font:
        if self._path is None:
            return ImageFont.load_default(size)
        font = ImageFont.truetype(str(self._path), size)
        with suppress(OSError):  # a font of one weight
            font.set_variation_by_name("Semibold" if bold else "Regular")
        return font


def _wrap(draw: ImageDraw.ImageDraw, text: str, font: Font, width: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and draw.textlength(longer, font=font) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
