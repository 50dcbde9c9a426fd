"""Saved cases: a link with a note, one file each, found again for their checkpoint only."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis.cases.library import SavedCase, forget_case, save_case, saved_cases
from analysis.explain.links import CaseLink
from recap.errors import RecapError

HASH = "a" * 64


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))


def saved(case: int, note: str = "", checkpoint: str = HASH[:12], day: int = 1) -> SavedCase:
    link = CaseLink(checkpoint=checkpoint, case=case, about=2, against=5, edits="hour:5")
    return SavedCase(link=link, title="x", note=note, saved=datetime(2026, 1, day, tzinfo=UTC))


def test_read_back_latest_first() -> None:
    """What was saved comes back whole; the same view saved again replaces its note."""
    first, second = saved(1, "one", day=1), saved(2, "two", day=2)
    save_case(first)
    save_case(second)
    assert saved_cases(HASH) == [second, first]
    again = saved(1, "better", day=3)
    save_case(again)
    assert saved_cases(HASH) == [again, second]
    forget_case(again)
    forget_case(again)
    assert saved_cases(HASH) == [second]


def test_only_of_this_checkpoint(tmp_path: Path) -> None:
    """Another checkpoint's cases, and files that are no cases, are left out and left alone."""
    save_case(saved(1, checkpoint="b" * 12))
    (tmp_path / "cases" / "broken.json").write_text("{")
    assert saved_cases(HASH) == []
    assert len(saved_cases("b" * 64)) == 1
    assert (tmp_path / "cases" / "broken.json").exists()


def test_nothing_there_yet() -> None:
    """Before the first save the list is empty and no folder is made."""
    assert saved_cases(HASH) == []


def test_a_full_or_closed_disk_is_said(tmp_path: Path) -> None:
    """One sentence where the folder cannot be made."""
    (tmp_path / "cases").write_text("in the way")
    with pytest.raises(RecapError, match="cases"):
        save_case(saved(1))
