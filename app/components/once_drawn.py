"""Go on by itself from a page that was refreshed by a timer."""

import streamlit as st

_TELL = """
export default function ({ setTriggerValue }) {
  setTriggerValue('drawn', true);
}
"""
_tell = st.components.v2.component("recap_once_drawn", js=_TELL)


def once_drawn(key: str) -> bool:
    """False in the first run; then the browser, which has drawn that run and stopped the timer, asks for a second one.

    `st.switch_page` in the first run can lose a race: Streamlit answers the last tick after the switch, and
    empties the new page.
    """
    return _tell(key=key, on_drawn_change=lambda: None, width=1, height=1).drawn is not None
