"""docs/data.md says what the code does: every format, option, reason, issue and column."""

import re
import tomllib
from pathlib import Path

import pytest

from recap.data import checks
from recap.data.cleaning import DROP_REASONS, DataConfig
from recap.data.parsing.options import FIELDS
from recap.data.parsing.read_report import HARMLESS, REASONS
from recap.data.readers.published import HEADER
from recap.data.reading import SOURCE_FORMATS

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
        pytest.param(HEADER.split(","), id="GETNext's header"),
        pytest.param(
            [name for name in DataConfig.model_fields if name != "drop_exact_duplicates"], id="settings of the protocol"
        ),
    ],
)
def test_every_name_is_described(names: list[str]) -> None:
    """Nothing that a user can meet is missing from the page."""
    assert [name for name in names if not described(name)] == []


def test_every_issue_is_described() -> None:
    kinds = [*tomllib.loads(Path(checks.__file__).with_suffix(".toml").read_text(encoding="utf-8"))]
    assert len(kinds) > 12 and [kind for kind in kinds if not described(kind)] == []


def test_which_reasons_refuse() -> None:
    for reasons, word in re.findall(r"^\| (`[\w`, ]+`) \| [^|]+ \| (never|yes) \|$", TEXT, re.MULTILINE):
        for reason in re.findall(r"`(\w+)`", reasons):
            assert (reason in HARMLESS) == (word == "never"), reason
