"""A separate table of places (LibCity .geo, RecBole .item) joined to check-ins by place id."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recap.data.parsing.read_report import RowReport
from recap.data.parsing.row_block import RowBlock, decoded, shorten
from recap.errors import DataError


@dataclass(frozen=True, eq=False)
class PlaceTable:
    """Places by id.

    Attributes:
        name: file name for messages.
        ids: distinct ids as text.
        columns: name -> column of the same length.
    """

    name: str
    ids: pa.Array
    columns: dict[str, pa.Array]

    @classmethod
    def from_tables(cls, name: str, tables: list[pa.Table], id_column: str) -> "PlaceTable":
        """Join blocks of a places file.

        Raises:
            DataError: no place, or two rows with one id.
        """
        table = (
            pa.concat_tables(tables).combine_chunks() if tables else pa.table({id_column: pa.array([], pa.string())})
        )
        if table.num_rows == 0:
            raise DataError(f"{name} has no places")
        columns = {
            column: table[column].chunk(0) if table[column].num_chunks else pa.array([])
            for column in table.column_names
        }
        ids = columns.pop(id_column)
        counts = pc.value_counts(ids)
        twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        if len(twice):
            raise DataError(f"{name}: place {shorten(twice[0])} is listed twice; leave one row for each place")
        return cls(name, ids, columns)

    def join(self, rows: RowBlock, id_column: str, prefix: str = "place.") -> None:
        """Add the columns of each row's place as ``prefix + name``; rows of unknown places are marked."""
        wanted = pc.utf8_trim_whitespace(pc.fill_null(pc.cast(decoded(rows.columns[id_column]), pa.string()), ""))
        index = pc.index_in(wanted, self.ids)
        unknown = np.asarray(pc.is_null(index).to_numpy(zero_copy_only=False))
        rows.flag(
            "poi_id", np.asarray(pc.equal(wanted, "").to_numpy(zero_copy_only=False)), lambda row: "place id is empty"
        )
        rows.flag("unknown_place", unknown, lambda row: f"place {shorten(wanted[row])} is not in {self.name}")
        for name, column in self.columns.items():
            rows.columns[prefix + name] = pc.take(column, index)


def note_places(private: RowReport, row_report: RowReport, name: str) -> None:
    """Turn what a places file's own report counts into notes of the check-ins' report."""
    for reason, count in private.counts.items():
        if reason != "blank_line":
            row_report.note(f"{count} places of {name} cannot be used, for example {private.examples[reason][0]}.")
