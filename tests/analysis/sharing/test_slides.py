"""Slides as files: real titles, texts, pictures and notes; nothing of a person or of a rare place in any part."""

import io
import re
import zipfile
from datetime import datetime

import pytest
from PIL import Image
from pptx import Presentation

from analysis.cases.saved_case import ViewSlide
from analysis.cases.slides import Number, case_slide, change_slide, why_slide
from analysis.explain.edits import AddVisit
from analysis.explain.types import Piece
from analysis.sharing.case_image import draw_case_image
from analysis.sharing.share import masked_cases
from analysis.sharing.slides import SharedSlide, share_slide, write_pptx, write_slides_html
from analysis.sharing.traces import traces_of
from recap.errors import ConfigError
from tests.analysis.sharing.scanner import basemap, explained, opened, scan, secrets

CASES = (207, 1407)


def slides_of_cases() -> list[SharedSlide]:
    """Three slides of each case, of which one edit names a place that few people visit."""
    rare = int(traces_of(opened().dataset).users_of_place.argmin())
    edits, slides = (AddVisit(poi=rare, local_time=datetime(2024, 3, 1, 18)),), []
    for case in map(explained, CASES):
        page, masking = masked_cases([case], opened(), basemap=basemap())
        change = change_slide(case, case, edits, 1, masking.name)
        for slide in (case_slide(case, "Visit count", 4.0), why_slide(case), change):
            slides.append(share_slide(slide, case, page, masking, draw_case_image(page)))
    return slides


@pytest.mark.slow
def test_slides_in_files_leak_nothing() -> None:
    """Every part of the PowerPoint file and the page: no raw id, no date, no name or point of a rare place."""
    slides = slides_of_cases()
    names = [opened().labels[poi] for case in map(explained, CASES) for poi in (case.source, case.target)]
    assert any(name not in " ".join(slide.title for slide in slides) for name in names)  # something was masked
    with zipfile.ZipFile(io.BytesIO(write_pptx(slides, "Tuesday"))) as file:
        for name in file.namelist():
            if not re.match("docProps/|ppt/(slideMasters|slideLayouts|theme|notesMasters)", name):
                assert scan(file.read(name), secrets()) == [], name
        assert b"Canny" not in file.read("docProps/core.xml")
    page = write_slides_html(slides, "Tuesday")
    assert scan(page, secrets()) == [] and b"<script" not in page and b"://" not in page


def test_powerpoint_has_titles_texts_pictures_and_notes() -> None:
    """A title of markup stays text; the picture fills its frame without being stretched; notes hold the caveat."""
    picture = io.BytesIO()
    Image.new("RGB", (300, 600)).save(picture, "PNG")
    title = (Piece(text="<b>9 of 10</b> & more\x07"),)
    entry = SharedSlide(title, (Number("RECAP", "90 %"),), ("n = 10",), picture.getvalue(), "Bars", "Only ten.")
    (slide,) = Presentation(io.BytesIO(write_pptx([entry], "x"))).slides
    assert slide.shapes.title.text_frame.text == "<b>9 of 10</b> & more\\x07"
    (shown,) = (shape for shape in slide.shapes if shape.shape_type == 13)
    assert shown.image.blob == picture.getvalue() and round(shown.height / shown.width, 2) == 2
    assert "RECAP: 90 %\nn = 10" in [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]
    assert slide.notes_slide.notes_text_frame.text == "Only ten."
    assert b"&lt;b&gt;9 of 10" in write_slides_html([entry], "x")


@pytest.mark.parametrize("picture", ["PHN2Zz4=", "iVBORw0KGgoAAAANSUhEUgABAAAAAAABCAIAAAA="])
def test_a_slide_takes_no_other_picture(picture: str) -> None:
    """SVG, and a PNG of 65,536 pixels, in an imported file."""
    fields = {"view": "Compare", "dataset": "", "model": "x", "data": "x", "headline": "x", "caveat": ""}
    with pytest.raises(ConfigError, match="PNG"):
        ViewSlide.parse(fields | {"picture": picture, "saved": "2026-01-01T00:00:00Z"})


def test_names_are_masked_whatever_they_end_with() -> None:
    """A name in plain text that ends with a bracket, which is no letter."""
    case = explained(CASES[0])
    masking = masked_cases([case], opened())[1]
    rare = int(masking.places.is_cell.argmax())
    sentence = case.headline.model_copy(update={"pieces": [Piece(text="Near Joe's (bar), and on.")]})
    assert masking.sentence(sentence, {"Joe's (bar)": rare}).text == "Near a place, and on."
