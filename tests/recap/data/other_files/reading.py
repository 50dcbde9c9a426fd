"""Read an invented file as `recap inspect` does."""

from pathlib import Path
from typing import Any, Final

from recap import columns as c
from recap.data.cleaning import DataConfig
from recap.data.inspection import Inspection, describe_read, look_at
from recap.data.parsing.options import ReadOptions
from recap.data.parsing.read_report import RawRead
from recap.data.reading import understand
from recap.data.understanding import Understanding
from recap.errors import DataError
from tests.recap.data.understanding.tables import checkins, own_table

CONFIG: Final = DataConfig(min_poi_checkins=1, min_user_checkins=1)


def asked(path: Path, **options: Any) -> Understanding:
    """What the file is, with its question."""
    return understand(path, options=ReadOptions.parse(options))


def read(path: Path, **options: Any) -> RawRead:
    """Its rows, bad ones skipped; the first answer where only the zone is open."""
    found, rows = look_at(path, options=ReadOptions.parse(options))
    if rows is None:
        raise DataError(found.refusal())
    return rows


def inspected(path: Path, **options: Any) -> Inspection:
    return describe_read(read(path, **options), CONFIG)


def problems(path: Path, **options: Any) -> dict[str, int]:
    """Kind -> count."""
    return {problem.kind: problem.count for problem in inspected(path, **options).problems}


def own(path: Path, **columns: Any) -> Path:
    """`own_table` as a CSV file."""
    own_table(**columns).to_csv(path, index=False)
    return path


def assert_all_read(found: RawRead, unit: str = "s") -> None:
    """Every row and every instant of the invented check-ins."""
    assert found.account.rows_in == found.account.rows_kept == len(checkins())
    assert (found.table[c.TIME].to_numpy() == checkins()["utc"].dt.floor(unit).to_numpy()).all()
