"""For teachers: a plan for one class, the address that it opens, questions to discuss, a handout and its key."""

from functools import partial
from typing import Final

import pandas as pd
import segno
import streamlit as st

from analysis.learn.course import CLASS_MINUTES, COURSE, MINUTES, ROUTE, class_plan
from analysis.learn.handout import PrintedPage, sheet_html
from analysis.learn.lesson import Lesson, LessonUnavailableError
from app.cached import learn as cached
from app.cached.workspace import open_workspace
from app.classroom import current_classroom
from app.components.learn import words
from app.components.learn.class_answers import is_let_in, show_class_answers
from app.components.learn.place import turn_to
from app.components.text import act_button, quiet, section
from app.components.toolbar import file_words, save_button
from app.door import addresses_for_others
from app.pages import LEARN
from app.settings import AppSettings
from app.sources import Source, find_sources
from recap.machine.printable import markdown_address, markdown_text

_SHEETS: Final[tuple[tuple[PrintedPage, str, str, str], ...]] = (
    ("handout", "Handout", "print", words.HANDOUT_HELP),
    ("answer_key", "Answer key", "key", words.KEY_HELP),
)


def show_teacher(source: Source) -> None:
    """The page; where a class is counted it asks for the token first."""
    room = current_classroom()
    is_open = room is None or is_let_in(room)
    with st.container(horizontal=True, vertical_alignment="center"):
        act_button("Lessons", "learn_back", turn_to, None, icon="arrow_back", type="tertiary")
        if not is_open:
            return
        st.space("stretch")
        invite_button(source)
        for sheet, label, icon, says in _SHEETS:
            look = {"key": f"learn_{sheet}", "icon": f":material/{icon}:", "help": says}
            save_button(label, partial(_sheet, source, sheet), f"{file_words(label)}.html", **look)
    st.title(words.PLAN_TITLE.format(minutes=CLASS_MINUTES), anchor=False)
    st.markdown(words.FOR_TEACHERS.format(lessons=ROUTE, minutes=MINUTES))
    if room is not None:
        show_class_answers(source, room)
    section("Plan")
    rows = [(row.minutes, markdown_text(row.part), row.does, row.needs) for row in class_plan()]
    plan = pd.DataFrame(rows, columns=["Minutes", "Part", "The class", "Needs"]).set_index("Minutes")
    st.table(plan, border="horizontal")  # a plain table wraps on a narrow screen, and prints
    section("Questions to talk about")
    for number, entry in enumerate(COURSE):
        with st.expander(f"{number + 1}. {entry.outline.title}"):
            st.markdown(entry.outline.idea)
            st.markdown("\n".join(f"- {question}" for question in entry.outline.questions))
    quiet(words.NOTHING_SENT if room is None else words.COUNTED_HERE)


def _sheet(source: Source, sheet: PrintedPage) -> bytes:
    """A printable page. Questions of a real city name places of single people, so they are left out."""
    dataset = open_workspace(source).dataset
    lessons: list[Lesson | None] = []
    for number in range(len(COURSE)):
        try:
            lessons.append(cached.lesson(source, number) if dataset.manifest.synthetic else None)
        except LessonUnavailableError:
            lessons.append(None)
    return sheet_html(sheet, dataset.manifest.name, lessons).encode()


_LONGEST: Final = 300
_WIDTH: Final = 440


def invite_button(source: Source) -> None:
    """A button that shows the address, where other computers reach the app."""
    hosts, port = st.get_option("server.allowedHosts") or [], int(st.get_option("server.port"))
    first, *_ = find_sources(AppSettings.from_environment())
    fields = "" if source.token == first.token else f"?source={source.token}"
    links = [f"{address}/{LEARN.name}{fields}" for address in addresses_for_others(hosts, port, st.context.url)]

    @st.dialog("Open this page", width="large")
    def show() -> None:
        chosen = st.selectbox(
            "Address for the class", links, key="learn_address", accept_new_options=True, help=words.ADDRESS_HELP
        )
        address = full_address(str(chosen))
        st.title(markdown_address(address), anchor=False)  # as code it would be small
        picture = segno.make(address, micro=False).svg_inline(omitsize=True, light="white")
        st.image(picture, width=_WIDTH, alt=f"QR code of {address}")

    if links and st.button("Address", icon=":material/qr_code_2:", key="learn_invite"):
        show()


def full_address(typed: str) -> str:
    """The address with its protocol, short enough for a code.

    >>> full_address(" recap.example/learn`")
    'http://recap.example/learn'
    """
    typed = "".join(typed.replace("`", "").split())
    return (typed if "://" in typed else f"http://{typed}")[:_LONGEST]
