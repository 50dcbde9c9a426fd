"""A clean dataset: three tables and a manifest, saved as Parquet and JSON."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from recap import columns as c
from recap.config import Config
from recap.data.cases import Protocol, build_cases
from recap.data.checks import Problem
from recap.data.cleaning import CleaningReport, DataConfig
from recap.data.parsing.read_report import ReadReport
from recap.data.schema import check_tables, read_table
from recap.errors import ConfigError, DatasetError
from recap.machine.printable import count_of, one_line, shortened
from recap.storage.artifacts import DATASET_MANIFEST, check_format, new_folder, recover_folders, verify_sums, write_sums
from recap.storage.json_text import read_json

FORMAT_VERSION: Final = 3
"""2: check-ins may be marked as history only, and the configuration says by which rule. 3: check-ins that only
predictions see, and problems."""
TABLES: Final = ("checkins", "pois", "users")
UNSEEN: Final = "unseen"
LONGEST: Final = 80
"""Letters of a label."""
NEVER_VISITED: Final = " (never visited in training)"
_HASHED_ROWS: Final = 1 << 20
_NUMBERS: Final = {"f": "<f8", **dict.fromkeys("Miub", "<i8")}
"""Kind of a column -> how its values are hashed; all others are text."""


class Manifest(Config):
    """Content of `dataset.json`."""

    format_version: int = FORMAT_VERSION
    name: str
    source_format: str
    preset: str = "custom"
    config: DataConfig
    report: CleaningReport
    dataset_hash: str
    unseen_hash: str = Field("", description="Of the check-ins that only predictions see; empty if there are none.")
    synthetic: bool = False
    reading: ReadReport | None = None
    problems: list[Problem] = Field([], description="What is wrong with the raw check-ins.")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Prepared check-ins with integer users and POIs.

    Attributes:
        checkins: sorted by (user, time, source row); ``user, poi`` (int32 indices), ``time`` (UTC seconds),
            ``tz_offset_minutes``, ``trajectory`` (ids from 0), ``split`` (0 train, 1 val, 2 test), ``source_row`` and,
            if there are such rows, ``history_only``.
        pois: row p describes POI p: ``poi_id, poi_name, category_id, category, category_index, latitude, longitude``
            (degrees), ``train_checkins``.
        users: row u describes user u: ``user_id``.
        unseen: raw check-ins that evaluation cannot use, because training has not seen their user or POI, sorted as
            ``checkins``; cases and histories lack them, predictions have them (`recap.asking.extension`).
        extends: hash of the dataset to which check-ins were added for predictions; empty for a stored one.
    """

    checkins: pd.DataFrame
    pois: pd.DataFrame
    users: pd.DataFrame
    manifest: Manifest
    unseen: pd.DataFrame | None = None
    extends: str = ""

    @property
    def hash(self) -> str:
        """SHA-256 of the tables' content, the same on every machine."""
        return self.manifest.dataset_hash

    @property
    def stored_hash(self) -> str:
        """`hash` of the dataset itself, whatever was added for predictions."""
        return self.extends or self.hash

    @property
    def problems(self) -> list[Problem]:
        """What `recap prepare` says is wrong with the check-ins."""
        return self.manifest.problems

    @property
    def unseen_line(self) -> str:
        """What evaluation leaves out; empty if nothing."""
        if self.unseen is None:
            return ""
        users, places = set(self.unseen[c.USER_ID]), set(self.unseen[c.POI_ID])
        new = len(users - {*self.users[c.USER_ID]}), len(places - {*self.pois[c.POI_ID]})
        who = " and ".join(count_of(count, noun) for count, noun in zip(new, ("user", "place"), strict=True) if count)
        checkins, verb = count_of(len(self.unseen), "check-in"), "is" if sum(new) == 1 else "are"
        return f"Evaluation leaves out {checkins}: {who} {verb} not in training. Predictions use them."

    @property
    def num_pois(self) -> int:
        return len(self.pois)

    @property
    def num_users(self) -> int:
        return len(self.users)

    @cached_property
    def num_categories(self) -> int:
        return int(self.pois[c.CATEGORY_INDEX].max()) + 1

    @cached_property
    def local_time(self) -> pd.Series:
        """Naive local time of each check-in."""
        offset = pd.to_timedelta(self.checkins[c.TZ_OFFSET_MINUTES].astype("int64"), unit="min")
        return self.checkins[c.TIME].dt.tz_localize(None) + offset

    def cases(self, split: int, protocol: Protocol = "every_step") -> np.ndarray:
        """Source rows of a split's cases, see `build_cases`."""
        return build_cases(self.checkins, split, protocol)

    @cached_property
    def poi_labels(self) -> list[str]:
        """A label for every POI, see `label_places`; one that was added for predictions says so."""
        labels = label_places(self.pois)
        if not self.extends:
            return labels
        is_new = self.pois[c.TRAIN_CHECKINS] == 0
        return [label + NEVER_VISITED * bool(new) for label, new in zip(labels, is_new, strict=True)]

    def save(self, folder: Path, card: str = "") -> None:
        """Write the folder, whole or not at all. Raises FolderInUseError: the folder exists and holds something else;
        RecapError: the disk refused; nothing is left. ``card``: Markdown, see `recap.data.inspection.dataset_card`.
        """
        tables = TABLES if self.unseen is None else (*TABLES, UNSEEN)
        with new_folder(folder, DATASET_MANIFEST) as out:
            for name in tables:
                table = pa.Table.from_pandas(getattr(self, name), preserve_index=False)
                pq.write_table(table, out / f"{name}.parquet", compression="zstd")
            (out / DATASET_MANIFEST).write_text(self.manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
            if card:
                (out / "CARD.md").write_text(card, encoding="utf-8")
            write_sums(out, [path.name for path in out.iterdir()])

    @classmethod
    def load(cls, folder: Path) -> "Dataset":
        """Read a dataset folder and check it against its hashes. Raises DatasetError: not a dataset, written by a newer
        version, or its tables are wrong (see `recap.data.schema`); ChecksumError: a file was changed.
        """
        recover_folders(folder.parent)
        if not (folder / DATASET_MANIFEST).is_file():
            raise DatasetError(f"{folder} has no {DATASET_MANIFEST}: make a dataset with `recap prepare`")
        manifest = _read_manifest(folder)
        names = (*TABLES, UNSEEN) if manifest.unseen_hash else TABLES
        verify_sums(folder, [DATASET_MANIFEST, *(f"{name}.parquet" for name in names)])
        with _readable(folder):
            tables = {name: read_table(folder, name) for name in names}
            content = hash_tables(*(tables[name] for name in TABLES))
            unseen = hash_tables(tables[UNSEEN]) if UNSEEN in tables else ""
        for computed, recorded in ((content, manifest.dataset_hash), (unseen, manifest.unseen_hash)):
            if computed != recorded:
                raise DatasetError(
                    f"{folder}: the tables' content is not what {DATASET_MANIFEST} recorded "
                    f"({computed[:12]}… instead of {recorded[:12]}…); run `recap prepare` again"
                )
        check_tables(str(folder), **tables)
        checkins, pois, users = (tables[name] for name in TABLES)
        return cls(checkins, pois, users, manifest, tables.get(UNSEEN))


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    try:
        yield
    except (ConfigError, pa.ArrowException, OSError, KeyError, TypeError, ValueError) as why:
        raise DatasetError(f"{folder} is no dataset's manifest or tables ({why}); run `recap prepare` again") from why


def _read_manifest(folder: Path) -> Manifest:
    """The manifest, not verified; format 1 had one history rule without a name."""
    with _readable(folder):
        values = read_json(folder / DATASET_MANIFEST)
        check_format(folder, values["format_version"], FORMAT_VERSION, DatasetError)
        earlier = {"history": "cases_only"} if values["format_version"] < 2 else {}
        return Manifest.parse(values | {"config": earlier | values["config"]})


def hash_tables(*tables: pd.DataFrame) -> str:
    """SHA-256 over column names and values: integers as int64, floats as float64, strings as JSON, times as seconds."""
    digest = hashlib.sha256()
    for name, column in (item for table in tables for item in table.items()):
        is_text = column.dtype.kind not in _NUMBERS
        digest.update(f"{name}:{len(column)}\n{'[' * is_text}".encode())
        for start in range(0, len(column), _HASHED_ROWS):  # to save memory
            digest.update(b", " * (is_text and start > 0) + _hashed(column.iloc[start : start + _HASHED_ROWS]))
        digest.update(b"]" * is_text)
    return digest.hexdigest()


def _hashed(values: pd.Series) -> bytes:
    kind = _NUMBERS.get(values.dtype.kind)
    if kind is None:
        return json.dumps(values.astype(str).tolist())[1:-1].encode()
    if values.dtype.kind == "M":
        return values.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy("datetime64[s]").astype(kind).tobytes()
    return values.to_numpy(kind).tobytes()


def read_names(folder: Path) -> Dataset:
    """Users, places and manifest of a dataset folder, without check-ins and unverified; RecapError if none."""
    manifest = _read_manifest(folder)
    with _readable(folder):
        return Dataset(pd.DataFrame(), read_table(folder, "pois"), read_table(folder, "users"), manifest)


def recorded_hash(folder: Path) -> str:
    """The unverified hash of a dataset folder; empty if there is none."""
    recover_folders(folder.parent)
    try:
        return str(read_json(folder / DATASET_MANIFEST)["dataset_hash"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def label_places(pois: pd.DataFrame) -> list[str]:
    """A label for every POI that is safe to show: its name; else its category, with a code where several nameless POIs
    share it; else its id. For example "Middle School · 4b0a". The code begins the SHA-256 of the POI's id, so it is the
    same in every dataset; it is longer where two POIs of a category agree in four digits.
    """
    columns = (c.POI_NAME, c.CATEGORY, c.POI_ID)
    texts = ([shortened(one_line(str(text)), LONGEST) for text in pois[column]] for column in columns)
    rows = [*zip(*texts, strict=True)]
    labels = [name or category or poi_id or "unnamed" for name, category, poi_id in rows]
    nameless = Counter(category for name, category, _ in rows if category and not name)
    digests = {
        poi: hashlib.sha256(str(pois[c.POI_ID].iloc[poi]).encode("utf-8", "backslashreplace")).hexdigest()
        for poi, (name, category, _) in enumerate(rows)
        if not name and nameless[category] > 1
    }
    waiting = list(digests)
    for digits in range(4, 65):
        for poi in waiting:
            code = f" · {digests[poi][:digits]}"
            labels[poi] = shortened(rows[poi][1], LONGEST - len(code)) + code
        times = Counter(labels[poi] for poi in waiting)
        waiting = [poi for poi in waiting if times[labels[poi]] > 1]
    return labels
