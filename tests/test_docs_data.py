"""docs/data.md says what the code does: every format, option, reason, issue and column."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from recap.data import checks
from recap.data.cleaning import DROP_REASONS, DataConfig
from recap.data.parsing.options import CALIFORNIA, FIELDS
from recap.data.parsing.read_report import HARMLESS, REASONS
from recap.data.readers.getnext import COLUMNS
from recap.data.reading import SOURCE_FORMATS
from tests.checkins import small_dataset
from tests.shell import recap

TEXT = (Path(__file__).resolve().parents[1] / "docs" / "data.md").read_text(encoding="utf-8")


def described(name: str) -> bool:
    """The name stands in the text as code, alone or in a list."""
    return any(name in re.split(r"[,\s]+", code) for code in re.findall(r"`([^`]+)`", TEXT))


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(SOURCE_FORMATS, id="formats"),
        pytest.param(REASONS, id="reasons of the account"),
        pytest.param(DROP_REASONS, id="reasons of the protocol"),
        pytest.param(FIELDS, id="fields of --map"),
        pytest.param(COLUMNS, id="GETNext's header"),
        pytest.param(
            [name for name in DataConfig.model_fields if name != "drop_exact_duplicates"], id="settings of the protocol"
        ),
    ],
)
def test_every_name_is_described(names: list[str]) -> None:
    """Nothing that a user can meet is missing from the page."""
    assert [name for name in names if not described(name)] == []


def test_every_issue_is_described() -> None:
    """The kinds of problems, as the checks name them."""
    source = Path(checks.__file__).read_text(encoding="utf-8")
    kinds = re.findall(r' kind="(\w+)"|_found\(\s*\w+,\s*"(\w+)"', source)
    kinds = [*{"".join(pair) for pair in kinds} - {"stable"}, "unknown_users", "unknown_pois"]
    assert len(kinds) > 12 and [kind for kind in kinds if not described(kind)] == []


def test_which_reasons_refuse() -> None:
    """The table's last column agrees with the code."""
    for reasons, word in re.findall(r"^\| (`[\w`, ]+`) \| [^|]+ \| (never|yes) \|$", TEXT, re.MULTILINE):
        for reason in re.findall(r"`(\w+)`", reasons):
            assert (reason in HARMLESS) == (word == "never"), reason


def test_the_columns_on_disk(tmp_path: Path) -> None:
    """Names, order and types of the three tables."""
    small_dataset([("ann", poi, float(hour)) for hour, poi in enumerate("abababab")]).save(tmp_path / "d")
    types = {"timestamp, UTC": "timestamp[ms, tz=UTC]", "float64": "double", "string": "large_string"}
    for table in ("checkins", "pois"):
        schema = pq.read_schema(tmp_path / "d" / f"{table}.parquet")
        section = TEXT.split(f"\n`{table}`, ")[1].split("\n\n")[1]
        rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", section, re.MULTILINE)[1:]
        said = [(name, types.get(kind, kind)) for names, kind in rows for name in re.findall(r"`(\w+)`", names)]
        found = [(field.name, str(field.type).replace("[us,", "[ms,").replace("[s,", "[ms,")) for field in schema]
        assert [(name, kind.removeprefix("large_")) for name, kind in said] == [
            (name, kind.removeprefix("large_")) for name, kind in found
        ]


def test_california_and_the_options() -> None:
    """The named box's numbers, and every option of `recap prepare` that concerns reading."""
    numbers = f"{CALIFORNIA.west},{CALIFORNIA.south},{CALIFORNIA.east},{CALIFORNIA.north}"
    assert numbers in TEXT and str(CALIFORNIA.timezone) in TEXT
    help_text = recap("prepare", "--help").stdout
    for option in (
        "map",
        "timezone",
        "bbox",
        "local-times",
        "time-format",
        "text",
        "skip-bad-rows",
        "format",
    ):
        assert f"--{option}" in TEXT and f"--{option}" in help_text
