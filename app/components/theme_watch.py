"""Figures follow the system's switch between light and dark, and maps and lists the window's width, at once.

Streamlit then repaints its own elements without running the script. This invisible element requests a run.
"""

from typing import Any

import streamlit as st

from app import state

_LISTEN = """
export default function ({ data, setStateValue, setTriggerValue }) {
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
  const widths = [700, 1260].map(most => matchMedia(`(max-width: ${most}px)`));
  const measure = () => {
    const now = widths[0].matches ? 'phone' : widths[1].matches ? 'narrow' : 'wide';
    if (now !== data) setStateValue('window', now);
  };
  measure();
  system.addEventListener('change', tell);
  widths.forEach(width => width.addEventListener('change', measure));
  return () => {
    system.removeEventListener('change', tell);
    widths.forEach(width => width.removeEventListener('change', measure));
  };
}
"""
_watch = st.components.v2.component("recap_theme_watch", js=_LISTEN)


def watch_theme() -> None:
    """Call it once per page, where a pixel and a gap do not matter."""
    # The new run itself is the effect.
    runs: dict[str, Any] = {"on_changed_change": lambda: None, "on_window_change": lambda: None}
    _watch(key=state.WATCH, data=state.window_width(), width=1, height=1, **runs)
