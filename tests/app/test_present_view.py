"""The view Present: slides by keys, a collection in its order, the way back, and refusals in a sentence."""

from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from analysis.cases.library import Library
from analysis.cases.saved_case import Collection, SavedCase
from analysis.explain.links import CaseLink
from app.sources import Source
from tests.app.app_driver import calm_view, click, open_view, table_with, texts


def numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in app.metric}


def test_four_slides_agree_with_compare_and_explain(source: Source) -> None:
    """How often first, with Compare's share; then the case, under Explain's headline; no notice on any of them."""
    assert open_view("present", step="case").title[0].value == open_view("explain").title[0].value
    app = calm_view("present", case="3")
    rows = table_with(open_view("compare", metric="HR@1"), "Points")
    shares = dict(zip(("Visit count", "RECAP"), rows.iloc[0, 2:4], strict=True))
    assert {name: numbers(app)[name] for name in shares} == {name: f"{share} %" for name, share in shares.items()}
    assert app.title[0].value.startswith("The first guess of RECAP is right in ")
    assert app.button(key="present_back").disabled
    explain = open_view("explain", case="3")
    app = click(app, "present_next")
    assert app.title[0].value == explain.title[0].value
    rank = numbers(app)["RECAP ranks it"]
    app = click(app, "present_next")
    assert numbers(app)["As it is"] == rank
    app = click(app, "present_next")
    assert rank in numbers(app).values() and app.button(key="present_next").disabled
    assert "This link" not in texts(app) and "invented" not in texts(app)
    assert click(app, "present_back").query_params["step"] == "why"


def test_two_quick_presses_are_two_slides(source: Source) -> None:
    """The second is sent with the address and the marked step of the first slide, as the browser still shows them."""
    app = click(open_view("present", case="3"), "present_next")
    app.query_params["at"], app.query_params["step"] = "1", "often"
    app.button_group(key="present_step").set_value("often")
    app = click(app, "present_next")
    assert app.query_params["step"] == "why"
    app.query_params["at"], app.query_params["step"] = "1", "often"
    app = app.run()
    assert app.query_params["step"] == "why"
    assert open_view("present", case="3").query_params["step"] == "often"


def test_a_collection_in_its_order_with_its_edits(source: Source) -> None:
    """The second case of the collection is the one put first in time; its edit is what is changed."""
    library, names = Library.of_user(), []
    for case, edits in ((5, ""), (3, "weekday:sun")):
        link = CaseLink(checkpoint=source.checkpoint_hash or "", dataset=source.dataset_hash, case=case, edits=edits)
        names.append(library.add(SavedCase(link=link, title="x", saved=datetime.now(UTC))).name)
    made = Collection(title="Tuesday", cases=tuple(names[::-1]), changed=datetime.now(UTC))
    kept = library.add(made)
    app = calm_view("present", collection=kept.name, step="change")
    assert "On a Sunday" in app.title[0].value
    assert app.button(key="present_next").label == "Next case"
    app = click(app, "present_next")
    assert (app.query_params["at"], app.query_params["step"]) == ("2", "case")


def test_the_end_leads_back_to_where_one_came_from(source: Source) -> None:
    """To Explain with its case; to Cases where a link led here."""
    app = click(open_view("explain", case="5"), "present")
    assert app.query_params["step"] == "often"
    app = click(app, "present_end")
    assert (app.query_params["case"] == "5" and "5" in app.title[0].value) or app.button(key="present")
    app = click(open_view("present", case="3"), "present_end")
    assert (
        any(button.key == "save_case" or button.key == "more_cards" for button in app.button)
        or "list" in app.query_params
    )


@pytest.mark.parametrize(
    "params",
    [
        {"collection": "x"},
        {"recipe": "bliss"},
        {"all": "1"},
        {"case": "99999"},
        {"case": "3", "edits": "hour:99", "step": "change"},
    ],
)
def test_what_cannot_be_presented_says_so(source: Source, params: dict[str, str]) -> None:
    """One sentence and the way back; nothing crashes."""
    app = open_view("present", **params)
    assert not app.exception
    assert texts(app).lower().count("nothing to present") == 1 and app.button(key="present_end")
