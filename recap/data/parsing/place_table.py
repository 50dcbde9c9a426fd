"""A separate table of places (LibCity .geo, RecBole .item) joined to check-ins by place id."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock, shorten
from recap.data.parsing.text_table import TextTable
from recap.errors import DataError


@dataclass(frozen=True, eq=False)
class PlaceTable:
    """Places of a file by their distinct ids; columns of the same length."""

    name: str
    ids: pa.Array
    columns: dict[str, pa.Array]

    @classmethod
    def read(
        cls,
        table: TextTable,
        wanted: list[str],
        id_column: str,
        parse: Callable[[RowBlock], dict[str, pa.Array]],
        row_report: RowReport,
    ) -> "PlaceTable":
        """Read a places file; rows that cannot be used become notes of the check-ins' report. Raises DataError: no
        place, two rows with one id, or a bad row that the report does not skip. ``parse``: the columns of a block's
        places, the id among them.
        """
        private = RowReport(row_report.skip_bad_rows)
        kept = [rows.finish(parse(rows), private) for rows in table.rows(private, wanted)]
        for reason, (count, examples) in private.reported.items():
            if reason != "blank_line":
                row_report.note(f"{count} places of {table.name} cannot be used, for example {examples[0]}.")
        if not any(block.num_rows for block in kept):
            raise DataError(f"{table.name} has no places")
        places = pa.concat_tables(kept)
        columns = {name: places[name].combine_chunks() for name in places.column_names}
        ids = columns.pop(id_column)
        counts = pc.value_counts(ids)
        twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        if len(twice):
            raise DataError(f"{table.name}: place {shorten(twice[0])} is listed twice; leave one row for each place")
        return cls(table.name, ids, columns)

    def join(self, rows: RowBlock, id_column: str) -> None:
        """Add the columns of each row's place as ``place.name``; rows of unknown places are marked."""
        wanted = rows.text(id_column)
        index = pc.index_in(wanted, self.ids)
        rows.flag("poi_id", pc.equal(wanted, ""), lambda row: "place id is empty")
        rows.flag("unknown_place", pc.is_null(index), lambda row: f"place {shorten(wanted[row])} is not in {self.name}")
        for name, column in self.columns.items():
            rows.columns[f"place.{name}"] = pc.take(column, index)


def place_columns(rows: RowBlock, column: str, what: str) -> dict[str, pa.Array]:
    """The id and the columns ``latitude`` and ``longitude`` of places."""
    return {
        column: rows.identifier(column, "poi_id", what),
        "latitude": rows.number("latitude", "latitude", "latitude", -90, 90),
        "longitude": rows.number("longitude", "longitude", "longitude", -180, 180),
    }
