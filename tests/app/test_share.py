"""The Share dialog: what it says is what the library shares; the exact file is a choice of its own."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis.cases.library import Stored
from analysis.cases.saved_case import Collection
from analysis.explain.explain_case import explain_case
from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from analysis.workspace import Workspace
from app.components.cases.card_grid import CardEntry
from app.components.cases.case_choice import Listed
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


def test_a_collection_is_one_page(model: Workspace) -> None:
    """Whole, in its order, with its title and its notes; of another list the first ten cases."""
    entries, tuesday = [CardEntry(case) for case in range(12)], Collection(title="Tuesday", changed=datetime.now(UTC))
    assert Listed("", "", "", entries, collection=Stored("tuesday", tuesday, "")).shared == entries
    assert Listed("", "", "", entries).shared == entries[:10]
    explained = [explain_case(model.predictor, case) for case in (5, 3)]
    text = render_html(share_cases(explained, model, title="Tuesday", notes=["note 5", "note 3"]))
    assert "<h1>Tuesday</h1>" in text and text.count("<article") == 2 and "as written" in text
    assert text.index("note 5") < text.index("note 3") and "2012-" not in text
