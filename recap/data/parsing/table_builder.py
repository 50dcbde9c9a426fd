"""From parsed rows to the raw check-in table: one place where every reader's columns get their meaning."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap import columns as c
from recap.data.coordinates import look_swapped
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, ReadReport, RowReport
from recap.data.parsing.row_block import RowBlock, shorten
from recap.data.parsing.time_column import TimeColumn
from recap.data.parsing.time_zones import TimeZoneResolver
from recap.data.parsing.times import TimeLayout
from recap.data.parsing.zone_column import ZoneColumn, ZoneNames
from recap.data.parsing.zone_proposal import propose_zone
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
"""Longer ids and names are no such things, and nothing could show them: a lost quotation mark, or a column of prose."""

Sink = Callable[[pa.Table], None]
"""Takes the blocks of a table."""

_EVERY_PLACE: Final = 1 << 21
"""Rows whose coordinates are all looked at where the table itself is not kept; of later ones fewer and fewer."""


@dataclass(frozen=True)
class Fields:
    """Which column of the file holds what; None where the file has none.

    ``split_code`` gives all rows one split instead of reading a column; ``date`` holds the day where ``time`` is the
    clock alone.
    """

    user: str
    poi: str
    time: str
    latitude: str
    longitude: str
    category: str | None = None
    category_id: str | None = None
    poi_name: str | None = None
    tz_offset: str | None = None
    split: str | None = None
    trajectory: str | None = None
    split_code: int | None = None
    date: str | None = None

    def columns(self) -> list[str]:
        """The columns to read."""
        names = (
            self.user,
            self.poi,
            self.time,
            self.latitude,
            self.longitude,
            self.category,
            self.category_id,
            self.poi_name,
            self.tz_offset,
            self.split,
            self.trajectory,
            self.date,
        )
        return list(dict.fromkeys(name for name in names if name is not None))


class CheckinTableBuilder:
    """Collects the check-ins of one source, block by block, and gives them out as one table.

    Args:
        name: file name for messages.
        layout: layout of the times; taken from the first block where None.
        local_by_format: times are wall-clock times whatever their layout says.
        sink: takes the rows of each block; then no table is kept.
    """

    def __init__(
        self,
        name: str,
        options: ReadOptions,
        row_report: RowReport,
        *,
        layout: TimeLayout | None = None,
        local_by_format: bool = False,
        sink: Sink | None = None,
    ) -> None:
        self.name, self.options, self.row_report = name, options, row_report
        self.times = TimeColumn(name, options, row_report, layout)
        self.local_by_format = local_by_format
        self.clock: TimeZoneResolver | None = None
        self.zones: ZoneColumn | None = None
        self.coordinates = ("", "")
        self.sink = sink
        self.num_rows = 0
        self._tables: list[pa.Table] = []
        self._splits: set[int] = set()

    def add(self, rows: RowBlock, fields: Fields) -> None:
        """Parse the rows of a block and keep the good ones.

        Raises:
            DataError: a bad row that the options do not skip; no time zone is known.
        """
        texts = {
            c.USER_ID: rows.identifier(fields.user, "user_id", "user id"),
            c.POI_ID: rows.identifier(fields.poi, "poi_id", "place id"),
        }
        latitude = rows.number(fields.latitude, "latitude", "latitude", -90, 90)
        longitude = rows.number(fields.longitude, "longitude", "longitude", -180, 180)
        self._refuse_swapped(latitude, longitude, fields)
        self.coordinates = (fields.latitude, fields.longitude)
        offsets = self._read_offsets(rows, fields)
        times = self.times.read(rows, fields.time, fields.date)
        layout = self.times.layout
        assert layout is not None
        if offsets is None and layout.is_utc and self.options.zone is None and not self.times.is_local_by_name:
            offsets = self._offsets_in_times(rows, fields)
        lon = longitude.to_numpy(zero_copy_only=False)
        if self.clock is None:
            is_known = offsets is not None or self.options.zone or layout.zone
            self.clock = TimeZoneResolver(
                self.name,
                self.options,
                self.row_report,
                has_offsets=offsets is not None,
                layout_is_utc=layout.is_utc,
                zone_of_type=layout.zone,
                local_by_format=self.local_by_format or self.times.is_local_by_name,
                proposed="" if is_known else propose_zone(latitude.to_numpy(zero_copy_only=False), lon),
            )
        if offsets is None:
            offsets = np.zeros(len(rows), dtype=np.int64)
        utc, minutes = self.clock.read(times, lon, offsets)
        self._apply_bbox(rows, latitude.to_numpy(zero_copy_only=False), lon)

        empty = pa.array([""]).take(pa.array(np.zeros(len(rows), dtype=np.int8)))
        category = rows.text(fields.category) if fields.category else empty
        category_id = rows.text(fields.category_id) if fields.category_id else category
        texts |= {c.CATEGORY_ID: category_id, c.CATEGORY: category if fields.category else category_id}
        if fields.poi_name:
            texts[c.POI_NAME] = rows.text(fields.poi_name)
        if fields.trajectory:
            texts[c.TRAJECTORY_ID] = rows.text(fields.trajectory)
        for column, values in texts.items():
            _flag_long(rows, column, values)
        columns = {name: pc.dictionary_encode(column) for name, column in texts.items()}
        columns |= {
            c.LATITUDE: latitude,
            c.LONGITUDE: longitude,
            c.TZ_OFFSET_MINUTES: pa.array(minutes),
            c.TIME: pa.array(utc).cast(pa.timestamp("s", tz="UTC")),
        }
        if fields.split is not None or fields.split_code is not None:
            columns[c.SPLIT] = self._read_split(rows, fields)
        self._keep(rows.finish(columns, self.row_report))

    def read(
        self,
        source_format: str,
        files: list[str],
        rows_in: int,
        *,
        columns: dict[str, str] | None = None,
        newest_first: bool = False,
    ) -> RawRead:
        """The raw table of all rows kept, empty where a sink took them, with the account.

        Args:
            newest_first: the file is written backwards; the table then begins with the file's last row, so that rows
                of one second stand in the order in which they happened.

        Raises:
            DataError: no row is left.
        """
        account = self._account(source_format, files, rows_in, columns)
        if self.sink is not None:
            return RawRead(pd.DataFrame(), account)
        table = pa.concat_tables(self._tables).unify_dictionaries().combine_chunks()
        self._tables.clear()
        names = [name for name in (*c.RAW_COLUMNS, c.POI_NAME, c.SPLIT, c.TRAJECTORY_ID) if name in table.column_names]
        frame = table.select(names).to_pandas(self_destruct=True, split_blocks=True)
        return RawRead(frame.iloc[::-1].reset_index(drop=True) if newest_first else frame, account)

    def _account(
        self, source_format: str, files: list[str], rows_in: int, columns: dict[str, str] | None
    ) -> ReadReport:
        if self.clock is not None:
            self.clock.remarks(self.row_report)
        if self._splits:
            for code, help_with in ((c.VAL, "train"), (c.TEST, "evaluate")):
                if code not in self._splits:
                    self.row_report.note(
                        f"The file's split has no {c.SPLIT_NAMES[code]} rows, and `recap {help_with}` needs some; "
                        "--set keep_given_split=false splits by time."
                    )
        self._note_swapped()
        return self.row_report.account(source_format, files, rows_in, self.num_rows, columns)

    def _keep(self, table: pa.Table) -> None:
        if c.SPLIT in table.column_names:
            self._splits |= set(pc.unique(table[c.SPLIT]).to_pylist())
        step = 1 + self.num_rows // _EVERY_PLACE
        self.num_rows += table.num_rows
        if self.sink is not None:
            self.sink(table)
            table = table.select([c.LATITUDE, c.LONGITUDE, c.TZ_OFFSET_MINUTES])
            table = table if step == 1 else table.take(pa.array(np.arange(0, table.num_rows, step)))
        self._tables.append(table)

    def _read_offsets(self, rows: RowBlock, fields: Fields) -> np.ndarray | ZoneNames | None:
        if fields.tz_offset is None or self.options.timezone is not None:
            return None
        self.zones = self.zones or ZoneColumn(fields.tz_offset)
        return self.zones.read(rows)

    def _offsets_in_times(self, rows: RowBlock, fields: Fields) -> np.ndarray | None:
        if self.clock is not None and self.clock.zone is not None:
            return None
        found = self.times.offsets(rows, fields.time)
        return np.zeros(len(rows), dtype=np.int64) if found is None and self.clock is not None else found

    def _refuse_swapped(self, latitude: pa.Array, longitude: pa.Array, fields: Fields) -> None:
        """Most latitudes beyond 90 degrees while the longitudes would do for latitudes: the two are swapped."""
        if self._tables or not len(latitude):
            return
        given, other = (np.abs(np.asarray(pc.fill_null(v, np.nan))) for v in (latitude, longitude))
        if ((given > 90) & (given <= 180) & (other <= 90)).mean() > 0.5:
            row = int(np.flatnonzero(given > 90)[0])
            raise DataError(
                f"{self.name}: latitude and longitude are swapped: the first latitude is {latitude[row]}, its "
                f"longitude {longitude[row]}; for your own table turn them round with "
                f"--map lat={fields.longitude},lon={fields.latitude}"
            )

    def _note_swapped(self) -> None:
        """Name coordinates that stay within their ranges the wrong way round, as in New York."""
        columns = (c.LATITUDE, c.LONGITUDE, c.TZ_OFFSET_MINUTES)
        if self.num_rows:
            lat, lon, minutes = (np.concatenate([table[name].to_numpy() for table in self._tables]) for name in columns)
            if look_swapped(lat, lon, minutes.astype(np.float64)):
                latitude, longitude = self.coordinates
                self.row_report.note(
                    "Latitude and longitude look swapped: the check-ins lie around "
                    f"{np.median(lat):.2f}, {np.median(lon):.2f}, and only turned round do they fit the inhabited "
                    f"earth and their clocks; for your own table --map lat={longitude},lon={latitude}."
                )

    def _apply_bbox(self, rows: RowBlock, latitude: np.ndarray, longitude: np.ndarray) -> None:
        box = self.options.bbox
        if box is not None:
            inside = (latitude >= box.south) & (latitude <= box.north)
            inside &= (longitude >= box.west) & (longitude <= box.east)
            rows.flag("outside_bbox", ~inside, lambda row: f"{latitude[row]:g}, {longitude[row]:g} is outside the box")

    def _read_split(self, rows: RowBlock, fields: Fields) -> pa.Array:
        if fields.split is None:
            return pa.array(np.full(len(rows), fields.split_code, dtype=np.int8))
        words = pc.utf8_lower(rows.text(fields.split))
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
