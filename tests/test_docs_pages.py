"""The pages of the docs: short, with links that lead somewhere; they say what the code does, and their examples run."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from typer.main import get_command

import recap
from app.cli.main import app
from recap import columns as c
from recap.data import checks
from recap.data.cleaning import DROP_REASONS, DataConfig
from recap.data.parsing.options import FIELDS
from recap.data.parsing.read_report import HARMLESS, REASONS
from recap.data.reading import SOURCE_FORMATS
from tests.sources import GETNEXT_HEADER
from tests.test_docs_commands import ROOT, demo_rows

PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")))


def anchors(page: Path) -> set[str]:
    """The names by which links reach a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith("http"):
            continue
        name, _, heading = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not heading or heading in anchors(target), link


def test_the_docs_stay_short() -> None:
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    assert [name for name, text in texts.items() if text.count("\n") > 250] == []
    assert sum(len(text.split()) for text in texts.values()) <= 21_500


def test_every_command_that_a_page_names_is_there() -> None:
    """Also those inside sentences, which no test runs."""
    known: dict[str, Any] = getattr(get_command(app), "commands")  # noqa: B009 - the group's class is typer's own
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name, inner in re.findall(r"(?:`|^ {4})recap ([a-z][a-z-]*)(?: ([a-z][a-z-]*)\b)?", text, re.MULTILINE):
            assert name in known, f"{page.name}: recap {name}"
            commands = getattr(known[name], "commands", None)
            assert not (commands and inner) or inner in commands, f"{page.name}: recap {name} {inner}"


DATA: Final = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")


def described(name: str) -> bool:
    """The name stands in the text as code, alone or in a list."""
    return any(name in re.split(r"[,\s]+", code) for code in re.findall(r"`([^`]+)`", DATA))


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(SOURCE_FORMATS, id="formats"),
        pytest.param(REASONS, id="reasons of the account"),
        pytest.param(DROP_REASONS, id="reasons of the protocol"),
        pytest.param(FIELDS, id="fields of --map"),
        pytest.param(GETNEXT_HEADER.split(","), id="GETNext's header"),
        pytest.param(
            [name for name in DataConfig.model_fields if name != "drop_exact_duplicates"], id="settings of the protocol"
        ),
        pytest.param(
            [*tomllib.loads(Path(checks.__file__).with_suffix(".toml").read_text(encoding="utf-8"))], id="problems"
        ),
    ],
)
def test_every_name_is_described(names: list[str]) -> None:
    """Nothing that a user can meet is missing from the page."""
    assert names and [name for name in names if not described(name)] == []


def test_which_reasons_refuse() -> None:
    for reasons, word in re.findall(r"^\| (`[\w`, ]+`) \| [^|]+ \| (never|yes) \|$", DATA, re.MULTILINE):
        for reason in re.findall(r"`(\w+)`", reasons):
            assert (reason in HARMLESS) == (word == "never"), reason


PYTHON: Final = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PYTHON, re.DOTALL)


def write_csv(path: Path) -> None:
    """Check-ins of the first users of the demo city, moved from the sea to New York, under names that people use."""
    rows = demo_rows().rename(columns={c.POI_ID: "venue_id"})
    table = rows[[c.CATEGORY, c.LATITUDE, c.LONGITUDE, "venue_id"]].assign(user_id=rows[c.USER] + 1)
    table["utc_time"] = rows[c.TIME].dt.strftime("%Y-%m-%d %H:%M:%S")
    table[c.LATITUDE] -= 5.3
    table[c.LONGITUDE] -= 58.1
    table.to_csv(path, index=False)


def test_the_page_on_python_is_short_and_names_what_there_is() -> None:
    """At most 600 words; each of the five names is on it."""
    assert len(PYTHON.split()) <= 600
    assert len(EXAMPLES) >= 6
    used = "\n".join(EXAMPLES)
    assert [name for name in ("prepare", "train", "load") if f"recap.{name}(" not in used] == []
    assert all(f"`{name}`" in PYTHON for name in recap.__all__ if name not in ("Model",))


@pytest.mark.slow
def test_its_examples_run(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every block after the one before, in a folder with a table of check-ins."""
    monkeypatch.chdir(home.parent)
    write_csv(home.parent / "checkins.csv")
    names: dict[str, Any] = {}
    for block in EXAMPLES:
        exec(compile(block, "docs/python.md", "exec"), names)  # noqa: S102 - our own page
    assert names["places"]["rank"].tolist() == [1, 2, 3, 4, 5]
    assert len(names["table"]) == 6
    assert "has no user 'nobody'" in capsys.readouterr().out
