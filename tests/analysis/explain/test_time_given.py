"""Explanations of a prediction at a given time: edits, links, and what a shared page says of it."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import EditError, parse_edits
from analysis.explain.explain_case import explain_case
from analysis.explain.links import CaseLink
from analysis.explain.model_flow import describe_flow
from analysis.figures.explain_map import draw_explain_image
from analysis.figures.map_ground import MapGround
from analysis.figures.palette import LIGHT
from analysis.sharing.case_image import draw_case_image
from analysis.sharing.generalise import shared_points
from analysis.sharing.masking import Masking
from analysis.sharing.page import render_html
from analysis.sharing.places import masked_places
from analysis.sharing.share import share_cases
from analysis.workspace import Workspace
from recap.asking.predictor import Predictor
from recap.features.catalogue import TIME
from recap.history.moments import Moment, find_moment
from recap.history.one_user import History, usual_pause
from recap.privacy import Generalisation
from tests.learn_worlds import DEMO


@pytest.fixture(scope="module")
def opened() -> Workspace:
    return Workspace.open(DEMO / "dataset", DEMO / "checkpoint", given_time=True)


def test_arrive_moves_the_time_given_alone(opened: Workspace) -> None:
    """On its own day, or on the next one where that would be before the last check-in; a model without it refuses."""
    before = build_edited_case(opened.predictor, 5)
    after = build_edited_case(opened.predictor, 5, parse_edits("arrive:23:59"))
    assert after.time_given == f"{before.time_given[:11]}23:59:00" and after.local_time == before.local_time
    early = build_edited_case(opened.predictor, 5, parse_edits("arrive:0"))
    assert early.time_given > early.local_time and early.time_given[11:] == "00:00:00"
    assert not np.allclose(after.total_P.numpy(), before.total_P.numpy())
    whenever: Predictor = Workspace.open(DEMO / "dataset", DEMO / "checkpoint").predictor
    with pytest.raises(EditError, match="not asked for a time"):
        build_edited_case(whenever, 5, parse_edits("arrive:18"))


def test_visits_around_the_time_are_counted_from_the_history(opened: Workspace) -> None:
    shown = explain_case(opened.predictor, 5)
    (said,) = [sentence.text for sentence in shown.sentences if sentence.about == "time"]
    clock = [int(visit.local_time[11:13]) * 60 + int(visit.local_time[14:16]) for visit in shown.visits[0].visits]
    given = int(shown.time_given[11:13]) * 60 + int(shown.time_given[14:16])
    near = sum(min((one - given) % 1440, (given - one) % 1440) <= 60 for one in clock)
    assert said.startswith(f"{near} of {len(clock)} visits were between ") and "would be expected" in said
    assert shown.headline.text.startswith("RECAP with the time given ranks")


def test_a_time_asked_for_survives_links_and_explanations(opened: Workspace) -> None:
    moment = find_moment(opened.dataset, 407)
    asked = replace(moment, at=(int(opened.checkins.local_seconds_T[moment.row]) + 90_000) // 60 * 60)
    shown = explain_case(opened.predictor, asked)
    assert shown.moment == asked
    link = CaseLink.to(opened.predictor, asked)
    assert CaseLink.from_query(link.query).moment(opened.predictor) == asked
    assert (
        Moment.read({name: str(value) for name, value in asked.fields.items()}, opened.dataset, opened.checkins).at
        == asked.at
    )


@pytest.mark.parametrize("exact", [False, True])
def test_a_shared_page_and_its_picture_say_the_time(opened: Workspace, exact: bool) -> None:
    """Masked as the check-in is: weekday and four hours; who is counted was at the true place then."""
    shown = explain_case(opened.predictor, 5)
    page = share_cases([shown], opened, exact=exact)
    (case,), given = page.cases, datetime.fromisoformat(shown.time_given)
    part = Generalisation().part_of_week(given.weekday(), given.hour)
    assert case.time_given == (f"{given:%A}, {given:%H:%M} ({shown.time_given})" if exact else part)
    assert f"time given: {case.time_given}" in render_html(page)
    assert exact or all(one.about != "time" for one in case.sentences)
    silent = page.model_copy(update={"cases": [case.model_copy(update={"time_given": ""})]})
    assert draw_case_image(page) != draw_case_image(silent)
    whenever, ground = shown.model_copy(update={"time_given": ""}), MapGround(opened)
    assert len({draw_explain_image(one, ground, palette=LIGHT) for one in (shown, whenever)}) == 2
    now, *others = shared_points(shown, Masking(opened, masked_places(opened, Generalisation()), None))
    assert now.row == shown.row and {at.row for at in others if at.poi == shown.truth} == {shown.row + 1}


def test_pauses_after_check_ins_at_this_hour_where_there_are_enough() -> None:
    """Five mornings with a pause of an hour, and evenings of many hours: at eight in the morning an hour is usual."""

    def pauses(mornings: int) -> tuple[int, int, int] | None:
        hours = np.array([24 * day + hour for day in range(mornings) for hour in (8, 9)] + [24 * mornings + 8])
        seconds = 3600 * hours + 3000 * (np.arange(len(hours)) % 2)
        zeros = np.zeros_like(hours)
        return usual_pause(History(0, zeros, seconds, seconds, zeros))

    assert pauses(0) is None and pauses(5) == (110, 110, 110)
    low, _, high = pauses(4) or (0, 0, 0)
    assert low == 110 and high > 20 * 60


def test_a_check_in_moved_past_the_time_given_is_refused(opened: Workspace) -> None:
    """The search for the smallest change leaves such clocks out."""
    moment = find_moment(opened.dataset, 407)
    last = int(opened.checkins.local_seconds_T[moment.row])
    asked = replace(moment, at=last // 86400 * 86400 + 86400 - 60)
    with pytest.raises(EditError, match="must not be after the time given"):
        build_edited_case(opened.predictor, asked, parse_edits("arrive:23:58;hour:23:59"))
    moved = build_edited_case(opened.predictor, asked, parse_edits("hour:23:58"))
    assert moved.time_given[11:16] == "23:59" and moved.local_time[11:16] == "23:58"
    shown = explain_case(opened.predictor, asked, counterfactuals=False, search=True)
    assert shown.tried


def test_what_the_curves_of_time_read(opened: Workspace) -> None:
    flow = describe_flow(build_edited_case(opened.predictor, 5))
    assert "time given" in flow.explain(TIME).does
