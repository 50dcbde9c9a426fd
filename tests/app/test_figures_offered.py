"""Every picture of every view is in its Download, named after view and data, in every form that can be written here."""

import re

import pytest

from analysis.figures.vector import FORMS, why_no_vectors
from analysis.workspace import Workspace
from tests.app.app_driver import calm_view, press, texts

COUNTS = {"cohorts", "transition"}
VIEWS = {
    ("overview", "overview", ""): {"distribution", "lollipops"},
    ("walk", "walk", "case=3"): {"map"},
    ("next", "next", "user=0"): {"map"},
    ("next", "everyone", "part=everyone"): {"expected-map"},
    ("explain", "explain", "case=3"): {"contributions", "paths-picture", "map"},
    ("explain", "explain", "case=3&half=model"): {"model-picture", "model-curves"},
    ("long_tail", "long-tail", "tab=worth"): COUNTS | {"hops"},
    ("long_tail", "long-tail", "tab=misses"): COUNTS | {"miss-map"},
    ("compare", "compare", ""): {"differences", "reliability"},
    ("learn", "learn", "lesson=rare&answers=b"): {"rare-0", "rare-1"},
    ("runs", "run", ""): {"hr20"},
}
"""Pictures of a view, the key of its Download, and the fields of its address."""
LABELS = {form.upper() for form in FORMS}


@pytest.mark.parametrize(("view", "key", "fields"), VIEWS)
def test_every_picture_is_offered(city: Workspace, view: str, key: str, fields: str) -> None:
    """Without a browser here, maps are; what names one real user's places is offered only as recorded."""
    app = calm_view(view, **dict(re.findall(r"(\w+)=([^&]+)", fields)))
    app = app if view in ("explain", "runs") else press(app, f"{key}-data")
    names, start = VIEWS[view, key, fields], f"{key}-{view.replace('_', '-')}-"
    maps = {name for name in names if "map" in name}
    missing = why_no_vectors()
    for exact in (False, True) if view in ("explain", "learn") else (True,):
        if view in ("explain", "learn"):
            app.toggle(key=f"{key}-exact").set_value(exact)
            app = press(app, f"{key}-data")
        there = names if exact and not missing else maps
        files = {f"{start}{name}-small-{form}" for name in there for form in (("png",) if missing else FORMS)}
        assert {button.key for button in app.get("download_button") if button.proto.label in LABELS} == files
    assert not missing or missing in texts(app)
