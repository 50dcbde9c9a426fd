"""A walk as a GIF that any program plays: one picture a step, all on one stretch of the map."""

import io
from typing import Final

from PIL import Image, ImageDraw

from analysis.figures.map_ground import SIZE, Ground, draw_ground, draw_text
from analysis.figures.map_image import draw_marks
from analysis.figures.palette import Palette
from analysis.figures.walk_marks import WalkMarks

MAX_STEPS: Final = 60
STEP_MS: Final = 1600
_COLOURS: Final = 128


def draw_walk_gif(
    steps: list[WalkMarks], ground: Ground, *, palette: Palette, total: int | None = None, step_ms: int = STEP_MS
) -> bytes:
    """One frame for each step's marks, which share a camera; of a longer walk the first 60 steps.

    Args:
        total: steps of the whole walk, where not all are given.

    Returns:
        a GIF of 760 x 540 pixels that starts again at its end.

    Raises:
        ValueError: no step.
    """
    if not steps:
        raise ValueError("a walk needs at least one step")
    shown = steps[:MAX_STEPS]
    base, _ = draw_ground(ground, shown[0].camera, palette)
    frames = [
        _frame(base, marks, f"{number} / {total or len(steps)}", palette) for number, marks in enumerate(shown, 1)
    ]
    colours = frames[-1].quantize(_COLOURS)  # one table of colours, so that what stays does not flicker
    first, *others = [frame.quantize(_COLOURS, palette=colours, dither=Image.Dither.NONE) for frame in frames]
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=others, duration=step_ms, loop=0, optimize=True)
    return buffer.getvalue()


def _frame(base: Image.Image, marks: WalkMarks, said: str, palette: Palette) -> Image.Image:
    image = base.copy()
    draw_marks(image, marks, palette)
    draw_text(ImageDraw.Draw(image), (70, 40), said, palette.quiet, 30)
    return image.resize(SIZE, Image.Resampling.LANCZOS)
