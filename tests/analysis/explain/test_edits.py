"""Edits: text form, refusals, random sequences against an edited dataset; and a user at a moment as the case there."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.explain.case_words import describe_ranks
from analysis.explain.edited_case import EditedCase, apply_edit, build_edited_case
from analysis.explain.edits import (
    DAY_NAMES,
    AddVisit,
    Edit,
    EditError,
    SetEdge,
    parse_edit,
    parse_edits,
    with_edits,
    write_edits,
)
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
from recap.asking.predictor import Predictor
from recap.errors import CaseError
from recap.history.moments import Moment, find_moment, next_place
from tests.analysis.planted import MODELS, rescore, small_predictor
from tests.worlds import CURVES

EVERY_KIND = (
    "remove:3;add:5@2012-05-01T18:30;move:4@2012-05-02T07:05;hour:17:30;weekday:sun;source:2;edge:1-2:7;cut:3-4;"
    "off:past_visits"
)


def test_the_text_form_reads_back() -> None:
    """Every kind of edit survives writing and reading, also quoted in an address."""
    edits = parse_edits(EVERY_KIND)
    assert len(edits) == 9 and parse_edits(write_edits(edits)) == edits
    link = CaseLink(case=3, edits=EVERY_KIND, against=4)
    assert CaseLink.from_query(link.query) == link
    assert CaseLink.from_query("https://example.org/explain?case=3&edits=" + quote(EVERY_KIND)).edits == EVERY_KIND


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("jump:3", "unknown edit 'jump:3'"),
        ("remove:x", "write remove:VISIT"),
        ("hour:24", "hour"),
        ("weekday:someday", "weekday:mon"),
        ("edge:1-2:-1", "edge weight -1: a transition count cannot be negative"),
        ("edge:1-2", "edge:FROM-TO:COUNT"),
        ("add:3@tomorrow", "2012-05-01T18:30"),
        ("off:", "off:GROUP"),
        ("cut:3", "cut:MIDDLE-TO"),
    ],
)
def test_refuses_what_cannot_be_read(text: str, part: str) -> None:
    """One sentence that names the edit and the form expected."""
    with pytest.raises(EditError) as caught:
        parse_edit(text)
    assert part in str(caught.value) and "\n" not in str(caught.value)


def test_edits_of_one_kind_are_exchanged() -> None:
    """Those that stay keep their place, new ones come last, other kinds are not touched."""
    one, hour, two, off = edits = parse_edits("remove:1;hour:5;remove:2;off:past_visits")
    three = parse_edit("remove:3")
    assert with_edits(edits, type(one), (two, three)) == (hour, two, off, three)
    assert with_edits(edits, type(hour), ()) == (one, two, off)
    assert with_edits((), type(off), (off,)) == (off,)


def test_refuses_edits_that_do_not_fit() -> None:
    """Visits, places, times and components the case does not have, and an edit that leaves no history."""
    predictor = small_predictor()
    edited_case = build_edited_case(predictor, 3)
    last = len(edited_case.variant.history) - 1
    refusals = {
        "remove:9999": "there is no visit 9999",
        f"remove:{last}": "is the current check-in",
        "source:9999": "there is no POI 9999",
        "add:9999@2012-04-04T10:00": "there is no POI 9999",
        "edge:0-9999:1": "there is no POI 9999",
        "add:1@2030-01-01T10:00": "before the current check-in",
        "move:0@2030-01-01T10:00": "before the current check-in",
        "off:core;off:core": "no such part to leave out; there are past_visits, correction",
        "off:gravity": "no such part to leave out",
        "cut:9999-1": "there is no POI 9999",
    }
    for text, part in refusals.items():
        with pytest.raises(CaseError) as caught:
            build_edited_case(predictor, 3, parse_edits(text))
        assert part in str(caught.value), text
    everything = parse_edits(";".join(f"remove:{visit}" for visit in range(last)))
    assert build_edited_case(predictor, 3, everything[:-1])
    with pytest.raises(EditError, match="would remove all history"):
        build_edited_case(predictor, 3, everything)
    with pytest.raises(CaseError, match="there is no test case 100000; this dataset has cases 0 to"):
        build_edited_case(predictor, 100_000)
    with pytest.raises(EditError, match="edge weight -1"):
        build_edited_case(predictor, 3, (SetEdge(source=0, destination=1, count=-1),))


def test_a_link_from_another_checkpoint_is_named() -> None:
    """The hash in a link must be the open checkpoint's."""
    predictor = small_predictor()
    link = CaseLink.to(predictor, 3, edits="hour:5")
    assert link.mismatch(predictor) is None
    other = link.model_copy(update={"checkpoint": "0123456789ab"})
    assert "this link was made with checkpoint 0123456789ab" in str(other.mismatch(predictor))
    with pytest.raises(CaseError, match="open that checkpoint"):
        other.check(predictor)


def test_an_added_visit_comes_after_its_equals() -> None:
    """By hand: a minute after the first check-in, or at the same second, it stands second and has the next number."""
    edited_case = build_edited_case(small_predictor(), 3)
    history = edited_case.variant.history
    first = pd.Timestamp(int(history.local_seconds_H[0]), unit="s").to_pydatetime()
    for later in (0, 1):
        added = apply_edit(edited_case, AddVisit(poi=7, local_time=first + timedelta(minutes=later)))
        assert added.variant.history.poi_H.tolist()[:2] == [history.poi_H[0], 7]
        assert added.visit_H.tolist()[1] == len(history)


def random_edits(edited_case: EditedCase, generator: np.random.Generator, length: int) -> tuple[Edit, ...]:
    """A random sequence that fits: each edit is drawn for the edited case that the ones before it leave."""
    num_pois = edited_case.predictor.dataset.num_pois
    while len(edited_case.edits) < length:
        visits = edited_case.visit_H[:-1]
        start, now = (int(edited_case.variant.history.local_seconds_H[at]) for at in (0, -2))
        moment = pd.Timestamp(int(generator.integers(start - 90_000, now)), unit="s").strftime("%Y-%m-%dT%H:%M")
        poi, other = (int(value) for value in generator.integers(0, num_pois, 2))
        if generator.random() < 0.5:
            poi = edited_case.source
        texts = (
            f"remove:{generator.choice(visits)}",
            f"add:{poi}@{moment}",
            f"move:{generator.choice(visits)}@{moment}",
            f"hour:{generator.integers(0, 24)}:{generator.integers(0, 60)}",
            f"weekday:{generator.choice(DAY_NAMES)}",
            f"source:{other}",
            f"edge:{poi}-{other}:{generator.integers(0, 5)}",
            f"off:{generator.choice([*edited_case.parts_off.values()])}",
        )
        edit = parse_edit(str(generator.choice(texts)))
        try:
            edited_case = apply_edit(edited_case, edit)
        except CaseError:
            continue
    return edited_case.edits


@pytest.mark.parametrize(
    ("changes", "sequences"),
    [
        ({}, 60),
        ({"num_hops": 3}, 12),
        (CURVES | {"core_scope": "unvisited", "use_correction": False}, 40),
        pytest.param({}, 1000, marks=[pytest.mark.slow, pytest.mark.thorough]),
    ],
    ids=["paper", "three hops", "curves", "a thousand"],
)
def test_random_edits_equal_an_edited_dataset(changes: dict[str, Any], sequences: int) -> None:
    """Random sequences of up to 7 edits: the whole catalogue's scores are those of the edited dataset."""
    predictor = small_predictor(**changes)
    for seed in range(sequences):
        generator = np.random.default_rng(seed)
        number = int(generator.integers(0, len(predictor.cases)))
        length = int(generator.integers(1, 8))
        edits = random_edits(build_edited_case(predictor, number), generator, length)
        edited_case = build_edited_case(predictor, number, parse_edits(write_edits(edits)))
        expected_P = rescore(predictor, edited_case.moment.row, edits)
        assert torch.allclose(edited_case.total_P, expected_P, rtol=0, atol=1e-9), (number, write_edits(edits))


def test_an_edit_that_a_model_does_not_read_is_refused() -> None:
    """Without a graph token the paper's model reads no transitions; the curves alone read no token."""
    alone = small_predictor(use_graph=False)
    for text in ("edge:0-1:3", "cut:0-1", "off:graph_token"):
        with pytest.raises(EditError, match=text):
            build_edited_case(alone, 3, parse_edits(text))


def test_a_clock_edit_never_comes_before_the_check_in_before() -> None:
    """Every hour and weekday of every case: as asked, and in the order of the check-ins."""
    predictor = small_predictor()
    moved = 0
    for number in range(len(predictor.cases)):
        edited_case = build_edited_case(predictor, number)
        now = edited_case.variant.history.local_seconds_H[-1]
        clocks = [(f"hour:{hour}", 3600 * hour) for hour in range(24)]
        clocks += [(f"weekday:{day}", now % 86400) for day in DAY_NAMES]
        for text, second_of_day in clocks:
            clock_H = apply_edit(edited_case, parse_edit(text)).variant.history.local_seconds_H
            assert (np.diff(clock_H) >= 0).all() and clock_H[-1] % 86400 == second_of_day, text
            moved += text.startswith("hour") and clock_H[-1] - now > 86400
    assert moved, "no hour came before the check-in before"


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
    for changed in (Moment(USER, end.row).plus(1, 30), Moment().plus(1, 0)):
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
