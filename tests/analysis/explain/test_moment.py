"""Explaining a user at a moment: equal to the case that starts there, and without a truth where none is known."""

from dataclasses import replace
from typing import Any

import pytest

from analysis.explain.case_words import describe_ranks
from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.explain.explain_case import explain_case, explain_edited_case
from analysis.explain.explanation import CaseExplanation
from analysis.explain.links import CaseLink
from analysis.explain.model_flow import describe_flow
from analysis.explain.ranks_only import explain_ranks
from analysis.explain.types import NOT_KNOWN_YET
from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from analysis.trajectories.case_names import moment_name, moment_words
from analysis.trajectories.predictions import predict_case
from analysis.trajectories.trajectory import last_moment, read_trajectory
from analysis.workspace import Workspace
from recap import columns as c
from recap.errors import CaseError
from recap.itinerary import Itinerary
from recap.moments import Moment, find_moment, next_place
from recap.predictor import Predictor
from tests.analysis.planted import MODELS, small_predictor

KINDS = {name: MODELS[name] for name in ("paper", "corrected curves")}
USER = 2


def without_a_case(predictor: Predictor) -> Moment:
    """A check-in with a next one that is no test case."""
    moment = Moment(USER, find_moment(predictor.dataset, USER).row - 1)
    while moment.row in predictor.cases[c.ROW].to_numpy():
        moment = Moment(USER, moment.row - 1)
    return moment


def speaks_of_a_truth(explained: CaseExplanation) -> bool:
    said = " ".join(sentence.text for sentence in (explained.headline, *explained.sentences))
    return any(word in said for word in ("user went", "went there", "truth", "true next"))


@pytest.mark.parametrize("changes", KINDS.values(), ids=KINDS)
def test_a_moment_that_is_a_case_is_explained_as_the_case(changes: dict[str, Any]) -> None:
    """All numbers, checks and the search included; also where the moment does not know that it is a case."""
    predictor = small_predictor(**changes)
    for number in (0, 5):
        case = predictor.moment(number)
        plain = Moment(case.user, case.row)
        usual = explain_case(predictor, number, search=True, checks=True)
        assert explain_case(predictor, plain, search=True, checks=True) == usual
        assert explain_ranks(predictor, plain) == explain_ranks(predictor, number)
        for edits in ("", "hour:5;remove:1"):
            edited = build_edited_case(predictor, number, parse_edits(edits))
            unaware = explain_edited_case(replace(edited, moment=plain))
            assert (unaware.case, unaware.split) == (None, None)
            as_case = explain_edited_case(edited)
            assert unaware == as_case.model_copy(update={"case": None, "split": None})


@pytest.mark.parametrize("changes", KINDS.values(), ids=KINDS)
def test_after_the_last_check_in_nothing_is_known(changes: dict[str, Any]) -> None:
    """The first choice against the second; no word, number or role of a truth."""
    predictor = small_predictor(**changes)
    end = find_moment(predictor.dataset, USER)
    explained = explain_case(predictor, end, checks=True, search=True)
    assert (explained.truth, explained.truth_name, explained.has_truth) == (None, NOT_KNOWN_YET, False)
    assert (explained.case, explained.split, explained.row) == (None, None, end.row) and explained.moment == end
    assert explained.roles == ("model", "other") and explained.target_rank == 1
    total_P = predictor.score(predictor.histories([end.row])).total[0]
    assert [explained.target, explained.runner_up] == total_P.topk(2).indices.tolist()
    assert sum(explained.a.terms.values()) == pytest.approx(float(total_P[explained.target]), abs=1e-9)
    assert explained.headline.text.endswith("The next place is not known yet.")
    assert not speaks_of_a_truth(explained)
    assert explained.checks and explained.tried
    ranked = explain_ranks(predictor, end)
    assert (ranked.truth, ranked.truth_name, ranked.about.poi) == (None, NOT_KNOWN_YET, explained.target)
    assert describe_ranks(ranked).text == explained.headline.text
    assert describe_flow(build_edited_case(predictor, end)).pois == (explained.target, explained.runner_up)


def test_a_known_next_check_in_is_the_truth_also_without_a_case() -> None:
    predictor = small_predictor()
    moment = without_a_case(predictor)
    explained = explain_case(predictor, moment)
    assert explained.target == explained.truth == next_place(predictor.dataset, moment.row)
    assert explained.case is None and explained.roles[0] == "truth" and "user went" in explained.headline.text
    hidden = explain_case(predictor, moment, hide_truth=True)
    assert (hidden.truth, hidden.truth_name, hidden.target_rank) == (None, "", 1)


def test_edits_of_a_moment() -> None:
    """They are about the place that was first before them."""
    predictor = small_predictor()
    end = find_moment(predictor.dataset, USER)
    before = explain_case(predictor, end, counterfactuals=False)
    edits = parse_edits("hour:5;remove:2;off:past_visits")
    after = explain_case(predictor, end, edits=edits, against=before.runner_up)
    assert after.target == before.target and after.what_if is not None
    assert after.what_if.target.rank_before == 1 and after.what_if.target.score_before == before.a.score
    assert after.headline.text.startswith("After 3 changes") and not speaks_of_a_truth(after)


def test_links_name_the_user_by_number_and_the_row() -> None:
    """No id, no time; they read back, a case stays a case, and a row of somebody else is refused."""
    predictor = small_predictor()
    end = find_moment(predictor.dataset, USER)
    link = CaseLink.to(predictor, end, against=3, edits="hour:5")
    assert f"user={USER}&row={end.row}" in link.query and "case=" not in link.query
    assert CaseLink.from_query(link.query) == link and link.moment(predictor) == end
    for changed in (Itinerary(USER, end.row).plus(1, 30), Itinerary().plus(1, 0)):
        link = CaseLink.to(predictor, changed)
        assert CaseLink.from_query(link.query) == link and link.moment(predictor) == changed
    case = predictor.moment(3)
    assert CaseLink.to(predictor, Moment(case.user, case.row)) == CaseLink.to(predictor, 3)
    assert CaseLink.from_query("case=3").moment(predictor) == case
    with pytest.raises(CaseError, match=f"check-in {end.row} of small is not one of user 0"):
        CaseLink(user=0, row=end.row).moment(predictor)
    with pytest.raises(CaseError, match="check-in -1"):
        CaseLink.from_query(f"user={USER}").moment(predictor)


def test_a_shared_page_says_that_nothing_is_known() -> None:
    """Pseudonym, no row and no link; the legend has no true next place."""
    predictor = small_predictor()
    opened = Workspace.of(predictor.dataset)
    end = find_moment(predictor.dataset, USER)
    page = share_cases([explain_case(predictor, end)], opened)
    html = render_html(page)
    assert "not known yet" in html and "true next place" not in html and "user2" not in html
    assert str(end.row) not in page.model_dump_json(include={"cases": {0: {"case", "user", "when", "link"}}})
    exact = share_cases([explain_case(predictor, end)], opened, exact=True).cases[0]
    assert exact.link is not None and CaseLink.from_query(exact.link).moment(predictor) == end


def test_the_prediction_of_a_moment() -> None:
    """Of a case's moment the case's list; at the end a list without a truth, also from a counter."""
    opened = Workspace.of(small_predictor().dataset, keep=False).with_model("count_plus_markov")
    case = opened.moment(3)
    listed = predict_case(opened, Moment(case.user, case.row))
    assert listed.candidates.equals(predict_case(opened, 3).candidates) and listed.has_truth
    walk = read_trajectory(opened, len(opened.cases) - 1)
    end = last_moment(opened, walk)
    earlier = without_a_case(small_predictor())
    assert end is not None and last_moment(opened, read_trajectory(opened, earlier)) is None
    found = predict_case(opened, end)
    assert not found.has_truth and found.target_rank != found.target_rank and not found.candidates["truth"].any()
    assert len(found.candidates) == found.num_best == 10
    assert moment_name(opened, end).endswith(" · from the last check-in")
    assert moment_words(opened.dataset, case).startswith("as of ")
    known = predict_case(opened, earlier)
    assert known.has_truth and known.case[c.CASE] == -1


def test_a_model_that_reads_the_next_time_is_refused_where_it_is_not_known() -> None:
    predictor = small_predictor(use_future_time=True)
    end = find_moment(predictor.dataset, USER)
    explain_case(predictor, without_a_case(predictor), counterfactuals=False)
    for explain in (explain_case, explain_ranks):
        with pytest.raises(CaseError, match="reads the time of the next check-in, which is not known yet"):
            explain(predictor, end)
