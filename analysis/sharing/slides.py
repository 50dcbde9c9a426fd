"""A shared page as a deck of PNGs: for each case where they were, what the model said, why, and what would change it.

Everything is drawn from `SharedPage` alone, and the files hold nothing but pixels: no text chunk, no time. The last
slide says what was done to be shared.
"""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw

from analysis.figures.palette import LIGHT, Palette
from analysis.formatting import chance, ordinal, signed_points
from analysis.sharing.case_map import case_map
from analysis.sharing.letters import Letters
from analysis.sharing.share import projection_of
from analysis.sharing.shared_case import SharedCase, SharedPage
from analysis.sharing.slide_map import draw_slide_map

SIZE: Final = (1920, 1080)
_MARGIN: Final = 110
_MAP: Final = (_MARGIN, 330, 1090, 640)  # left, top, width, height
_FEW: Final = 5


@dataclass(frozen=True)
class Slide:
    """One picture before it is drawn: a sentence, at most three numbers, and lines or a map."""

    title: str
    numbers: list[tuple[str, str]]
    lines: list[str]
    case: SharedCase | None
    with_paths: bool = False
    with_answers: bool = True


def draw_slides(page: SharedPage, *, palette: Palette = LIGHT, font: Path | None = None) -> dict[str, bytes]:
    """Every slide as a PNG of 1920 x 1080 pixels, by file name.

    Args:
        font: a font file that knows the names' letters; without one, accents are left out.
    """
    letters = Letters(font)
    slides = [slide for case in page.cases for slide in case_slides(case, page)]
    slides.append(_last(page))
    return {
        f"{at:02d}.png": _draw(slide, page, palette, letters, f"{at} of {len(slides)}")
        for at, slide in enumerate(slides, start=1)
    }


def deck_zip(page: SharedPage, *, palette: Palette = LIGHT, font: Path | None = None) -> bytes:
    """All slides in one ZIP file; its entries carry no time of their own."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, png in draw_slides(page, palette=palette, font=font).items():
            archive.writestr(zipfile.ZipInfo(name), png)
    return buffer.getvalue()


def draw_case_image(page: SharedPage, *, palette: Palette = LIGHT, font: Path | None = None) -> bytes:
    """The map of the page's first case alone, 1520 x 1080 pixels; the ground alone where the case has no point."""
    drawn = case_map(page.cases[0], page.places, projection_of(page))
    size = (1520, 1080)
    if drawn is None:
        return _png(Image.new("RGB", size, palette.land))
    return _png(draw_slide_map(drawn, page.ground, palette, Letters(font), size))


def case_slides(case: SharedCase, page: SharedPage) -> Iterator[Slide]:
    """The four slides of a case."""
    source, target = page.place(case.source).name, page.place(case.target).name
    a, b = case.contrast.a, case.contrast.b
    yield Slide(
        title=f"{case.walker} is at {source}.",
        numbers=[("When", case.when), ("Places to choose from", f"{case.num_places:,}")],
        lines=[],
        case=case,
        with_answers=False,
    )
    yield Slide(
        title=case.headline.text,
        numbers=[
            (f"Rank of {case.num_places:,} places", ordinal(case.target_rank)),
            ("The model's share for it", chance(a.probability)),
            (f"For {b.name}", chance(b.probability)),
        ],
        lines=[],
        case=case,
    )
    yield _why(case, source, target)
    changes = [
        f"Without {_small(entry.label)}: {ordinal(case.target_rank)} → {ordinal(entry.outcome.rank)}"
        for entry in sorted(case.left_out, key=lambda entry: -abs(entry.outcome.rank_change))[:_FEW]
        if entry.outcome.rank != case.target_rank
    ]
    title = "What would have changed it" if changes else "No single piece of evidence changes its rank."
    numbers = [
        ("As it is", ordinal(case.target_rank)),
        ("Lead on the other place", signed_points(case.contrast.margin)),
    ]
    if case.rank_without_two_hops is not None:
        numbers.append(("Without all two-step trips", ordinal(case.rank_without_two_hops)))
    yield Slide(title=title, numbers=numbers, lines=changes, case=None)


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _why(case: SharedCase, source: str, target: str) -> Slide:
    told = {sentence.about: sentence.text for sentence in case.sentences["stakeholder"]}
    title = told.get("paths") or told.get("visits") or told.get("step") or f"From {source} to {target}"
    own = case.visits[0]
    return Slide(
        title=title,
        numbers=[
            ("Steps there in training", f"{case.transition_count:,}"),
            ("Own visits before", f"{own.count:,}"),
            ("Two-hop paths", f"{len(case.paths):,}"),
        ],
        lines=[],
        case=case,
        with_paths=True,
    )


def _last(page: SharedPage) -> Slide:
    lines = [f"{change.what}: {change.how}" for change in page.changes]
    if page.estimate is not None:
        lines += [page.estimate.sentence, "Who has the dataset and the model can find a case by its exact scores."]
    else:
        lines.append(page.note)
    lines.append("What happens without a piece of evidence is a counterfactual of the model, not a cause in the world.")
    return Slide(
        title="Exact data" if page.is_exact else "What was done to be shared", numbers=[], lines=lines, case=None
    )


def _draw(slide: Slide, page: SharedPage, palette: Palette, letters: Letters, foot: str) -> bytes:
    image = Image.new("RGB", SIZE, palette.page)
    draw = ImageDraw.Draw(image)
    wide = SIZE[0] - 2 * _MARGIN
    letters.paragraph(draw, (_MARGIN, 90), slide.title, size=58, colour=palette.ink, width=wide, bold=True, most=3)
    drawn = None if slide.case is None else case_map(slide.case, page.places, projection_of(page))
    if drawn is not None:
        picture = draw_slide_map(
            drawn, page.ground, palette, letters, _MAP[2:], paths=slide.with_paths, answers=slide.with_answers
        )
        image.paste(picture, _MAP[:2])
    left = _MAP[0] + _MAP[2] + 70 if drawn is not None or (slide.lines and slide.numbers) else _MARGIN
    y = 340.0
    for label, value in slide.numbers:
        y = letters.paragraph(draw, (left, y), label, size=34, colour=palette.quiet, width=SIZE[0] - left - 60, most=2)
        y = letters.paragraph(
            draw,
            (left, y + 6),
            value,
            size=66 if len(value) < 12 else 44,
            colour=palette.ink,
            width=SIZE[0] - left - 60,
            bold=True,
        )
        y += 50
    y = 340.0
    for line in slide.lines:
        room = (left - _MARGIN - 60) if slide.numbers else wide
        y = letters.paragraph(draw, (_MARGIN, y), line, size=36, colour=palette.ink, width=room, most=3) + 16
    kind = "Exact data: people, places and times as recorded" if page.is_exact else "Made to be shared: told coarsely"
    letters.paragraph(draw, (_MARGIN, 1010), f"{foot} · {kind}", size=26, colour=palette.quiet, width=wide)
    return _png(image)


def _png(image: Image.Image) -> bytes:
    """The bytes of a picture, without any text chunk."""
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()
