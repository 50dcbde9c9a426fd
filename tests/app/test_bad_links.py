"""A link that cannot be read, or names what is not here, gets a sentence, and the view is there all the same."""

import pytest

from app.sources import Source
from tests.app.app_driver import calm_view, open_view, texts

NOBODYS = "0123456789ab"
LINKS: tuple[tuple[str, dict[str, str], str], ...] = (
    *(("walk", {"case": case}, "There is no case") for case in ("99999999", "<script>", "²")),
    *(("walk", {"cases": cases}, "cannot be read") for cases in ("step:x:y", f"hits:markov:{NOBODYS}:5:both")),
    ("walk", {"predictions": "imported-000000000000"}, "are not here"),
    ("overview", {"source": NOBODYS}, "another model or dataset"),
    ("long_tail", {"model": "<b>none</b>"}, "link's model is not here"),
    ("compare", {"a": NOBODYS}, "link's model A is"),
    ("compare", {"open": "99999"}, "link's case is no"),
    *(("cases", {name: "nobody"}, " link") for name in ("list", "collection")),
    ("explain", {"case": "3", "edits": "edge:1-2:-1"}, "cannot be negative"),
    ("explain", {"case": "3", "edits": "remove:9999"}, "there is no visit 9999"),
    ("explain", {"case": "3", "edits": "nonsense"}, "unknown edit"),
    ("explain", {"case": "3", "against": "99999"}, "not in this dataset"),
    ("explain", {"case": "3", "about": "-1"}, "first place is not in this dataset"),
    ("explain", {"case": "99999"}, "There is no case"),
    ("explain", {"case": "3", "source": NOBODYS}, "made with another model or dataset"),
    *(
        ("explain", {"user": "2", "row": row}, "not one of its user's")
        for row in ("0", "-1", "x", "99999999", "1" * 30)
    ),
    ("explain", {"user": "2", "stops": "nonsense"}, "not one of its user's"),
    *(("next", {"user": "5"} | more, "do not fit") for more in ({"user": "999"}, {"row": "0"}, {"stops": "99999.1"})),
    ("next", {"user": "x", "row": "-1"}, "do not fit"),
)


@pytest.mark.parametrize(("view", "params", "said"), LINKS)
def test_a_bad_link_gets_a_sentence(source: Source, view: str, params: dict[str, str], said: str) -> None:
    """Nothing of the link is markup; a case that is not there is the one that opens without a link."""
    app = calm_view(view, **params)
    assert said in " ".join(warning.value for warning in app.warning).replace("\\", "") and app.title[0].value
    assert "<script>" not in texts(app) and "<b>" not in texts(app)
    if view == "walk" and "case" in params:
        assert app.session_state["case"] == open_view("walk").session_state["case"]
    assert "predictions" not in app.query_params
    assert "row" not in params or view == "next" or set(app.query_params).isdisjoint({"user", "row", "stops"})
