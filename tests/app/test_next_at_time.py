"""Next and Everyone at a given time."""

import pytest

from app.settings import AppSettings
from app.sources import find_sources
from recap.moments import link_time, local_text
from tests.app.app_driver import address, calm_view, check_calm, texts


@pytest.fixture
def token(demo_city: None) -> str:
    return find_sources(AppSettings.from_environment())[1].token


def test_one_user_at_a_time(token: str) -> None:
    """The clock begins where pauses usually end; a moved day is in the link and the headline; Go there takes it."""
    app = calm_view("next", source=token, user="407")
    begun = link_time(address(app)["at"])
    assert begun is not None and begun % 900 == 0 and "half of the time" in texts(app)
    assert app.title[0].value.startswith("On ") and "most likely be at" in app.title[0].value
    later = local_text(begun - begun % 86400 + 86400 + 18 * 3600)
    app = calm_view("next", source=token, user="407", row=address(app)["row"], at=later)
    assert address(app)["at"] == later and " at 18:00 " in app.title[0].value
    app = check_calm(app.button(key="go-there").click().run())
    assert "stops" in address(app) and address(app)["at"] >= later


def test_whenever_is_the_default(demo_city: None) -> None:
    app = calm_view("next", user="407")
    assert "at" not in address(app) and "next" in app.title[0].value


def test_everyone_at_a_time(token: str) -> None:
    """Users there, never visits; users not seen for long are left out, with their number."""
    app = calm_view("next", source=token, part="everyone", at="2024-11-04T18:00")
    title = app.title[0].value
    assert "if all check in then" in title and "users there" in title and "visits" not in title
    assert "not seen in the last 30 days" in texts(app)
