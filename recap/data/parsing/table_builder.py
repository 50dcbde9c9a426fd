"""Build the raw check-in table from parsed rows, for all readers."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recap import columns as c
from recap.data.parsing.degrees import to_degrees, unwrapped, wraps_around
from recap.data.parsing.moments import Moments
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead, RowReport
from recap.data.parsing.row_block import RowBlock, shorten
from recap.data.parsing.table_folder import SPLIT_WORDS
from recap.data.parsing.table_source import TableSource

MOST_CHARACTERS: Final = 4096
"""Longer ids and names are refused: they come from a lost quotation mark or a column of prose."""

Sink = Callable[[pa.Table], None]


class CheckinTableBuilder:
    """Makes check-ins of the rows of a source: one table, or blocks, which a ``sink`` takes."""

    def __init__(self, source: TableSource, options: ReadOptions, sink: Sink | None = None) -> None:
        self.source, self.options, self.sink = source, options, sink
        self.report = RowReport(options.skip_bad_rows)
        self.moments = Moments(source, options, self.report)
        self._is_wrapped: bool | None = None

    def _parse(self, rows: RowBlock, fields: Mapping[str, str]) -> pa.Table:
        """The good rows of a block; ``fields`` maps those of `--map` to its columns."""
        if "to_poi" in fields:
            rows = rows.of_both_ends(fields)
            self.report.note("Each row is a trip; it was read as two check-ins, at its origin and its destination.")
        texts = {c.USER_ID: rows.identifier(fields["user"], "user_id", "user id")}
        texts[c.POI_ID] = rows.identifier(fields["poi"], "poi_id", "place id")
        latitude = rows.number(fields["lat"], "latitude", "latitude", 90, to_degrees)
        longitude = rows.number(fields["lon"], "longitude", "longitude", 180, self._longitudes)
        lat, lon = (values.to_numpy(zero_copy_only=False) for values in (latitude, longitude))
        utc, minutes = self.moments.read(rows, fields, lat, lon)
        if (box := self.options.bbox) is not None:
            inside = (lat >= box.south) & (lat <= box.north) & (lon >= box.west) & (lon <= box.east)
            rows.flag("outside_bbox", ~inside, lambda row: f"{lat[row]:g}, {lon[row]:g} is outside the box")

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
        columns |= {c.LATITUDE: latitude, c.LONGITUDE: longitude, c.TZ_OFFSET_MINUTES: pa.array(minutes)}
        columns[c.TIME] = pa.array(utc).cast(pa.timestamp("s", tz="UTC"))
        if "split" in fields:
            columns[c.SPLIT] = _read_split(rows, fields["split"])
        return rows.finish(columns)

    def read(self, source_format: str) -> RawRead:
        """The raw table of all good rows, empty where a sink took them, with the account; of a file that is written
        backwards the last row comes first, so that rows of one second stand in the order in which they happened. Raises
        DataError: a bad row that the options do not skip, no row is left, or no time zone is known.
        """
        fields, kept, splits = self.source.fields or self.options.columns, 0, set[int]()
        tables: list[pa.Table] = []
        for rows in self.source.rows([*fields.values()], self.report):
            table = self._parse(rows, fields)
            (self.sink or tables.append)(table)
            kept += table.num_rows
            splits |= set(pc.unique(table[c.SPLIT]).to_pylist()) if "split" in fields else set()
        for note in self.source.notes:
            self.report.note(note)
        self.moments.remarks()
        for code, help_with in ((c.VAL, "train"), (c.TEST, "evaluate")) if splits else ():
            if code not in splits:
                self.report.note(
                    f"The file's split has no {c.SPLIT_NAMES[code]} rows, and `recap {help_with}` needs some; "
                    "--set keep_given_split=false splits by time."
                )
        files, columns = [*(self.source.files or [self.source.name])], {} if self.source.fields else fields
        account = self.report.account(files, kept, source_format=source_format, columns=columns)
        if self.sink is not None:
            return RawRead(pd.DataFrame(), account)
        table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
        tables.clear()
        names = [name for name in (*c.RAW_COLUMNS, c.POI_NAME, c.SPLIT, c.TRAJECTORY_ID) if name in table.column_names]
        frame = table.select(names).to_pandas(self_destruct=True, split_blocks=True)
        frame = frame.iloc[::-1].reset_index(drop=True) if self.source.is_newest_first else frame
        return RawRead(frame, account, self.moments.proposed, self.moments.zone, self.moments.is_marked)

    def _longitudes(self, values: pa.Array) -> pa.Array:
        degrees = to_degrees(values)
        self._is_wrapped = wraps_around(degrees) if self._is_wrapped is None else self._is_wrapped
        if self._is_wrapped:
            self.report.note("Longitudes run from 0 to 360 degrees; those above 180 are read as west.")
        return unwrapped(degrees) if self._is_wrapped else degrees


def _read_split(rows: RowBlock, column: str) -> pa.Array:
    words = pc.utf8_lower(rows.text(column))
    numbers = pc.index_in(words, pa.array(list(SPLIT_WORDS)))
    rows.flag("split", pc.is_null(numbers), lambda row: f"split must be train, val or test, got {shorten(words[row])}")
    return pc.fill_null(pc.take(pa.array(list(SPLIT_WORDS.values()), pa.int8()), numbers), 0)


def _flag_long(rows: RowBlock, column: str, values: pa.Array) -> None:
    long = pc.greater(pc.utf8_length(values), MOST_CHARACTERS)
    expected = f"{column} must have at most {MOST_CHARACTERS:,} characters"
    rows.flag("too_long", long, lambda row: f"{expected}, got {len(values[row].as_py()):,}: {shorten(values[row])}")
