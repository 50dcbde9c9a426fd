"""Sections and small print, readable for everyone: h2 under the finding, grey at no less than 4.5:1."""

import streamlit as st


def section(title: str, *, help: str | None = None) -> None:
    """A section's heading; a noun."""
    st.header(title, anchor=False, help=help)


def quiet(text: str, *, width: str = "stretch") -> None:
    """Small grey words; Markdown, so text from data must be escaped (`recap.printable.markdown_text`).

    ``st.caption`` fades its text below the contrast that small print needs.
    """
    st.markdown(f":small[:gray[{text}]]", width="content" if width == "content" else "stretch")
