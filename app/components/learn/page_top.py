"""A new lesson starts at its top: Streamlit keeps the place to which the last page was scrolled."""

import streamlit as st

_JUMP = """
export default function ({ data }) {
  if (window.recapLesson !== undefined && window.recapLesson !== data) {
    document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0);
  }
  window.recapLesson = data;
}
"""
_jump = st.components.v2.component("recap_page_top", js=_JUMP)


def start_at_top(lesson: str) -> None:
    """Scroll up where the lesson is another one than before; call it below everything."""
    _jump(key="page-top", data=lesson, width=1, height=1)
