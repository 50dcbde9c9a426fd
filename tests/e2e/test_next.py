"""What visitors do on Next, in the demo city and in New York: go somewhere, look at everyone, try their own stops."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from recap import columns as c
from tests.background import running
from tests.e2e.conftest import App, Page, playwright_api, wait_until_idle
from tests.e2e.test_every_view import check_whole
from tests.nyc import needs_nyc, nyc_dataset
from tests.shell import RECAP

expect = playwright_api.expect
Open = Callable[..., Page]
STOPS = re.compile(r"stops=\d+\.\d+(&|$)")


class City(NamedTuple):
    """Where an app shows a city, and one of its places."""

    url: str
    place: str


@pytest.fixture(scope="module")
def new_york(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[City]:
    """New York with the pretrained model, which is fitted to it before the first page waits for it."""
    home, dataset = tmp_path_factory.mktemp("new_york"), nyc_dataset()
    dataset.save(home / "nyc")
    command: list[str | Path] = [RECAP, "app", "--data", home / "nyc", "--checkpoint", "pretrained", "--port"]
    most = int(np.argmax(dataset.pois[c.TRAIN_CHECKINS]))
    environment = os.environ | {"RECAP_HOME": str(home)}
    fit = [RECAP, "predict", "pretrained", "--data", home / "nyc", "--user", dataset.users[c.USER_ID].iloc[0], "--json"]
    subprocess.run(list(map(str, fit)), env=environment, check=True, stdout=subprocess.DEVNULL)
    with running(command, environment, home) as url:
        yield City(url, dataset.poi_labels[most])


@pytest.fixture(params=["saltmere", pytest.param("new_york", marks=needs_nyc)])
def city(request: pytest.FixtureRequest) -> City:
    if request.param == "new_york":
        found: City = request.getfixturevalue("new_york")
        return found
    app: App = request.getfixturevalue("app")
    return City(app.url, "Merefield Halt")


def test_one_user_goes_somewhere(open_page: Open, city: City) -> None:
    """A stop more is predicted from at once; Back, a reload, another tab and a shared link keep what they show. Explain
    opens at the changed stops.
    """
    page = open_page("/next?user=407", at=city.url)
    check_whole(page)
    title = page.locator("h1").first
    before = title.inner_text()
    page.wait_for_url(re.compile(r"row=\d+"))
    page.locator(".st-key-go-there button").click()
    page.wait_for_url(STOPS)
    wait_until_idle(page)
    after = title.inner_text()
    page.reload()
    expect(title).to_have_text(after)
    other = open_page("/" + page.url.split("/", 3)[-1], at=city.url)
    assert other.locator("h1").first.inner_text() == after
    wait_until_idle(page)
    page.get_by_role("link", name="Walk", exact=True).click()
    page.wait_for_url("**/walk?**case=**")
    wait_until_idle(page)
    page.go_back()
    expect(title).to_have_text(after)
    wait_until_idle(page)
    page.locator(".st-key-next-reset button").click()
    expect(title).to_have_text(before)
    assert other.locator("h1").first.inner_text() == after
    other.locator(".st-key-next-explain button").click()
    other.wait_for_url(re.compile(r"/explain\?.*stops="))
    expect(other.locator("h1").first).to_contain_text("1st of")


def test_a_row_of_everyone_opens_the_user(open_page: Open, city: City) -> None:
    """And Explain opens at that moment; in the past, expected visits are compared with counted ones."""
    check_whole(open_page("/next?part=everyone&days=20", at=city.url))
    page = open_page("/next?part=everyone", at=city.url)
    box = page.locator("[data-testid=stDataFrame]").last.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 18, box["y"] + 52)  # the first row's tick
    page.wait_for_url(re.compile(r"user=0&row=\d+"))
    expect(page.locator("h1").first).to_contain_text("next")
    wait_until_idle(page)
    page.locator(".st-key-next-explain button").click()
    page.wait_for_url(re.compile(r"/explain\?.*(row|case)=\d+"))


def test_try_it_by_click_and_by_name(open_page: Open, city: City) -> None:
    """A place on the map and a name become stops, half an hour apart; a chip takes one out."""
    page = open_page("/next?part=try", at=city.url)
    page.locator("[data-testid=stDeckGlJsonChart] canvas").first.wait_for(state="attached")
    place = page.locator(".st-key-add-stop input")
    place.fill(city.place)
    place.press("Enter")
    page.wait_for_url(STOPS)
    expect(page.locator("h1").first).to_contain_text(re.compile("new user", re.IGNORECASE))
    wait_until_idle(page)
    check_whole(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator(".st-key-go-there button").click()
    page.wait_for_url(re.compile(r"stops=\d+\.0(%2C|,)\d+\.30"))
    wait_until_idle(page)
    drawn = page.locator("[data-testid=stDeckGlJsonChart]")
    box = drawn.bounding_box()
    assert box is not None
    drawn.click(position={"x": box["width"] / 2, "y": box["height"] / 2})  # it may hit no place
    wait_until_idle(page)
    page.locator(".st-key-stop-added-1 button").first.click()
    page.locator(".st-key-stop-added-1-remove button").click()
    page.wait_for_url(re.compile(r"stops=\d+\.30"))
