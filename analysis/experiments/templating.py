"""Markdown templates: results of experiments and the demo city's model card."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def _environment() -> Environment:
    # Only Markdown from the repository's own result files; HTML elsewhere is escaped.
    return Environment(  # noqa: S701
        loader=PackageLoader("analysis.experiments"),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


def fill_template(name: str, **values: Any) -> str:
    return _environment().get_template(name).render(**values)
