"""Slides as a PowerPoint file and as one offline HTML page, of what may be shared."""

import io
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from pptx import Presentation
from pptx.util import Emu, Inches, Pt

from analysis.cases.saved_case import ViewSlide
from analysis.cases.slides import Number, Slide
from analysis.explain.explanation import CaseExplanation
from analysis.explain.types import Piece, Sentence
from analysis.figures.palette import LIGHT
from analysis.sharing.masking import Masking, places_by_name
from analysis.sharing.page import template
from analysis.sharing.shared_case import SharedPage
from recap.machine.printable import one_line

_WIDE: Final = (Inches(13.333), Inches(7.5))
_PICTURE: Final = (Inches(0.5), Inches(1.75), Inches(8.9), Inches(5.3))
_TEXT: Final = (Inches(9.6), Inches(1.75), Inches(3.3), Inches(5.3))
_TITLE: Final = (Inches(0.5), Inches(0.3), Inches(12.3), Inches(1.3))
_TITLE_ONLY: Final = 5
"""The layout of python-pptx's own template that has a title and nothing else."""


@dataclass(frozen=True)
class SharedSlide:
    """A slide as it may be shared: a title in pieces, numbers and lines next to a picture (PNG), and notes."""

    pieces: tuple[Piece, ...]
    numbers: tuple[Number, ...]
    lines: tuple[str, ...]
    picture: bytes
    alt: str
    notes: str

    @property
    def title(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def words(self) -> list[str]:
        """What stands next to the picture."""
        return [*(f"{number.label}: {number.value}" for number in self.numbers), *self.lines]

    def retitled(self, title: str) -> "SharedSlide":
        """With a person's own title, if there is one; the finding goes into the notes."""
        return replace(self, pieces=(Piece(text=title),), notes=f"{self.title}\n{self.notes}") if title else self


def share_slide(
    slide: Slide, shown: CaseExplanation, page: SharedPage, masking: Masking, picture: bytes
) -> SharedSlide:
    """A case's slide with the names of its page."""
    title = masking.sentence(Sentence(about="rank", pieces=list(slide.title)), places_by_name(shown))
    return SharedSlide(tuple(title.pieces), slide.numbers, (), picture, f"Map: {title.text}", page_notes(page))


def view_slide(shown: ViewSlide) -> SharedSlide:
    """What a view said, masked when it was added."""
    lines = shown.caveat, shown.data
    slide = SharedSlide(
        (Piece(text=shown.headline),), (), lines, shown.png, f"{shown.view}: {shown.headline}", "\n".join(lines)
    )
    return slide.retitled(shown.slide_title)


def page_notes(page: SharedPage) -> str:
    """What a shared page says about its masks and about who may be recognised."""
    return "\n".join(filter(None, (page.note, page.warning, "" if page.estimate is None else page.estimate.sentence)))


def write_pptx(slides: Sequence[SharedSlide], title: str) -> bytes:
    """A PowerPoint file: titles and text as text, pictures as pictures, what to know as speaker notes."""
    shown = Presentation()
    shown.slide_width, shown.slide_height = _WIDE
    about, now = shown.core_properties, datetime.now(UTC)
    about.author = about.last_modified_by = "RECAP"  # not those of the library's template
    about.title, about.created, about.modified = one_line(title), now, now
    for entry in slides:
        slide = shown.slides.add_slide(shown.slide_layouts[_TITLE_ONLY])
        heading = slide.shapes.title
        heading.left, heading.top, heading.width, heading.height = _TITLE
        heading.text_frame.text = one_line(entry.title)
        heading.text_frame.word_wrap = True
        heading.text_frame.paragraphs[0].font.size = Pt(26 if len(entry.title) > 110 else 32)
        left, top, width, height = _PICTURE
        picture = slide.shapes.add_picture(io.BytesIO(entry.picture), left, top, width=width)
        if picture.height > height:
            picture.width, picture.height = Emu(round(picture.width * height / picture.height)), height
        picture.element.nvPicPr.cNvPr.set("descr", one_line(entry.alt))
        words = slide.shapes.add_textbox(*_TEXT).text_frame
        words.word_wrap = True
        for number, line in enumerate(entry.words):
            paragraph = words.paragraphs[0] if number == 0 else words.add_paragraph()
            paragraph.text, paragraph.space_after = one_line(line), Pt(10)
            paragraph.font.size = Pt(20 if len(line) < 60 else 15)
        slide.notes_slide.notes_text_frame.text = "\n".join(map(one_line, entry.notes.splitlines()))
    file = io.BytesIO()
    shown.save(file)
    return file.getvalue()


def write_slides_html(slides: Sequence[SharedSlide], title: str) -> bytes:
    """The same as one page: no script, no outside resources, a slide per printed page."""
    shown = [(slide, b64encode(slide.picture).decode()) for slide in slides]
    return template("slides.html.j2").render(slides=shown, title=title, light=LIGHT).encode()
