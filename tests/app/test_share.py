"""The Share dialog: what it says is what the library shares; the exact file is a choice of its own."""

from pathlib import Path

import pytest

from recap.privacy import EXACT_NOTE
from tests.app.app_driver import calm_view, check_calm, click, open_view, press, texts


@pytest.mark.usefixtures("city")
def test_the_dialog_says_what_is_shared() -> None:
    """Report, estimate and three files; as recorded there is no report, and it warns instead."""
    app = open_view("explain", case="3")
    click(app, "explain-share")
    assert {"Users", "Places", "Times", "Exact"} <= set(str(app.table[-1].value).split())
    shown = texts(app)
    assert "all 8 users of the dataset" in shown and EXACT_NOTE not in shown
    assert len([button for button in app.get("download_button") if "Page (HTML)" in str(button.proto)]) == 1
    app.session_state["explain-manner"] = "exact"
    click(app, "explain-share")
    assert any("exact times, places and ids of people" in str(warning.value) for warning in app.warning)
    assert "users of the dataset" not in texts(app)


@pytest.mark.usefixtures("city")
def test_tables_are_masked_until_asked() -> None:
    """The toggle starts off in every view whose tables hold people, and says what it does."""
    for view in ("walk", "explain", "long_tail"):
        app = press(open_view(view, case="3"), f"{view.replace('_', '-')}-data")
        toggle = app.toggle(key=f"{view.replace('_', '-')}-exact")
        assert toggle.value is False and "Safe to share" in texts(app)
        check_calm(toggle.set_value(True).run())
        assert "keep them to yourself" in texts(app)


@pytest.mark.usefixtures("city")
def test_a_list_is_shared_from_cases(home: Path) -> None:
    app = calm_view("cases", search="user 0")
    click(app, "cases-share")
    assert "all 8 users of the dataset" in texts(app)
