"""From a file to the first prediction on the map, as a visitor goes."""

import io
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from recap import columns as c
from recap.data.dataset import Dataset
from tests.e2e.conftest import violations, wait_until_idle

CITY = Path(__file__).parents[2] / "checkpoints" / "demo-city" / "dataset"


def visits() -> bytes:
    """12,000 check-ins of the demo city under other names."""
    city = Dataset.load(CITY)
    rows = city.checkins.sort_values([c.TIME, c.USER]).head(12_000)
    places = city.pois.iloc[rows[c.POI]]
    table = rows[[c.USER, c.POI]].rename(columns={c.USER: "customer", c.POI: "shop"})
    table["shop"] = "s" + table["shop"].astype(str)
    table["visited"] = rows[c.TIME].dt.strftime("%Y-%m-%dT%H:%M:%SZ").to_numpy()
    # On land: the invented city lies in the sea, where a table's coordinates look swapped.
    table["lat_deg"], table["lon_deg"] = places[c.LATITUDE].to_numpy() + 5.5, places[c.LONGITUDE].to_numpy() + 15.8
    text = io.StringIO()
    table.to_csv(text, index=False)
    return text.getvalue().encode()


def test_from_a_file_to_the_map(open_page: Callable[..., Page]) -> None:
    """Drop, check, prepare, predict at once, train: the better model opens by itself; the data can be deleted again."""
    page = open_page("/open_data")
    page.locator("input[type=file]").set_input_files({"name": "visits.csv", "mimeType": "text/csv", "buffer": visits()})
    expect(page.get_by_role("heading", name="Is this right?")).to_contain_text("12,000 check-ins")
    wait_until_idle(page)
    assert violations(page) == []
    page.reload()
    page.get_by_role("button", name="Prepare").click()
    page.get_by_role("button", name="Predict").click()
    expect(page.get_by_role("heading", name="will most likely go to")).to_be_visible(timeout=60_000)
    page.go_back()
    page.get_by_role("button", name="Train RECAP").click()
    page.wait_for_url("**/next**", timeout=180_000)
    expect(page.get_by_role("heading", name="will most likely go to")).to_be_visible()
    expect(page.get_by_text("RECAP trained here")).to_contain_text("validation cases")
    page = open_page("/open_data")
    page.locator(".st-key-delete-visits").get_by_role("button").first.click()
    page.get_by_role("button", name="Delete now").click()
    expect(page.locator(".st-key-open-visits")).to_have_count(0)
