"""Section headings, small text with enough contrast, and rows of choices."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from recap.printable import markdown_text

if TYPE_CHECKING:
    from analysis.explain.types import Sentence


T = TypeVar("T")


def choose_one(label: str, options: Sequence[T], *, key: str, named: Callable[[T], str], **more: Any) -> T:
    """A row of choices, always one of them on, at first the first; the label is for screen readers."""
    chosen: T | None = st.segmented_control(
        label,
        options,
        default=options[0],
        required=True,
        format_func=named,
        key=key,
        label_visibility="collapsed",
        **more,
    )
    return options[0] if chosen is None else chosen


def section(title: str, *, help: str | None = None, width: str = "stretch") -> None:
    st.header(title, anchor=False, help=help, width="content" if width == "content" else "stretch")


def toggle(label: str, value: bool = False, *, help: str, **more: Any) -> bool:
    """A switch whose help mark stands outside its label: a click on the mark explains and changes nothing."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall", width="content"):
        chosen = st.toggle(label, value, width="content", **more)
        st.markdown(":small[\u200b]", help=help, width="content")
    return chosen


def quiet(text: str, *, width: str = "stretch") -> None:
    """Small grey words; Markdown, so text from data must be escaped (`recap.printable.markdown_text`).

    ``st.caption`` has too little contrast.
    """
    st.markdown(f":small[:gray[{text}]]", width="content" if width == "content" else "stretch")


def coloured(pieces: Iterable[tuple[str, str | None]]) -> str:
    """Markdown of one sentence from (text, colour) pieces.

    Spaces at a piece's ends are outside its colour.

    >>> coloured([("From", None), (" Pier 9 ", "orange"), ("on.", None)])
    'From :orange[Pier 9] on\\\\.'
    """
    written = []
    for text, colour in pieces:
        lead, tail = (" " if text[:1] == " " else ""), (" " if text[-1:] == " " else "")
        shown = markdown_text(text)
        written.append(f"{lead}:{colour}[{shown}]{tail}" if colour else f"{lead}{shown}{tail}")
    return "".join(written)


def shown_sentence(sentence: "Sentence", colours: Mapping[str, str]) -> str:
    """Markdown of a sentence of Explain, with colours by kind of piece."""
    return coloured((piece.text, colours.get(piece.kind)) for piece in sentence.pieces)
