"""Someone else's data can be anything: no crash, no injection, a sentence instead of an empty chart."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.sharing.tables import to_csv
from recap import columns as c
from recap.data.dataset import Dataset
from recap.data.inspection import dataset_card
from recap.data.preparation import prepare_dataset
from recap.machine.printable import markdown_text, visible
from tests.app.app_driver import calm_view, open_view, point_app_at
from tests.chaos.fuzz_pages import problems_in
from tests.checkins import LENIENT, raw_table
from tests.untrained import write_untrained_checkpoint
from tests.worlds import habit_rows

NASTY = (
    "<script>alert(1)</script>",
    "![x](https://evil.example/pixel.png)",
    "[click](javascript:alert(1))",
    ":red-badge[fake] $\\frac{1}{0}$ **bold**",
    "=cmd|' /C calc'!A0",
    "A" * 500,
    "\u202eright to left\x00\t\n",
    "https://evil.example www.evil.example me@evil.example",
    ":smile: :+1: :material/home: -> $$x^2$$",
)


def change_names(raw: pd.DataFrame) -> None:
    names = raw[c.POI_ID].astype(str).map(lambda poi: NASTY[sum(map(ord, poi)) % len(NASTY)])
    raw[c.CATEGORY] = pd.Categorical(names)


def change_to_one_point(raw: pd.DataFrame) -> None:
    raw[c.LATITUDE], raw[c.LONGITUDE] = 12.5, 45.25


def change_to_no_category(raw: pd.DataFrame) -> None:
    raw[c.CATEGORY], raw[c.CATEGORY_ID] = pd.Categorical([""] * len(raw)), pd.Categorical([""] * len(raw))


def change_to_date_line(raw: pd.DataFrame) -> None:
    shift = raw[c.LATITUDE] - raw[c.LATITUDE].mean()
    raw[c.LONGITUDE] = np.where(shift > 0, 179.95 - shift / 10, -179.95 + shift / 10)


def change_to_poles(raw: pd.DataFrame) -> None:
    raw[c.LATITUDE] = np.where(np.arange(len(raw)) % 2 == 0, 90.0, -90.0)


Rows = list[tuple[str, str, float]]


def hostile_dataset(change: Callable[[pd.DataFrame], None] | None, rows: Rows) -> Dataset:
    """The rows as a dataset, with some columns made nasty."""
    raw = raw_table(rows)
    if change is not None:
        change(raw)
    return prepare_dataset(raw, LENIENT, name="<b>nasty</b> ![x](https://evil.example/a.png)", source_format="test")


CASES: dict[str, tuple[Callable[[pd.DataFrame], None] | None, Rows]] = {
    "names that are markup": (change_names, habit_rows()),
    "all at one point": (change_to_one_point, habit_rows()),
    "no categories": (change_to_no_category, habit_rows()),
    "across the date line": (change_to_date_line, habit_rows()),
    "at the poles": (change_to_poles, habit_rows()),
    "one user": (None, habit_rows(num_users=1, num_walks=12)),
    "five check-ins": (None, [("u", poi, hour) for hour, poi in enumerate("abaab")]),
}


QUICK = ("names that are markup", "across the date line", "five check-ins")
LONG = [name for name in CASES if name not in QUICK]


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_hostile_data(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each view draws, or says in a sentence why there is nothing; nothing from the data is read as markup."""
    dataset = hostile_dataset(*CASES[name])
    dataset.save(tmp_path / "data")
    point_app_at(monkeypatch, tmp_path / "data", write_untrained_checkpoint(dataset, tmp_path / "checkpoint"))
    for view in ("overview", "walk", "long_tail", "explain"):
        app = calm_view(view)
        assert app.title or app.info
        assert list(problems_in(app)) == []
        assert not any("NaN" in chart.proto.json for chart in app.get("deck_gl_json_chart"))


# What Streamlit's page replaces after Markdown was read, whatever was escaped: addresses and mail addresses become
# links, codes become emoji, icons and pictures, arrows are drawn.
REPLACED_LATE = (r"https?://", r"www\.", r"\w@\w", r":[\w+-]+:", r":material/", r"[-<>=~][-<>=]")


@pytest.mark.parametrize("text", NASTY)
def test_plain_text_stays_text(text: str) -> None:
    """Markdown's characters are escaped; no pattern is whole for the reader; without the joiner it is the text."""
    escaped = markdown_text(text)
    assert all(escaped[at - 1] == "\\" for at, char in enumerate(escaped) if char in "*_[]()<>!`$:#|")
    seen = re.sub(r"\\(.)", r"\1", escaped)
    assert not any(re.search(pattern, seen, re.IGNORECASE) for pattern in REPLACED_LATE)
    assert seen.replace("\u2060", "") == visible(" ".join(text.split()))


def test_a_wrong_link_shows_the_source_as_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The banner of a link to another model names the source; its name may be anything."""
    hostile_dataset(None, habit_rows()).save(tmp_path / "data")
    point_app_at(monkeypatch, tmp_path / "data", None)
    app = open_view("overview", source="0123456789ab")
    assert "not here" in app.warning[0].value and "![" not in app.warning[0].value


def test_the_card_loads_nothing() -> None:
    """The page of a dataset is Markdown too."""
    card = dataset_card(hostile_dataset(None, habit_rows()))
    assert "![" not in card and "<b>" not in card and "://" not in card


def test_csv_runs_no_formula() -> None:
    """A cell that a spreadsheet would run is text; numbers stay numbers."""
    table = pd.DataFrame({"name": ["=1+1", "@x", "fine"], "n": [-1.5, 2.0, 3.0]})
    assert to_csv(table).decode().splitlines() == ["name,n", "'=1+1,-1.5", "'@x,2.0", "fine,3.0"]
