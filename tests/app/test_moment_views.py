"""Explain on a user's moment, and Walk's last stop: what comes next where no truth is known."""

import pytest
from streamlit.testing.v1 import AppTest

from analysis.explain.edits import parse_edits
from analysis.explain.explain_case import explain_case
from analysis.formatting import ordinal
from analysis.trajectories.case_names import last_case, moment_name
from analysis.workspace import Workspace
from recap.history.moments import Moment, find_moment
from tests.app.app_driver import address, calm_view, check_calm, click, fields, open_view, table_with, texts

USER = 2


@pytest.fixture
def end(model: Workspace) -> Moment:
    return find_moment(model.dataset, USER)


def says_nothing_of_a_truth(app: AppTest) -> bool:
    mentioned = any(
        word in texts(app) for word in ("user went", "went there", "true next place", "True next place", "◎")
    )
    return "not known yet" in texts(app) and not mentioned and "truth" not in [toggle.key for toggle in app.toggle]


@pytest.mark.parametrize("is_new", [False, True], ids=["last check-in", "new user"])
def test_explain_opens_without_a_truth(model: Workspace, end: Moment, is_new: bool) -> None:
    """The library's headline and sentences, first choice against second; every tab and the model's page draw."""
    asked = Moment().plus(1, 0).plus(2, 30) if is_new else end
    app = calm_view("explain", **fields(asked))
    explained = explain_case(model.predictor, asked)
    assert explained.target_name in app.title[0].value and "1st of" in app.title[0].value
    assert says_nothing_of_a_truth(app)
    assert explained.runner_up == app.selectbox(key="pair_against").value
    name = moment_name(model, asked).split(" · ")[-1]
    assert any(option.endswith(name) for option in app.selectbox(key="explained_case").options)
    assert address(app) == fields(asked)
    assert {"save-case", "present"}.isdisjoint(button.key for button in app.button)
    for tab in ("Past visits", "Curves", "Map", "Is it stable?"):
        app.session_state["explain-tab"], app.session_state["tab_chosen"] = tab, True
        check_calm(app.run())
    calm_view("explain", half="model", **fields(asked))
    check_calm(app.switch_page("views/walk.py").run())


def test_what_if_at_a_moment(model: Workspace, end: Moment) -> None:
    """Edits of a link are applied and undone; the numbers are the library's."""
    app = calm_view("explain", edits="hour:05:00", **fields(end))
    after = explain_case(model.predictor, end, edits=parse_edits("hour:5"))
    assert f"1st → {ordinal(after.target_rank)}" in [metric.value for metric in app.metric]
    click(app, "search")
    check_calm(next(button for button in app.button if button.label == "Undo").click().run())
    assert "edits" not in app.query_params and address(app) == fields(end)


def test_from_a_moment_to_a_case_and_back(model: Workspace, end: Moment) -> None:
    """The button before leads to the user's last case; a moment where a case starts is that case."""
    app = open_view("explain", **fields(end))
    click(app, "case-before")
    assert address(app) == {"case": str(last_case(model, end))} and "truth" in [toggle.key for toggle in app.toggle]
    case = model.moment(3)
    assert case.case is not None
    assert address(open_view("explain", **fields(case))) == {"case": "3"}


def test_walk_ends_with_what_comes_next(model: Workspace, end: Moment) -> None:
    """After the user's last case: the library's list, no truth; Back returns, and Explain opens the moment."""
    last = str(last_case(model, end))
    app = open_view("walk", case=last)
    assert "The true next place" in texts(app) and not app.button(key="next").disabled
    click(app, "next")
    assert not table_with(app, "value")["name"].str.contains("◎").any()
    assert "From the last check-in" in texts(app) and app.title[0].value.endswith(":orange[not known yet]")
    assert not app.metric and app.button(key="next").disabled and len(app.get("deck_gl_json_chart")) == 1
    assert address(app) == {"case": last} | fields(end)
    assert open_view("walk", **address(app)).title[0].value == app.title[0].value
    app.button(key="back").click().run()
    assert address(app) == {"case": last}
    app.button(key="next").click().run()
    click(app, "explain")
    assert address(app) == fields(end)
    assert says_nothing_of_a_truth(app)


def test_a_link_to_a_case_leaves_the_moment(model: Workspace, end: Moment) -> None:
    """Also to the case whose number the address already has."""
    last = str(last_case(model, end))
    app = open_view("walk", case=last, **fields(end))
    assert "From the last check-in" in texts(app)
    app.query_params.clear()
    app.query_params["case"] = last
    check_calm(app.switch_page("views/explain.py").run())
    assert address(app) == {"case": last} and "user went" in texts(app)
    assert address(app.switch_page("views/walk.py").run()) == {"case": last}
