"""An option that a filter or another choice has taken away since: its click changes nothing and breaks nothing."""

import pytest

from app.sources import Source
from recap import columns as c
from tests.app.app_driver import check_calm, open_view

GONE = "Mon 1 Jan, 99 stops"


@pytest.mark.parametrize(
    ("view", "key"),
    [
        ("walk", c.USER),
        ("walk", c.TRAJECTORY),
        ("walk", "picked_source"),
        ("compare", "pick_a"),
        ("long_tail", "pick_model"),
    ],
)
def test_a_label_that_is_no_longer_offered(source: Source, view: str, key: str) -> None:
    """The browser sends the label of what it still shows."""
    app = open_view(view)
    before, address, box = app.selectbox(key=key).value, dict(app.query_params), app.selectbox(key=key)
    box.options.extend((GONE, "earlier choice"))
    app = check_calm(box.set_value(GONE).run())
    assert app.selectbox(key=key).value == before and dict(app.query_params) == address
