"""Data frames in the output of commands: plain rows for JSON, a table for people."""

import math
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    import pandas as pd


def plain_rows(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Plain rows; a missing number is null."""
    rows = table.to_dict(orient="records")
    return [
        {str(key): None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()}
        for row in rows
    ]


def frame_table(title: str, table: "pd.DataFrame") -> Table:
    """A table for people; the title is not markup."""
    shown = Table(title=escape(title), title_justify="left")
    for name in table.columns:
        shown.add_column(str(name).replace("_", " "), justify="left" if table[name].dtype == object else "right")
    for row in table.itertuples(index=False):
        shown.add_row(*map(_cell, row))
    return shown


def _cell(value: Any) -> str:
    """A number with four digits; "–" if there is none, such as the mean of no cases."""
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4f}"
    return "–" if isinstance(value, int) and value < 0 else escape(str(value))
