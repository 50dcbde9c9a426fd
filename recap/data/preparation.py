"""Turn raw check-ins into a `Dataset`. Of files beyond memory texts stay on disk; numbers and ids fit in memory."""

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.cases import history_only
from recap.data.cleaning import DataConfig, clean_rows, number_ids, number_rows
from recap.data.dataset import Dataset, Manifest, hash_tables
from recap.data.parsing.text_table import GZIP_MAGIC
from recap.errors import ConfigError, RecapError
from recap.machine.memory import trim_heap

DESCRIBING: Final = (c.POI_NAME, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE)
"""Columns of a raw row that describe a place."""
ENGINES: Final = ("auto", "memory", "disk")

_PEAK: Final = {"row": 260, "text": 2, "gzip": 12}
"""Bytes of memory that preparing takes for a row of Parquet, a byte of text and a compressed one (docs/scale.md)."""
_SHARE: Final = 0.6
"""Share of the free memory that it may take."""
_NUMBERED: Final = (c.USER_ID, c.POI_ID, c.TRAJECTORY_ID, c.TIME, c.TZ_OFFSET_MINUTES, c.SPLIT)
FORMATS: Final = ("foursquare", "csv", "json", "parquet")
"""Formats that can be spooled."""


def prepare_dataset(raw: "pd.DataFrame | Spool", config: DataConfig, /, **facts: Any) -> Dataset:
    """Build a dataset from a raw check-in table (columns in `recap.columns`) in memory or on disk. Ids are numbered in
    lexicographic order; a POI is described by its first check-in by (time, source row) that is not history only. Raises
    DataError: nothing usable is left, see `clean_rows`. ``facts``: further fields of the `Manifest`, its name and
    source_format among them.
    """
    describing = raw.rows_at if isinstance(raw, Spool) else raw.take
    rows, user_ids, poi_ids = number_rows(raw.numbers() if isinstance(raw, Spool) else raw)
    trim_heap()
    left, gone, report = clean_rows(rows, config)
    del rows  # gigabytes of a large file
    trim_heap()
    unseen = None
    if len(gone):
        ids = {c.SOURCE_ROW: gone.index, c.USER_ID: user_ids[gone[c.USER]], c.POI_ID: poi_ids[gone[c.POI]]}
        unseen = pd.DataFrame(ids).join(_described(describing(gone.index.to_numpy())))
        unseen = unseen.join(gone[[c.TZ_OFFSET_MINUTES, c.TIME, c.SPLIT]].reset_index(drop=True))
    numbers, names = {}, {}
    for column in (c.USER, c.POI, c.TRAJECTORY):  # only those that are left
        codes, names[column] = pd.factorize(left[column], sort=True)
        numbers[column] = codes.astype(np.int32)
    columns = [c.USER, c.POI, c.TIME, c.TZ_OFFSET_MINUTES, c.TRAJECTORY, c.SPLIT, c.SOURCE_ROW]
    columns += [c.HISTORY_ONLY] * bool(left[c.HISTORY_ONLY].any())
    checkins = left.assign(**numbers).rename_axis(c.SOURCE_ROW).reset_index()[columns]
    del left
    pois = _described(describing(_first_rows(checkins)))
    pois.insert(0, c.POI_ID, poi_ids[names[c.POI]])
    pois.insert(4, c.CATEGORY_INDEX, number_ids(pois[c.CATEGORY_ID])[0])
    trained = checkins.loc[checkins[c.SPLIT] == c.TRAIN, c.POI]
    pois[c.TRAIN_CHECKINS] = np.bincount(trained, minlength=len(pois)).astype(np.int64)
    users = pd.DataFrame({c.USER_ID: user_ids[names[c.USER]]})
    trim_heap()
    facts["unseen_hash"] = "" if unseen is None else hash_tables(unseen)
    manifest = Manifest(config=config, report=report, dataset_hash=hash_tables(checkins, pois, users), **facts)
    return Dataset(checkins=checkins, pois=pois, users=users, manifest=manifest, unseen=unseen)


def _described(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of `DESCRIBING`; names are empty where there are none."""
    rows = rows.reset_index(drop=True)
    texts = {name: rows[name].astype(str) if name in rows else "" for name in DESCRIBING[:3]}
    return pd.DataFrame({name: rows[name].astype(np.float64) for name in DESCRIBING[3:]}).assign(**texts)[[*DESCRIBING]]


def _first_rows(checkins: pd.DataFrame) -> np.ndarray:
    """Source row of each POI's first check-in that may open a case."""
    opening = checkins[~history_only(checkins)]
    firsts = opening[opening[c.TIME] == opening.groupby(c.POI)[c.TIME].transform("min")]
    return firsts.sort_values([c.POI, c.SOURCE_ROW]).drop_duplicates(c.POI)[c.SOURCE_ROW].to_numpy()


def choose_engine(engine: str, path: Path, source_format: str) -> bool:
    """Whether to keep texts on disk, as ``auto`` does where they may not fit into memory. Raises ConfigError: the
    engine is unknown or cannot prepare this format.
    """
    if engine not in ENGINES:
        raise ConfigError(f"unknown engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if engine == "disk" and source_format not in FORMATS:
        raise ConfigError(f"--engine disk prepares {', '.join(FORMATS)}, got {source_format}; leave --engine out")
    if engine != "auto" or source_format not in FORMATS:
        return engine == "disk"
    try:
        if source_format == "parquet":
            needed = pq.read_metadata(path).num_rows * _PEAK["row"]
        else:
            with path.open("rb") as file:
                kind = "gzip" if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC else "text"
            needed = path.stat().st_size * _PEAK[kind]
    except (pa.ArrowException, OSError):
        return False  # the reader says what is wrong
    return bool(needed > _SHARE * psutil.virtual_memory().available)


class Spool(AbstractContextManager["Spool"]):
    """Takes check-ins block by block and keeps them in files of a new folder, which has room for those of a whole
    input, until the end of a ``with`` block. Raises RecapError: the disk refused.
    """

    def __init__(self, workplace: Path) -> None:
        self.place = next(folder for folder in (workplace.absolute(), *workplace.absolute().parents) if folder.is_dir())
        with self._writing():
            self._folder = tempfile.TemporaryDirectory(prefix=".recap-prepare-", dir=self.place)
        self._files: list[Path] = []

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def add(self, block: pa.Table) -> None:
        """Write a block."""
        self._files.append(Path(self._folder.name) / f"{len(self._files)}.parquet")
        with self._writing():
            pq.write_table(block, self._files[-1], compression="zstd")

    def numbers(self) -> pd.DataFrame:
        """The columns of which cleaning makes numbers, of all rows; ids as categories."""
        trim_heap()
        stored = ds.dataset(self._files)
        names = [name for name in _NUMBERED if name in stored.schema.names]
        read = (stored.to_table([name], use_threads=False).unify_dictionaries() for name in names)
        return pd.DataFrame({table.column_names[0]: table.column(0).to_pandas() for table in read}, copy=False)

    def rows_at(self, row_N: np.ndarray) -> pd.DataFrame:
        """What describes the places of rows, in this order."""
        stored = ds.dataset(self._files)
        names = [name for name in DESCRIBING if name in stored.schema.names]
        scanner = stored.scanner(names, use_threads=False, batch_readahead=0, fragment_readahead=0)
        return scanner.take(pa.array(row_N)).to_pandas()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RecapError(f"cannot write to {self.place}: {error.strerror or error}; free disk space") from error
