"""Render pages and cards from the templates in ``recap/templates``; HTML is escaped."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from recap.machine.printable import markdown_text, visible


def finalize(value: Any) -> Any:
    """Show control characters as text, except in escaped strings."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("recap"),
        autoescape=select_autoescape(enabled_extensions=("html.j2",), default=False),
        undefined=StrictUndefined,
        finalize=finalize,
    )
    environment.filters |= {"thousands": "{:,}".format, "markdown_text": markdown_text}
    return environment


def render(template: str, **values: Any) -> str:
    """The text of a template such as ``model_card.md.j2``, without a final line end. Raises jinja2.UndefinedError: the
    template uses a value that was not given.
    """
    return _environment().get_template(template).render(**values)
