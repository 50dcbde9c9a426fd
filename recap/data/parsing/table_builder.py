"""Build the raw check-in table from parsed rows, for all readers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap import columns as c
from recap.data.coordinates import propose_zone
from recap.data.parsing.degrees import to_degrees, unwrapped, wraps_around
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import RowBlock, shorten, text_rows
from recap.data.parsing.text_table import TextTable
from recap.data.parsing.time_column import TimeColumn
from recap.data.parsing.times import TimeLayout
from recap.data.parsing.zones import TimeZoneResolver, ZoneColumn, ZoneNames
from recap.errors import DataError

SPLIT_WORDS: Final = {
    "train": c.TRAIN,
    "training": c.TRAIN,
    "val": c.VAL,
    "valid": c.VAL,
    "validation": c.VAL,
    "dev": c.VAL,
    "test": c.TEST,
    "testing": c.TEST,
    "0": c.TRAIN,
    "1": c.VAL,
    "2": c.TEST,
}
MOST_CHARACTERS: Final = 4096
"""Longer ids and names are refused: they come from a lost quotation mark or a column of prose."""

Sink = Callable[[pa.Table], None]


class CheckinTableBuilder:
    """Collects the check-ins of one source, block by block, and gives them out as one table.

    Args:
        name: file name for messages.
        layout: layout of the times; decided by the first block where None.
        local_by_format: times are wall-clock times whatever their layout says.
        sink: takes the rows of each block; then no table is kept.
    """

    def __init__(
        self,
        name: str,
        options: ReadOptions,
        *,
        layout: TimeLayout | None = None,
        local_by_format: bool = False,
        sink: Sink | None = None,
    ) -> None:
        self.name, self.options, self.report = name, options, RowReport(options.skip_bad_rows)
        self.times = TimeColumn(name, options, self.report, layout)
        self.local_by_format = local_by_format
        self.clock: TimeZoneResolver | None = None
        self.zones: ZoneColumn | None = None
        self.sink = sink
        self.num_rows = 0
        self._proposed: str | None = None
        self._tables: list[pa.Table] = []
        self._splits: set[int] = set()
        self._is_wrapped: bool | None = None

    def add_text(
        self,
        table: TextTable,
        fields: Mapping[str, str] | None = None,
        prepare: Callable[[RowBlock], None] = lambda rows: None,
        wanted: Sequence[str] | None = None,
    ) -> None:
        """Add the rows of a text table, each block prepared first; columns are called as their fields by default."""
        for rows in text_rows(table, list(wanted or table.names), self.report):
            prepare(rows)
            self.add(rows, fields or {name: name for name in table.names})

    def add(self, rows: RowBlock, fields: Mapping[str, str]) -> None:
        """Parse the rows of a block and keep the good ones; ``fields`` maps those of `--map` to its columns. Raises
        DataError: a bad row that the options do not skip; no time zone is known.
        """
        texts = {
            c.USER_ID: rows.identifier(fields["user"], "user_id", "user id"),
            c.POI_ID: rows.identifier(fields["poi"], "poi_id", "place id"),
        }
        latitude = rows.number(fields["lat"], "latitude", "latitude", -90, 90, to_degrees)
        longitude = rows.number(fields["lon"], "longitude", "longitude", -180, 180, self._longitudes)
        offsets = self._read_offsets(rows, fields)
        times = self.times.read(rows, fields["time"], fields.get("date"))
        layout = self.times.layout
        assert layout is not None
        if offsets is None and layout.is_utc and self.options.zone is None and not self.times.is_local_by_name:
            offsets = self._offsets_in_times(rows, fields)
        if self.options.local_times and layout.is_utc and not (self.local_by_format or layout.zone):
            times = self._as_written(times, self.times.offsets(rows, fields["time"]))
        lon = longitude.to_numpy(zero_copy_only=False)
        if self.clock is None:
            if offsets is None and not (self.options.zone or layout.zone):
                self._propose_zone(latitude.to_numpy(zero_copy_only=False), lon)
            self.clock = TimeZoneResolver(
                self.name,
                self.options,
                has_offsets=offsets is not None,
                layout_is_utc=layout.zone is not None,
                zone_of_type=layout.zone,
                local_by_format=self.local_by_format or self.times.is_local_by_name,
            )
        if offsets is None:
            offsets = np.zeros(len(rows), dtype=np.int64)
        utc, minutes = self.clock.read(times, lon, offsets)
        self._apply_bbox(rows, latitude.to_numpy(zero_copy_only=False), lon)

        empty = pa.array([""]).take(pa.array(np.zeros(len(rows), dtype=np.int8)))
        category = rows.text(fields["category"]) if "category" in fields else empty
        category_id = rows.text(fields["category_id"]) if "category_id" in fields else category
        texts |= {c.CATEGORY_ID: category_id, c.CATEGORY: category if "category" in fields else category_id}
        if "name" in fields:
            texts[c.POI_NAME] = rows.text(fields["name"])
        if "split" in fields and "trajectory" in fields:
            texts[c.TRAJECTORY_ID] = rows.text(fields["trajectory"])
        for column, values in texts.items():
            _flag_long(rows, column, values)
        columns = {name: pc.dictionary_encode(column) for name, column in texts.items()}
        columns |= {
            c.LATITUDE: latitude,
            c.LONGITUDE: longitude,
            c.TZ_OFFSET_MINUTES: pa.array(minutes),
            c.TIME: pa.array(utc).cast(pa.timestamp("s", tz="UTC")),
        }
        if "split" in fields:
            columns[c.SPLIT] = _read_split(rows, fields["split"])
        self._keep(rows.finish(columns, self.report))

    def read(
        self,
        source_format: str,
        files: list[str],
        rows_in: int,
        *,
        columns: dict[str, str] | None = None,
        newest_first: bool = False,
    ) -> RawRead:
        """The raw table of all rows kept, empty where a sink took them, with the account. Raises DataError: no row is
        left.

        Args:
            newest_first: the file is written backwards; the table then begins with the file's last row, so that rows
                of one second stand in the order in which they happened.
        """
        if self.clock is not None:
            self.clock.remarks(self.report)
            self.times.remarks()
        if self._splits:
            for code, help_with in ((c.VAL, "train"), (c.TEST, "evaluate")):
                if code not in self._splits:
                    self.report.note(
                        f"The file's split has no {c.SPLIT_NAMES[code]} rows, and `recap {help_with}` needs some; "
                        "--set keep_given_split=false splits by time."
                    )
        account = self.report.account(source_format, files, rows_in, self.num_rows, columns)
        if self.sink is not None:
            return RawRead(pd.DataFrame(), account)
        table = pa.concat_tables(self._tables).unify_dictionaries().combine_chunks()
        self._tables.clear()
        names = [name for name in (*c.RAW_COLUMNS, c.POI_NAME, c.SPLIT, c.TRAJECTORY_ID) if name in table.column_names]
        frame = table.select(names).to_pandas(self_destruct=True, split_blocks=True)
        frame = frame.iloc[::-1].reset_index(drop=True) if newest_first else frame
        assert self.clock is not None and self.times.layout is not None
        is_marked = self.times.layout.is_utc and not self.clock.is_local
        return RawRead(frame, account, self._proposed, self.clock.zone, is_marked)

    def _propose_zone(self, latitude: np.ndarray, longitude: np.ndarray) -> None:
        self._proposed = propose_zone(latitude, longitude)
        if not self.options.take_proposed_zone:
            raise DataError(f"{self.name} has no time zone; its coordinates suggest --timezone {self._proposed}")
        self.options = self.options.model_copy(update={"timezone": self._proposed})
        self.report.note(f"The file has no time zone; its coordinates suggest --timezone {self._proposed}.")

    def _keep(self, table: pa.Table) -> None:
        if c.SPLIT in table.column_names:
            self._splits |= set(pc.unique(table[c.SPLIT]).to_pylist())
        self.num_rows += table.num_rows
        (self.sink or self._tables.append)(table)

    def _read_offsets(self, rows: RowBlock, fields: Mapping[str, str]) -> np.ndarray | ZoneNames | None:
        if "tz" not in fields or self.options.timezone is not None:
            return None
        self.zones = self.zones or ZoneColumn(fields["tz"])
        return self.zones.read(rows)

    def _offsets_in_times(self, rows: RowBlock, fields: Mapping[str, str]) -> np.ndarray | None:
        if self.clock is not None and self.clock.zone is not None:
            return None
        found = self.times.offsets(rows, fields["time"])
        return np.zeros(len(rows), dtype=np.int64) if found is None and self.clock is not None else found

    def _longitudes(self, values: pa.Array) -> pa.Array:
        found = to_degrees(values)
        self._is_wrapped = wraps_around(found) if self._is_wrapped is None else self._is_wrapped
        if self._is_wrapped:
            self.report.note("Longitudes run from 0 to 360 degrees; those above 180 are read as west.")
        return unwrapped(found) if self._is_wrapped else found

    def _as_written(self, times: np.ndarray, offsets: np.ndarray | None) -> np.ndarray:
        """Clocks as they are written, without what they carry."""
        self.report.note("Times are written in UTC or with an offset; --local-times takes their clocks as local.")
        return times if offsets is None else times + offsets.astype("timedelta64[m]")

    def _apply_bbox(self, rows: RowBlock, latitude: np.ndarray, longitude: np.ndarray) -> None:
        box = self.options.bbox
        if box is not None:
            inside = (latitude >= box.south) & (latitude <= box.north)
            inside &= (longitude >= box.west) & (longitude <= box.east)
            rows.flag("outside_bbox", ~inside, lambda row: f"{latitude[row]:g}, {longitude[row]:g} is outside the box")


def _read_split(rows: RowBlock, column: str) -> pa.Array:
    words = pc.utf8_lower(rows.text(column))
    found = pc.index_in(words, pa.array(list(SPLIT_WORDS)))
    rows.flag(
        "split",
        np.asarray(pc.is_null(found).to_numpy(zero_copy_only=False)),
        lambda row: f"split must be train, val or test, got {shorten(words[row])}",
    )
    codes = pa.array(np.array(list(SPLIT_WORDS.values()), dtype=np.int8))
    return pc.fill_null(pc.take(codes, found), 0)


def _flag_long(rows: RowBlock, column: str, values: pa.Array) -> None:
    long = np.asarray(pc.greater(pc.utf8_length(values), MOST_CHARACTERS).to_numpy(zero_copy_only=False))
    expected = f"{column} must have at most {MOST_CHARACTERS:,} characters"
    rows.flag("too_long", long, lambda row: f"{expected}, got {len(values[row].as_py()):,}: {shorten(values[row])}")
