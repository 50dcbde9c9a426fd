"""Figures follow the system's switch between light and dark at once.

Streamlit repaints its own elements then but runs no script, and figures and maps are drawn for one theme. This element
shows nothing; it asks for a run when the system's theme has changed.
"""

import streamlit as st

_LISTEN = """
export default function ({ setTriggerValue }) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  // Streamlit's own listener comes first; a run tells the server the theme that the page has by then.
  const tell = () => setTimeout(() => setTriggerValue('changed', system.matches ? 'dark' : 'light'), 150);
  system.addEventListener('change', tell);
  return () => system.removeEventListener('change', tell);
}
"""
_watch = st.components.v2.component("recap_theme_watch", js=_LISTEN)


def watch_theme() -> None:
    """Once a page, after everything else of it."""
    _watch(key="theme-watch", on_changed_change=_nothing, height=1)


def _nothing() -> None:
    """The run itself is what is wanted."""
