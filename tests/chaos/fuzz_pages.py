"""Pages of the app for the fuzzer: a view opened on a hostile dataset, and what must not stand on it."""

import contextlib
import io
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.app.app_driver import open_view, point_app_at, texts

CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_BACKSLASHES: Final = re.compile(r"\\(.)")
# What a page replaces in the names of `fuzz` after Markdown was read and took its backslashes away.
_ALIVE: Final = re.compile(r"https?://evil|www\.evil|\w@evil|:smile:", re.IGNORECASE)
_UNESCAPED: Final = re.compile(r"(?<!\\)(!\[x|\]\(javascript|<script|<img)", re.IGNORECASE)


@dataclass(frozen=True)
class Page:
    """A view to open, on a dataset and a checkpoint."""

    view: str
    data: Path
    checkpoint: Path
    params: dict[str, str]


def findings_on(page: Page) -> Iterator[str]:
    """Open the page and say what must not have happened."""
    with pytest.MonkeyPatch.context() as patch, _output() as answer:
        point_app_at(patch, page.data, page.checkpoint)
        app = open_view(page.view, **page.params)
    st.cache_data.clear()
    st.cache_resource.clear()
    if app.exception:
        yield f"traceback on {page.view}: {app.exception[0].message[:300]!r}"
    if not (app.title or app.info or app.warning or app.error or app.markdown):
        yield f"{page.view} is empty"
    yield from (f"{page.view}: {problem}" for problem in problems_in(app))
    if CONTROLS.search(answer.getvalue()):
        yield f"control character in the log of {page.view}: {answer.getvalue()[:200]!r}"


def problems_in(app: AppTest) -> Iterator[str]:
    """What a browser would act upon, or a reader not see."""
    shown = texts(app)
    if found := _ALIVE.search(_BACKSLASHES.sub(r"\1", shown)):
        around = shown[max(0, found.start() - 60) : found.end() + 60]
        yield f"a name became a link, a picture or an emoji near {around!r}"
    if found := _UNESCAPED.search(shown):
        yield f"a name is not escaped: {shown[max(0, found.start() - 40) : found.end() + 40]!r}"
    if any(element.allow_html for element in (*app.markdown, *app.caption)):
        yield "HTML is allowed"
    for text in (texts(app), *_values(app)):
        if found := CONTROLS.search(text):
            yield f"control character on the page: {text[max(0, found.start() - 40) : found.end() + 40]!r}"
            return


def _values(app: AppTest) -> Iterator[str]:
    """Labels and options of what can be chosen, and names of downloads."""
    for element in (*app.selectbox, *app.multiselect, *app.radio):
        yield from map(str, element.options)
    for button in app.get("download_button"):
        yield str(getattr(button.proto, "label", ""))


@contextlib.contextmanager
def _output() -> Iterator[io.StringIO]:
    """What the page prints and logs."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    root: Any = logging.getLogger()
    root.addHandler(handler)
    try:
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            yield text
    finally:
        root.removeHandler(handler)
