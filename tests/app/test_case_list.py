"""The list of cases in Long tail: filters by link; a row opens its case."""

import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from analysis.cases.case_table import KNOWN_BEFORE, USER_NAME, case_table, listed_table
from analysis.workspace import Workspace
from app.cached.figures import list_cases
from app.components.case_table import button_key
from app.sources import Source
from recap import columns as c
from tests.app.app_driver import check_calm, open_view, texts
from tests.worlds import small_city


@pytest.fixture
def city(source: Source) -> Workspace:
    return Workspace.of(small_city())


def listed(app: AppTest) -> pd.DataFrame:
    """The list's rows."""
    check_calm(app)
    return app.dataframe[-1].value


def press_row(app: AppTest, row: int) -> AppTest:
    """Press the button of a row."""
    app.session_state[button_key(listed(app)["case"].to_numpy())] = {"row": row, "label": ""}
    return app.run()


def test_the_table_is_the_cases(city: Workspace) -> None:
    """Each case once, with its counts, places and the local hour of the check-in before."""
    ranks = pd.DataFrame({c.RANK: [float(1 + case % 30) for case in range(len(city.cases))]})
    table = case_table(city, ranks)
    assert {*KNOWN_BEFORE, "to", "reason", "causes"} < set(table.columns)
    assert table[c.CASE].tolist() == list(range(len(city.cases)))
    row, case = table.iloc[5], city.case(5)
    checkin = city.dataset.checkins.iloc[int(case[c.ROW])]
    local = checkin[c.TIME] + pd.Timedelta(minutes=int(checkin[c.TZ_OFFSET_MINUTES]))
    assert (row["hour"], row["rank"], row["transition_count"]) == (local.hour, 6.0, case[c.TRANSITION_COUNT])
    assert row["to"] == city.labels[int(case[c.TARGET])]
    assert row["category"] == str(city.dataset.pois[c.CATEGORY].iloc[int(case[c.TARGET])])
    assert set(table["reason"]) == {""} and set(table["causes"]) == {()}


def test_the_list_compares_two_models(city: Workspace) -> None:
    """First what the model alone finds, by rank gained; what a case was found through, or that it is missed."""
    cases = case_table(
        city, pd.DataFrame({c.RANK: [3.0, 30.0, 1.0, 4.0]}).reindex(range(len(city.cases)), fill_value=9.0)
    )
    cases = cases.iloc[:4].copy()
    cases["reason"] = ["", "out_of_reach", "", ""]
    cases["causes"] = pd.Series([("past_visits", "history"), (), (), ()])
    table = listed_table(cases, pd.Series([25.0, 300.0, 40.0, 5.0]), 20)
    assert table[c.CASE].tolist() == [2, 0, 1, 3]
    assert table["why"].tolist() == ["", "needs past visits", "missed, new place beyond two hops", ""]
    cases.loc[0, "rank"] = 2.5
    readable = pa.table(list_cases(cases, "", ("rank",), "Explain").rows)
    assert readable["rank"].to_pylist() == [" 2–3", "30", " 1", " 4"], "a tie as in Compare; texts sort as numbers"
    assert table["transition"].iloc[0] == f"{cases['from'].iloc[2]} → {cases['to'].iloc[2]}"


def test_a_link_filters_and_a_row_opens_its_case(city: Workspace) -> None:
    """The link's bounds hold for every row listed; the third row's case opens in Explain."""
    app = open_view("long_tail", cases="step:0:0", filter="hours=8-20")
    table = listed(app)
    hour = city.dataset.local_time.iloc[city.cases[c.ROW].to_numpy()].dt.hour.to_numpy()
    inside = (city.cases[c.TRANSITION_COUNT] == 0).to_numpy() & (hour >= 8) & (hour <= 20)
    assert sorted(table["case"]) == city.cases[c.CASE][inside].tolist() and 0 < inside.sum() < len(inside)
    assert f"{len(table):,} of {(city.cases[c.TRANSITION_COUNT] == 0).sum():,} cases" in texts(app)
    press_row(app, 2)
    check_calm(app)
    assert app.query_params["case"] == str(table["case"].iloc[2])


def test_a_late_click_opens_no_other_case(city: Workspace) -> None:
    """A row is pressed in the list that the browser still shows, after another filter was chosen: nothing opens."""
    app = open_view("long_tail", filter="hours=8-20")
    before = listed(app)["case"]
    app.session_state["_chosen_filter"] = "hours=8-22"
    app.session_state[button_key(before.to_numpy())] = {"row": 2, "label": ""}
    app.run()
    assert len(listed(app)) > len(before) and "case" not in app.query_params


def test_a_late_filter_leaves_the_list_alone(city: Workspace) -> None:
    """A control is moved while the browser still shows the filter before: the list keeps the one chosen since."""
    app = open_view("long_tail", filter="hours=8-20")
    app = app.text_input(key="cases_search").set_value("kind").run()
    chosen = app.query_params["filter"]
    app.query_params["filter"] = "hours=8-20"  # as the browser still shows it
    check_calm(app.slider(key="cases_hours").set_value((8, 9)).run())
    assert app.query_params["filter"] == chosen
    app = app.slider(key="cases_hours").set_value((8, 9)).run()
    assert "hours=8-9" in str(app.query_params["filter"])


def test_a_link_that_cannot_be_read_lists_all(city: Workspace) -> None:
    app = open_view("long_tail", filter="hours=9-33")
    assert len(listed(app)) == len(city.cases)
    assert [box.value for box in app.warning] == ["The link's filter of cases cannot be read, so all cases are listed."]
    assert not app.text_input(key="cases_search").set_value("kind").run().warning


def test_a_link_that_hides_the_truth(city: Workspace) -> None:
    """Nothing that depends on the truth is listed, and a filter by it lets every case pass."""
    app = open_view("long_tail", truth="false", filter="causes=history")
    table = listed(app)
    assert set(table.columns) == {*KNOWN_BEFORE, "open"} - {USER_NAME} and len(table) == len(city.cases)
    press_row(app, 2)
    assert app.query_params["truth"] in ("false", ["false"])
