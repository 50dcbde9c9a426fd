"""What evaluation leaves out acts on predictions: every view starts from the true last check-in."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.trajectories.case_names import last_case
from analysis.workspace import Workspace
from recap import columns as c
from recap.data.dataset import NEVER_VISITED
from recap.history.moments import Moment, find_moment
from recap.machine.printable import markdown_text
from tests.app.app_driver import address, calm_view, click, fields, point_app_at, table_with, texts
from tests.checkins import small_dataset
from tests.cli_runner import recap_json_here
from tests.worlds import habit_rows

HABITS = habit_rows(num_users=12, num_walks=12)
END = max(hour for _, _, hour in HABITS)
ONES = [hour for user, _, hour in HABITS if user == "user1"]
LATE = [*(("late", poi, END + at) for at, poi in enumerate(["a0", "b0", "fresh"])), ("user0", "elsewhere", END + 5)]
"""A user whom training has not seen, last at a new place, and another user's last stop."""


@pytest.fixture
def opened(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """With a stop of user1 at a place of their own in the test weeks."""
    small_dataset([*HABITS, *LATE, ("user1", "own", (ONES[-2] + ONES[-1]) / 2)]).save(tmp_path / "data")
    point_app_at(monkeypatch, tmp_path / "data", None)
    return Workspace.open(tmp_path / "data", "pretrained")


@pytest.mark.parametrize("user", ["user0", "user3", "late"])
def test_every_view_has_the_list_of_the_command(user: str, opened: Workspace, tmp_path: Path) -> None:
    """Also of a user unseen in training, and of one who has only known check-ins."""
    asked: tuple[Any, ...] = ("pretrained", "--data", tmp_path / "data", "--user", user, "--top", "10")
    listed = pd.DataFrame(recap_json_here("predict", *asked)["predictions"])
    explained = recap_json_here("explain", *asked)["candidates"]
    assert [place["probability"] for place in explained] == pytest.approx(listed["probability"])
    known = opened.known.dataset
    assert [known.pois[c.POI_ID][place["poi"]] for place in explained] == listed[c.POI_ID].tolist()
    end = find_moment(known, user)
    apps = [calm_view("next", user=str(end.user))]
    if user != "late":  # who has no case
        apps.append(click(calm_view("walk", case=str(last_case(opened.known, end))), "next"))
    new = [place["name"].removesuffix(NEVER_VISITED) for place in explained if place["name"].endswith(NEVER_VISITED)]
    assert bool(new) == (user != "user3")
    for app in apps:
        shown = table_with(app, "value")
        assert shown["value"].tolist() == pytest.approx(100 * listed["probability"])
        assert shown["km"].tolist() == pytest.approx(listed["km"])
        assert (f"Never visited in training: {markdown_text(', '.join(new))}." in texts(app)) == bool(new)
    app = calm_view("explain", **fields(end))
    assert markdown_text(explained[0]["name"]) in app.title[0].value and "not known yet" in texts(app)
    assert address(app) == fields(end)
    assert f"User {user}" in set(table_with(calm_view("next", part="everyone"), "first")["user"])


def test_cases_do_not_see_them(opened: Workspace) -> None:
    """A moment that sees more than its case, or leads elsewhere, is no case."""
    known = opened.known
    assert known.dataset.stored_hash == opened.dataset.hash and known.known is known
    touched = (known.cases[c.CASE] < 0).to_numpy()
    assert touched.any() and set(opened.cases[c.USER][touched]) == {1}
    same = [c.USER, c.POI, c.TIME]
    for number, (row, other) in enumerate(zip(opened.cases[c.ROW], known.cases[c.ROW], strict=True)):
        assert (opened.dataset.checkins.loc[row, same] == known.dataset.checkins.loc[other, same]).all()
        moment = Moment(int(opened.cases[c.USER][number]), int(other))
        assert known.moment(moment).fields == (moment.fields if touched[number] else {"case": number})
