"""Readers, one file per published format; each returns the raw check-in table of `recap.columns`."""

from pathlib import Path
from typing import Final, Literal, get_args

import pandas as pd

from recap.data.sources.foursquare import read_foursquare
from recap.errors import ConfigError

SourceFormat = Literal["foursquare"]
SOURCE_FORMATS: Final = get_args(SourceFormat)


def read_raw(path: Path, source_format: str) -> pd.DataFrame:
    """Read raw check-ins in a named format.

    Raises:
        ConfigError: the format is unknown.
        DataError: the file cannot be read as that format.
    """
    match source_format:
        case "foursquare":
            return read_foursquare(path)
        case _:
            raise ConfigError(f"unknown format {source_format!r}; choose one of {', '.join(SOURCE_FORMATS)}")
