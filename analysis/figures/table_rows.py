"""Rows of a table as plain dicts, for pydeck and pictures."""

from typing import Any

import pandas as pd


def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """One dict for each row, in every version of pandas."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
