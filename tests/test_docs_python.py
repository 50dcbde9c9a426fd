"""docs/python.md says what the library does: its examples run in their order, and it stays one page."""

import re
from pathlib import Path
from typing import Any

import pytest

import recap
from recap import columns as c
from tests.test_docs_commands import ROOT, demo_rows

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def write_csv(path: Path) -> None:
    """Check-ins of the first users of the demo city, moved from the sea to New York, under names that people use."""
    rows = demo_rows().rename(columns={c.POI_ID: "venue_id"})
    table = rows[[c.CATEGORY, c.LATITUDE, c.LONGITUDE, "venue_id"]].assign(user_id=rows[c.USER] + 1)
    table["utc_time"] = rows[c.TIME].dt.strftime("%Y-%m-%d %H:%M:%S")
    table[c.LATITUDE] -= 5.3
    table[c.LONGITUDE] -= 58.1
    table.to_csv(path, index=False)


def test_the_page_is_short_and_names_what_there_is() -> None:
    """At most 600 words; each of the five names is on it."""
    assert len(PAGE.split()) <= 600
    assert len(BLOCKS) >= 6
    used = "\n".join(BLOCKS)
    assert [name for name in ("prepare", "train", "load") if f"recap.{name}(" not in used] == []
    assert all(f"`{name}`" in PAGE for name in recap.__all__ if name not in ("Model",))


@pytest.mark.slow
def test_its_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every block after the one before, in a folder with a table of check-ins."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    write_csv(tmp_path / "checkins.csv")
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), names)  # noqa: S102 - our own page
    assert names["places"]["rank"].tolist() == [1, 2, 3, 4, 5]
    assert len(names["table"]) == 6
    assert "has no user 'nobody'" in capsys.readouterr().out
