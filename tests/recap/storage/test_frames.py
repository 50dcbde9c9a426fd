"""Frames as files: nothing runs in a spreadsheet, and what was marked is read as it was."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recap
from recap import columns as c
from recap.errors import ConfigError
from recap.storage import frames
from recap.storage.frames import check_suffix, mark_formulas, write_frames
from tests.recap.data.understanding.tables import own_table

TEXTS = ["=1+1", "+49 89", "-x", "@home", "'=quoted", "''@two", "Café", "-5", "+5.5", "'s", ""]


@given(st.text(alphabet="'=+-@a5", max_size=6))
def test_marks_come_off_again(text: str) -> None:
    """Nothing marked begins with what a spreadsheet runs, and one mark less is the text."""
    (shown,) = mark_formulas(pd.DataFrame({"text": [text]}))["text"]
    assert shown in (text, f"'{text}")
    assert shown[:1] not in ("=", "@") and not shown.startswith(("+a", "-a", "+=", "--"))


def test_ids_survive_a_spreadsheets_file(tmp_path: Path) -> None:
    """Written as CSV and prepared, ids and names are the same, with and without marks; numbers are never marked."""
    table = own_table(name="-" + own_table()["place"], lon=-own_table()["lon"])
    table["user"], table["place"] = "=" + table["user"], "@" + table["place"]
    write_frames([table.head(500), table.tail(500)], tmp_path / "marked.csv")
    text = (tmp_path / "marked.csv").read_text(encoding="utf-8")
    assert "\n'=" in text and ",'@" in text and ",'-v" in text and ",-13" in text and ",'-1" not in text
    table.to_csv(tmp_path / "plain.csv", index=False)
    marked, plain = (recap.prepare(tmp_path / name, timezone="UTC") for name in ("marked.csv", "plain.csv"))
    assert marked.hash == plain.hash and marked.users[c.USER_ID].str.startswith("=").all()
    again = recap.load("visit_count").predict(marked, top=1, checkins=tmp_path / "marked.csv", timezone="UTC")
    assert set(again[c.USER_ID]) == set(table["user"])


def test_an_excel_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of all frames under one heading, times in UTC; without its library one line says so."""
    with monkeypatch.context() as patched:
        patched.setattr(frames, "find_spec", lambda name: None)
        with pytest.raises(ConfigError, match=r"writing next\.xlsx needs openpyxl: .* or name a \.csv file"):
            check_suffix(tmp_path / "next.xlsx")
    time = pd.Timestamp("2024-03-01 08:00", tz="UTC")
    table = pd.DataFrame({"user_id": TEXTS, "as_of": time, "score": -1.5})
    assert write_frames([table.head(5), table.tail(6)], tmp_path / "next.xlsx") == len(TEXTS)
    found = pd.read_excel(tmp_path / "next.xlsx", engine="openpyxl", dtype={"user_id": str}, keep_default_na=False)
    assert found["user_id"].tolist() == mark_formulas(table)["user_id"].tolist()
    assert found["as_of"].tolist() == [time.tz_localize(None)] * len(TEXTS) and (found["score"] == -1.5).all()
    monkeypatch.setattr(frames, "_EXCEL_ROWS", 5)
    with pytest.raises(ConfigError, match="an Excel sheet holds 5 rows"):
        write_frames([table], tmp_path / "large.xlsx")
    assert not (tmp_path / "large.xlsx").exists()
