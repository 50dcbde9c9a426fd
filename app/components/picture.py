"""A picture of page elements (`analysis.figures.elements`), visible before a chart library has loaded."""

from collections.abc import Callable
from typing import Final

import streamlit as st

from analysis.figures.elements import BUILD, STYLE, Element
from app import state
from app.components.toolbar import offer_figure

_SHOW: Final = """
export default function ({ parentElement, data, setTriggerValue }) {
  const focused = parentElement.activeElement?.dataset.pick;
  const picture = build(data);
  picture.onclick = ({ target }) => {
    const picked = target.closest("[data-pick]");
    if (picked) setTriggerValue("picked", picked.dataset.pick);
  };
  parentElement.querySelector("figure")?.remove();
  parentElement.append(picture);
  if (focused) picture.querySelector(`button[data-pick="${CSS.escape(focused)}"]`)?.focus();
}
"""
_show: Final = st.components.v2.component("recap.picture", css=STYLE, js=BUILD + _SHOW)


def show_picture(
    content: Element, key: str, *, height: int | str, alt: str, on_pick: Callable[[str], None] | None = None
) -> None:
    """Draw elements.

    Args:
        height: in pixels, or as CSS writes it.
        on_pick: receives the clicked value, before the page runs again.
    """

    def picked() -> None:
        value = st.session_state[key].get("picked")
        if on_pick is not None and isinstance(value, str):
            on_pick(value)

    size = height if isinstance(height, str) else f"{height}px"
    palette = state.theme_palette()
    look = f"color: {palette.ink}; background: {palette.page}; height: {size}"
    drawn = ["figure", {"aria-label": alt, "style": look}, content]
    offer_figure(key, drawn)
    _show(key=key, data=drawn, height="content" if isinstance(height, str) else height, on_picked_change=picked)
