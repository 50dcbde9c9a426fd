"""The view Present: slides by keys, a collection in its order, the way back, and refusals in a sentence."""

import html
import io
import re
import zipfile
from datetime import UTC, datetime

import numpy as np
import pytest
from pptx import Presentation
from streamlit.testing.v1 import AppTest

from analysis.cases.library import Library
from analysis.cases.saved_case import Collection, SavedCase
from analysis.explain.links import CaseLink
from analysis.sharing.slides import write_pptx
from app.cached.workspace import open_workspace
from app.components.present.deck import Deck
from app.components.present.slides import slide_at
from app.sources import Source
from recap import columns as c
from recap.machine.printable import unmarked
from recap.privacy import users_per_group
from tests.app.app_driver import calm_view, check_calm, click, open_view, press, table_with, texts


def numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: str(metric.value) for metric in app.metric}


def unnamed(app: AppTest) -> str:
    """The title without names of places, which are coloured."""
    return re.sub(r":(\w+)\[.*?(?<!\\)\]", r"\1", str(app.title[0].value))


def test_four_slides_agree_with_compare_and_explain(source: Source) -> None:
    """How often first, with Compare's share; then the case, under Explain's headline with masked names; no notice."""
    assert unnamed(open_view("present", step="case")) == unnamed(open_view("explain"))
    app = calm_view("present", case="3")
    rows = table_with(open_view("compare", metric="HR@1"), "Points")
    shares = dict(zip(("Visit count", "RECAP"), rows.iloc[0, 2:4], strict=True))
    assert {name: numbers(app)[name] for name in shares} == {name: f"{share} %" for name, share in shares.items()}
    assert app.title[0].value.startswith("The first guess of RECAP is right in ")
    assert app.button(key="present_back").disabled
    explain = open_view("explain", case="3")
    app = click(app, "present_next")
    assert unnamed(app) == unnamed(explain) and "in cell" in app.title[0].value
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
    assert "On another weekday" in app.title[0].value
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


def test_views_on_slides_in_their_order_with_their_titles(source: Source) -> None:
    """Four views, each added by one click, then presented, moved and renamed; a file says what is shown."""
    said = []
    for view in ("overview", "long_tail", "compare", "next"):
        app = calm_view(view)
        said.append(unmarked(app.title[0].value))
        assert click(app, "add-slide").button(key="present")
    library = Library.of_user()
    (stored,), findings = library.read().collections.values(), library.read().findings
    assert [findings[name].value.view for name in stored.value.cases] == ["Overview", "Long tail", "Compare", "Next"]
    assert [findings[name].value.headline for name in stored.value.cases[:3]] == said[:3]
    first = stored.value.cases[0]
    app = press(calm_view("present", collection=stored.name), "present-files")
    app = click(press(app, "present-files"), f"later-{first}")
    app = press(app, "present-files")
    (box,) = (box for box in app.text_input if str(box.key).startswith(f"title-{first}"))
    check_calm(box.set_value("How good?").run())
    slides = Presentation(io.BytesIO(written(source, library))).slides
    titles = [slide.shapes.title.text_frame.text for slide in slides]
    assert titles[:3] == [said[1], "How good?", said[2]]
    assert said[0] in slides[1].notes_slide.notes_text_frame.text
    app = click(calm_view("present", collection=stored.name), "present_next")
    assert app.title[0].value == "How good?" and "Slide 2 of 4" in texts(app)


def written(source: Source, library: Library) -> bytes:
    """The only collection as a PowerPoint file."""
    shelf = library.read()
    (stored,) = shelf.collections.values()
    deck = Deck(tuple(entry.value for entry in shelf.slides_of(stored.value)))  # type: ignore[misc]
    return write_pptx([slide_at(source, deck, at) for at in range(len(deck.slides))], "Slides")


def test_slides_of_next_name_neither_users_nor_rare_places(source: Source) -> None:
    """Ten of the 17 places have fewer than five people: none of them is in the file, and nobody's number or id."""
    opened = open_workspace(source)
    table = opened.dataset.checkins
    people = users_per_group(table[c.USER].to_numpy(), table[c.POI].to_numpy(), opened.dataset.num_pois)
    rare = [opened.labels[poi] for poi in np.flatnonzero(people < 5)]
    said = []
    for user in range(3):
        app = calm_view("next", user=str(user))
        said.append(unmarked(app.title[0].value))
        click(app, "add-slide")
    click(calm_view("next", part="everyone"), "add-slide")
    assert any(name in title for name in rare for title in said)  # in the app they have names
    with zipfile.ZipFile(io.BytesIO(written(source, Library.of_user()))) as file:
        parts = [file.read(name).decode() for name in file.namelist() if "lides/" in name and name.endswith(".xml")]
    text = html.unescape("".join(parts))
    assert len(parts) == 8 and "most likely go to" in text and "visits are expected at" in text
    assert [name for name in rare if name in text] == [] and not re.search(r"\bUser \d+\b|\buser\d", text)
