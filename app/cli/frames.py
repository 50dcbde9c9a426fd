"""Data frames in the output of commands: plain rows for JSON, a table for people."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from app.headings import cell_words

if TYPE_CHECKING:
    import pandas as pd


def plain_rows(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Plain rows; `print_json` writes a missing number as null."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict(orient="records")]


def frame_table(title: str, table: "pd.DataFrame", headings: Mapping[str, str]) -> Table:
    """A table for people. ``headings``: by column, in print order; other columns are left out."""
    shown = Table(title=escape(title), title_justify="left")
    listed = [name for name in headings if name in table]
    for name in listed:
        shown.add_column(escape(headings[name]), justify="right" if table[name].dtype.kind in "iufb" else "left")
    for row in table[listed].itertuples(index=False):
        shown.add_row(*(_cell(cell_words(value)) for value in row))
    return shown


def _cell(value: Any) -> str:
    """A number with four digits, or "–" if it is missing."""
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4f}"
    return "–" if isinstance(value, int) and value < 0 else escape(str(value))
