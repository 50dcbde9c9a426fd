"""Figures follow the system's switch between light and dark at once.

Streamlit then repaints its own elements without running the script. This invisible element requests a run.
"""

import streamlit as st

_LISTEN = """
export default function ({ setTriggerValue }) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  // A run tells the server the theme that the page has by then: wait until Streamlit has repainted it.
  const tell = () => {
    const wanted = system.matches ? 'dark' : 'light';
    const page = document.querySelector('[data-testid=stApp]');
    const look = left => {
      const there = !page || getComputedStyle(page).colorScheme === wanted;
      setTimeout(there || !left ? () => setTriggerValue('changed', wanted) : () => look(left - 1), 150);
    };
    look(40);
  };
  system.addEventListener('change', tell);
  return () => system.removeEventListener('change', tell);
}
"""
_watch = st.components.v2.component("recap_theme_watch", js=_LISTEN)


def watch_theme() -> None:
    """Call it once per page, where a pixel and a gap do not matter."""
    # The new run itself is the effect.
    _watch(key="theme-watch", on_changed_change=lambda: None, width=1, height=1)
