"""Links: a page reads its address when it is opened, and then writes what it shows into it.

A link, a reload, and the browser's Back and Forward open a page with an address; each control reads its fields then,
once. From there on the session holds the choices, and drawing the page writes them into the address. Callbacks change
the session only: they still see the address that their click was sent with, and know by it if they come too late.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeVar, cast

import streamlit as st

from app.pages import View
from recap.errors import RecapError

_T = TypeVar("_T")
_PAGE, _CAME_FROM, _NOTE = "_page", "_came_from", "_note"
_LINK: Final = "_link"
_GOING: Final = "_going"
"""Fields of the link by which a button opens the next page."""
_REFUSED: Final = "_refused"
"""What the page cannot follow of its link, and what it wrote into the address when it said so."""
_UNSAID: Final = "_unsaid"
_WRITTEN: Final = "_written"
"""By field: what this page has written into the address."""


@dataclass
class _Link:
    """The address that a page was opened with.

    Attributes:
        is_whole: fields that it does not name have their defaults; a button's link leaves those as they are.
        read: fields that were read already.
    """

    fields: dict[str, list[str]]
    is_whole: bool
    read: set[str] = field(default_factory=set)


def arrive_at(page: str) -> None:
    """Call it first in every run; the address of a page that was just opened is its link."""
    before = st.session_state.get(_PAGE)
    if before == page:
        return
    fields = {name: st.query_params.get_all(name) for name in st.query_params}
    going = st.session_state.pop(_GOING, None)
    link = _Link(fields, is_whole=bool(fields) and fields != going)
    st.session_state.update({_PAGE: page, _CAME_FROM: before, _WRITTEN: {}, _LINK: link})


def has_arrived() -> None:
    """The page was drawn once, so its link was followed; before, a click may have ended its run at any line."""
    st.session_state.pop(_LINK, None)


def refuse(line: str) -> None:
    """Say above the page what it cannot follow of its link."""
    st.session_state.setdefault(_UNSAID, []).append(line)


def refusals() -> list[str]:
    """Lines to show above a page that was drawn; they stay until it shows something else, as its address tells."""
    unsaid, written = st.session_state.pop(_UNSAID, None), (current_page(), dict(st.session_state[_WRITTEN]))
    if unsaid:
        st.session_state[_REFUSED] = list(dict.fromkeys(unsaid)), written
    lines, when = st.session_state.get(_REFUSED, ([], None))
    return list(lines) if when == written else []


def current_page() -> str:
    return str(st.session_state.get(_PAGE, ""))


def came_from() -> str | None:
    """The previous page; None if a link led here."""
    return cast("str | None", st.session_state.get(_CAME_FROM))


def go(page: View, fields: Mapping[str, str] | None = None) -> NoReturn:
    """Open another page by a button's link; choices that it does not name stay."""
    st.session_state[_GOING] = {name: [text] for name, text in (fields or {}).items()}
    st.switch_page(page.path, query_params=dict(fields or {}))


def linked_lists(*names: str) -> dict[str, list[str]] | None:
    """All values of these fields in the link that opened the page, if they were not read yet; None: they stay."""
    link: _Link | None = st.session_state.get(_LINK)
    if link is None or link.read.issuperset(names):
        return None
    link.read.update(names)
    if not link.is_whole and link.fields.keys().isdisjoint(names):
        return None
    return {name: link.fields.get(name, []) for name in names}


def linked(*names: str) -> dict[str, str | None] | None:
    """As `linked_lists`, the last value of each field."""
    lists = linked_lists(*names)
    return None if lists is None else {name: texts[-1] if texts else None for name, texts in lists.items()}


def write(**fields: str | Sequence[str] | None) -> None:
    """Put what the page shows into the address, while it is drawn; None removes a field."""
    written, changed = st.session_state.setdefault(_WRITTEN, {}), {}
    for name, value in fields.items():
        texts = [] if value is None else [value] if isinstance(value, str) else list(value)
        written[name] = texts
        if st.query_params.get_all(name) == texts:
            continue
        if texts:
            changed[name] = texts if len(texts) > 1 else texts[0]
        else:
            del st.query_params[name]
    if changed:
        st.query_params.update(changed)


def is_late(*names: str) -> bool:
    """Whether a click was sent before the browser had these fields as they were written last. For callbacks."""
    written = st.session_state.get(_WRITTEN, {})
    return any(st.query_params.get_all(name) != written[name] for name in names if name in written)


def unless_late(
    act: Callable[[], None], *names: str, key: str | None = None, offered: Container[object] = ()
) -> Callable[[], None]:
    """Wrap a widget's callback so that it ignores values chosen before the browser last drew the widget.

    A click sends the values of every widget, also outdated ones of widgets that this session has just set. These look
    chosen, but the click's address is outdated too. An option that a filter has taken away since comes as its label.

    Args:
        names: fields of the address on which the widget depends.
        key, offered: of a widget whose options change, and the options that it offers now.
    """

    def choose() -> None:
        value = None if key is None else st.session_state.get(key)
        chosen = value if isinstance(value, list) else [value]
        if not is_late(*names) and all(one is None or one in offered for one in chosen):
            act()

    return choose


def current_choice(
    name: str, choices: Mapping[str, _T], default: _T, refused: Callable[[str], str] | None = None
) -> _T:
    """The latest choice on any view; the address contains it unless it is the default.

    Args:
        choices: by text in links.
        refused: a sentence on another text; without it, the default is answer enough.
    """
    link = linked(name)
    if link is not None:
        asked = link[name]
        choose(name, choices.get(asked or ""))
        if asked is not None and asked not in choices and refused is not None:
            refuse(refused(asked))
    latest = chosen(name)
    text, value = next(((text, value) for text, value in choices.items() if value == latest), ("", default))
    write(**{name: None if value == default else text})
    return value


def current_text(name: str, read: Callable[[str], str] = str, refused: str = "", *, choice: str = "") -> str:
    """The latest text of a field, empty if there is none.

    Args:
        read: checks a link's text and returns it as it is kept; what it refuses gives the message and no text.
        choice: the name of the choice, if two views keep different ones for the field.
    """
    link = linked(name)
    if link is not None:
        asked = link[name]
        try:
            choose(choice or name, read(asked) if asked else None)
        except RecapError:
            choose(choice or name, None)
            refuse(refused)
    text = str(chosen(choice or name) or "")
    write(**{name: text or None})
    return text


def choice_of_data(dataset: str, name: str, read: Callable[[str | None], _T], refused: str) -> _T:
    """The latest choice for a dataset, by its hash.

    Args:
        read: understands a link's text, or that it has none; a text that means nothing gives the message ``refused``.
    """
    link, kept = linked(name), cast("tuple[str, _T] | None", chosen(name))
    if link is not None or kept is None or kept[0] != dataset:
        asked = None if link is None else link[name]
        kept = (dataset, read(asked))
        choose(name, kept)
        if asked and not kept[1]:
            refuse(refused)
    return kept[1]


def chosen(name: str) -> object:
    """The latest choice, None for the default."""
    return st.session_state.get(_chosen_key(name))


def choose(name: str, value: object) -> None:
    """Change a choice; None restores the default."""
    if value is None:
        st.session_state.pop(_chosen_key(name), None)
    else:
        st.session_state[_chosen_key(name)] = value


def _chosen_key(name: str) -> str:
    return f"_chosen_{name}"


def leave_note(page: str, text: str) -> None:
    """A line to show above another page until it is left."""
    st.session_state[_NOTE] = page, text


def note_on(page: str) -> str:
    """The line left for a page; a line for another page is forgotten."""
    of, text = st.session_state.get(_NOTE, ("", ""))
    if of != page:
        st.session_state.pop(_NOTE, None)
    return text if of == page else ""
