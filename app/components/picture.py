"""A picture of page elements (`analysis.figures.elements`), visible before a chart library has loaded."""

from collections.abc import Callable
from typing import Final

import streamlit as st

from analysis.figures.elements import Element
from app import state

_BUILD: Final = """
const SVG = "http://www.w3.org/2000/svg";

function build([tag, attributes, ...children], inSvg) {
  inSvg ||= tag === "svg";
  const node = inSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  for (const child of children) node.append(typeof child === "string" ? child : build(child, inSvg));
  return node;
}

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
_STYLE: Final = """
figure { margin: 0; font-family: "Source Sans", sans-serif; font-size: 13px; line-height: 1.3; }
table { border-collapse: collapse; table-layout: fixed; width: 100%; }
th, td { padding: 0; font-weight: inherit; text-align: left; }
button { appearance: none; background: none; border: 0; color: inherit; font: inherit; margin: 0; padding: 0;
  text-align: inherit; }
[data-pick] { cursor: pointer; }
button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
"""
_show: Final = st.components.v2.component("recap.picture", css=_STYLE, js=_BUILD)


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
    look = f"color: {state.theme_palette().ink}; height: {size}"
    drawn = ["figure", {"aria-label": alt, "style": look}, content]
    _show(key=key, data=drawn, height="content" if isinstance(height, str) else height, on_picked_change=picked)
