"""Section headings, small text with enough contrast, and rows of choices."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import streamlit as st

from app import address
from recap.machine.printable import markdown_text

if TYPE_CHECKING:
    from analysis.explain.types import Sentence


_T = TypeVar("_T")
_ROOM_PX: Final = 300


def choose_one(label: str, options: Sequence[_T], *, key: str, named: Callable[[_T], str], **more: Any) -> _T:
    """A row of choices, always one of them on, at first the first; the label is for screen readers."""
    look: dict[str, Any] = {"required": True, "label_visibility": "collapsed", "wrap": True, **more}
    chosen: _T | None = st.segmented_control(label, options, default=options[0], format_func=named, key=key, **look)
    return options[0] if chosen is None else chosen


def pick(
    kind: Callable[..., object],
    label: str,
    options: Any,
    act: Callable[[], None],
    *on: str,
    key: str,
    value: object,
    offered: Collection[object] = (),
    **look: Any,
) -> None:
    """A widget that shows ``value``; a choice runs ``act``. Its label is for screen readers unless ``look`` shows it.

    Args:
        on, offered: see `app.address.unless_late`.
        look: further options of the widget.
    """
    st.session_state[key] = value
    if kind in (st.pills, st.segmented_control):  # on a phone too, all choices are seen
        look = {"wrap": True} | look
    change = address.unless_late(act, *on, key=key if offered else None, offered=offered)
    kind(label, options, key=key, on_change=change, **({"label_visibility": "collapsed"} | look))


def pick_number(
    label: str, names: Mapping[int, str], act: Callable[[int], None], *on: str, key: str, **look: Any
) -> None:
    """A list of numbers by name, see `pick`; a number that is no longer offered changes nothing."""

    def choose() -> None:
        act(int(st.session_state[key]))

    look |= {"key": key, "offered": names, "format_func": lambda number: names.get(number, "earlier choice")}
    pick(st.selectbox, label, list(names), choose, *on, **look)


def act_button(label: str, key: str, act: Callable[..., None], *args: object, icon: str = "", **look: Any) -> None:
    """A button that runs ``act(*args)`` before the page is drawn again; ``icon`` is the name of a Material symbol."""
    st.button(label, key=key, icon=f":material/{icon}:" if icon else None, on_click=act, args=args, **look)


def key_button(label: str, key: str, shortcut: str, act: Callable[..., None], *args: object, **look: Any) -> None:
    """A button that a key presses too."""
    st.button(label, key=key, shortcut=shortcut, on_click=act, args=args, **look)


def say_once(key: str, show: Callable[[str], object] = st.warning, words: Callable[[str], str] = markdown_text) -> None:
    """Show, in ``words``, what a callback left in the session, and forget it."""
    kept = st.session_state.pop(key, None)
    if kept:
        show(words(kept))


def section(title: str, *, help: str | None = None) -> None:
    st.header(title, anchor=False, help=help)


def toggle(label: str, value: bool = False, *, help: str, **more: Any) -> bool:
    """A switch whose help mark stands outside its label: a click on the mark explains and changes nothing."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xxsmall", width="content"):
        chosen = st.toggle(label, value, width="content", **more)
        st.markdown(":small[\u200b]", help=help, width="content")
    return chosen


def late_popover(label: str, key: str, **look: Any) -> Any:
    """A popover whose content is made when it is open; None while it is closed.

    The browser chooses its side before the content comes, so it opens with `_ROOM_PX`.
    """
    button = st.popover(label, key=key, on_change="rerun", **look)
    if not button.open:
        button.space(_ROOM_PX)
    return button if button.open else None


def quiet(text: str, *, width: str = "stretch") -> None:
    """Small grey words; Markdown, so text from data must be escaped (`recap.machine.printable.markdown_text`).

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
