"""Pillow's ways to draw, kept as calls: the code that draws a map's PNG draws its SVG, which `vector.js` writes."""

import json
from functools import partialmethod
from typing import Any, Final

import numpy as np
from PIL import Image, ImageDraw


class SvgDraw:
    """Has the methods of `PIL.ImageDraw.ImageDraw` that maps use, and measures letters as Pillow does."""

    def __init__(self, size: tuple[int, int], ground: str) -> None:
        self._size = size
        self._calls: list[dict[str, Any]] = []
        self.textbbox: Final = ImageDraw.Draw(Image.new("1", (1, 1))).textbbox
        self._keep("rectangle", [0, 0, *size], fill=ground)

    def to_json(self, width: int) -> bytes:
        """What `vector.js` reads, for a picture so many pixels wide."""
        return json.dumps({"size": self._size, "width": width, "calls": self._calls}).encode()

    def _keep(self, kind: str, *rings: Any, **look: Any) -> None:
        points = [np.reshape(np.asarray(ring, dtype=float), (-1, 2)).round(1).tolist() for ring in rings]
        self._calls.append({"kind": kind, "rings": points} | look)

    line = partialmethod(_keep, "line")
    polygon = rings = partialmethod(_keep, "polygon")
    ellipse = partialmethod(_keep, "ellipse")
    rectangle = rounded_rectangle = partialmethod(_keep, "rectangle")

    def text(self, xy: Any, text: str, *, fill: str | None, font: Any, anchor: str) -> None:
        """As wide as Pillow writes it, whatever letters the reader has."""
        shift = np.subtract(font.getbbox(text, anchor=anchor), font.getbbox(text, anchor="ls"))[:2]
        wide = font.getlength(text)
        self._keep("text", np.add(xy, shift), text=text, fill=fill, letters=font.size, wide=wide)


Pen = ImageDraw.ImageDraw | SvgDraw


def blank(size: tuple[int, int], ground: str, *, svg: bool = False) -> tuple[Image.Image, Pen]:
    """An empty picture and its pen; with ``svg`` the pen has all of it."""
    image = Image.new("RGB", (1, 1) if svg else size, ground)
    return image, SvgDraw(size, ground) if svg else ImageDraw.Draw(image)
