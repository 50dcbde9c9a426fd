"""Whether a file is prepared in memory or beyond it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from recap.data.cleaning import DataConfig
from recap.data.out_of_core.cleaning import require_fitting
from recap.data.out_of_core.engine import is_installed
from recap.data.out_of_core.spool import FORMATS
from recap.data.parsing.text_table import GZIP_MAGIC
from recap.errors import ConfigError

Engine = Literal["auto", "memory", "duckdb"]
ENGINES: Final = get_args(Engine)

_BYTES_A_ROW: Final = 260
"""What preparing Parquet in memory takes at its peak (docs/scale.md)."""
_BYTES_A_TEXT_BYTE: Final = 2
"""The same for a byte of text."""
_TEXT_A_GZIP_BYTE: Final = 6
"""What a byte of a compressed check-in file becomes, roughly."""
_SHARE: Final = 0.6
"""Share of the free memory that it may take."""


@dataclass(frozen=True)
class Choice:
    """How to prepare, and a sentence where people should know why."""

    is_out_of_core: bool
    note: str = ""


def choose_engine(engine: str, path: Path, source_format: str, config: DataConfig) -> Choice:
    """In memory where that will do; on disk for large files, or where it is asked for.

    Raises:
        ConfigError: the engine is unknown, missing, or cannot prepare this.
    """
    if engine not in ENGINES:
        raise ConfigError(f"unknown engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if engine == "duckdb":
        if source_format not in FORMATS:
            raise ConfigError(f"--engine duckdb prepares {', '.join(FORMATS)}, got {source_format}; leave --engine out")
        require_fitting(config)
        return Choice(True)
    if engine == "memory" or source_format not in FORMATS or not _is_large(path, source_format):
        return Choice(False)
    try:
        require_fitting(config)
    except ConfigError as error:
        return Choice(False, f"This file may not fit into memory: {error}.")
    if not is_installed():
        return Choice(False, "This file may not fit into memory; `pip install 'recap[large]'` prepares it on disk.")
    return Choice(True)


def _is_large(path: Path, source_format: str) -> bool:
    try:
        if source_format == "parquet":
            needed = pq.read_metadata(path).num_rows * _BYTES_A_ROW
        else:
            with path.open("rb") as file:
                is_gzip = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            needed = path.stat().st_size * _BYTES_A_TEXT_BYTE * (_TEXT_A_GZIP_BYTE if is_gzip else 1)
    except (pa.ArrowException, OSError):
        return False  # the reader says what is wrong
    return bool(needed > _SHARE * psutil.virtual_memory().available)
