"""Fill the Markdown templates of the demo city's model card."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def fill_template(name: str, **values: Any) -> str:
    # Only Markdown from the repository's own result files; HTML elsewhere is escaped.
    environment = Environment(  # noqa: S701
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name).render(**values)
