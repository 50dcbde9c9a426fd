"""Pictures of page elements, which need no chart library."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

Element = list[Any]
"""``[tag, attributes, *children]``; a child is another element, or a text, which stays text whatever it holds."""

PICK: Final = "data-pick"
"""The attribute of what can be clicked: its value is what a click brings."""

BUILD: Final = """
const SVG = "http://www.w3.org/2000/svg";

function build([tag, attributes, ...children], inSvg) {
  inSvg ||= tag === "svg";
  const node = inSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  for (const child of children) node.append(typeof child === "string" ? child : build(child, inSvg));
  return node;
}
"""
"""The script that makes nodes of an `Element`."""

STYLE: Final = """
figure { margin: 0; font-family: "Source Sans", sans-serif; font-size: 13px; line-height: 1.3; }
table { border-collapse: collapse; table-layout: fixed; width: 100%; }
th, td { padding: 0; font-weight: inherit; text-align: left; }
button { appearance: none; background: none; border: 0; color: inherit; font: inherit; margin: 0; padding: 0;
  text-align: inherit; }
[data-pick] { cursor: pointer; }
button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
"""
"""The CSS of every picture."""


def element(tag: str, *children: "Element | str", style: Mapping[str, object] | None = None, **named: str) -> Element:
    """One element of a page.

    Args:
        style, named: CSS properties and further attributes, with underscores for hyphens.

    >>> element("b", "Café <3", style={"font_size": "13px"}, aria_hidden="true")
    ['b', {'aria-hidden': 'true', 'style': 'font-size: 13px'}, 'Café <3']
    """
    attributes = {name.replace("_", "-"): value for name, value in named.items()}
    if style:
        attributes["style"] = "; ".join(f"{name.replace('_', '-')}: {value}" for name, value in style.items())
    return [tag, attributes, *children]


def share(value: float) -> str:
    """A share of a length, as CSS writes it.

    >>> share(0.25)
    '25%'
    """
    return f"{round(100 * value, 2):g}%"


def png_element(png: bytes) -> Element:
    """A picture as large as fits into its frame."""
    source = f"data:image/png;base64,{b64encode(png).decode()}"
    style = {"max_height": "100%", "max_width": "100%", "border_radius": "10px"}
    return element("img", src=source, alt="", style=style)
