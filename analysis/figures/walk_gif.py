"""A walk as a GIF that any program plays: one picture a step, all on one stretch of the map."""

import io
from typing import Final

from PIL import Image, ImageDraw

from analysis.figures.map_ground import SIZE, Ground, draw_ground, draw_text
from analysis.figures.map_image import draw_marks
from analysis.figures.palette import Palette, mix, rgb
from analysis.figures.walk_marks import WalkMarks

MAX_STEPS: Final = 60
STEP_MS: Final = 1600
_GROUND_COLOURS: Final = 128


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
    colours = _colours(base, palette)
    first, *others = [frame.quantize(palette=colours, dither=Image.Dither.NONE) for frame in frames]
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=others, duration=step_ms, loop=0, optimize=True)
    return buffer.getvalue()


def _colours(base: Image.Image, palette: Palette) -> Image.Image:
    """One table of colours for all frames, so that what stays does not flicker.

    The marks' own colours, and their way to the ground at rims, are in it as they are: chosen by how many pixels have
    them, the ring around the truth would go brown with the walker's dots.
    """
    hues = [palette.model, palette.truth, palette.revisits, palette.paths]
    marks = [colour for hue in hues for colour in (hue.fill, hue.text)] + [palette.ink, palette.quiet, palette.page]
    shades = [mix(colour, palette.land, share) for colour in marks for share in (1.0, 0.75, 0.5, 0.25)]
    ground = base.resize(SIZE).quantize(_GROUND_COLOURS).getpalette() or []
    table = Image.new("P", (1, 1))
    table.putpalette([*(value for shade in shades for value in rgb(shade)[:3]), *ground[: 3 * _GROUND_COLOURS]])
    return table


def _frame(base: Image.Image, marks: WalkMarks, said: str, palette: Palette) -> Image.Image:
    image = base.copy()
    draw_marks(image, marks, palette)
    draw_text(ImageDraw.Draw(image), (70, 40), said, palette.quiet, 30)
    return image.resize(SIZE, Image.Resampling.LANCZOS)
