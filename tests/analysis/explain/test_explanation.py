"""Explanations of every kind of model: contributions and parts sum to scores, each "without" is scored."""

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.explain.curves import describe_learned, learned_curves, replicate_curves, values_at
from analysis.explain.edited_case import apply_edit, build_edited_case
from analysis.explain.edits import CutPath, RemoveVisit, SwitchOff, parse_edits
from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.explain.model_flow import describe_flow
from analysis.explain.model_words import headline, worth_note
from analysis.explain.paths import cut, paths_between, training_rows
from analysis.explain.robustness import (
    NUM_DRAWN,
    PermutationTest,
    RowCheck,
    SeedRank,
    check_rows,
    contributions_elsewhere,
    describe_checks,
)
from analysis.explain.what_if import smallest_flip
from analysis.figures.model_flow import plot_flow
from analysis.figures.palette import DARK
from analysis.records.ablations import describe_ablations, slug
from analysis.records.causes import deciding_part, worth_by_kind
from analysis.sharing.page import render_html
from analysis.sharing.share import share_cases
from analysis.workspace import Workspace
from benchmarks.demo_city.build import ship_replicate_curves
from recap import columns as c
from recap.asking.counterfactuals import GRAPH_TOKEN
from recap.asking.predictor import Predictor
from recap.checkpoint import Checkpoint
from recap.errors import CaseError
from recap.evaluation.ranks import rank_of
from recap.features.catalogue import GROUPS, PATHS, TRANSITIONS
from recap.features.others import two_hop_paths as paths_of_others
from recap.model.recap import Interventions, Recap
from recap.model.scorer import RecapScorer
from recap.presets import recap as recap_config
from tests.analysis.planted import MODELS, predictor_of, rescore, small_predictor
from tests.checkins import split_dataset
from tests.untrained import write_untrained_checkpoint
from tests.worlds import small_city

CASES = (0, 3, 9)


@pytest.mark.parametrize("changes", MODELS.values(), ids=MODELS)
def test_contributions_sum_to_the_score_and_every_without_is_scored_again(changes: dict[str, Any]) -> None:
    """By term and by group, as they are and after edits, for every place that is listed.

    The rank without a group, or the token, is that of a model whose weights of it are zero.
    """
    predictor = small_predictor(**changes)
    for number in CASES:
        row = int(predictor.cases["row"][number])
        scores = predictor.score(predictor.histories([row])).total[0]
        for edits in ("", "remove:1;hour:5;source:2"):
            explained = explain_case(predictor, number, edits=parse_edits(edits), counterfactuals=False, top=17)
            assert len(explained.candidates) == predictor.dataset.num_pois
            for entry in explained.candidates:
                assert sum(entry.terms.values()) == pytest.approx(entry.score, abs=1e-9)
                assert sum(entry.groups.values()) == pytest.approx(entry.score, abs=1e-9)
                assert edits or entry.score == pytest.approx(float(scores[entry.poi]), abs=1e-12)
            assert sum(entry.probability for entry in explained.candidates) == pytest.approx(1)
        explained = explain_case(predictor, number)
        assert [entry.name for entry in explained.without][: len(explained.groups)] == list(explained.groups)
        for left in explained.without:
            off = (SwitchOff(name=left.name),)
            total_P = rescore(predictor, row, off)
            edited = build_edited_case(predictor, number, off)
            assert torch.allclose(edited.total_P, total_P, rtol=0, atol=1e-9), left.name
            assert left.rank == rank_of(total_P, explained.target), left.name


def test_groups_come_in_one_order_and_the_token_is_one_more() -> None:
    """Five groups of features, then the core; the paper's model has past visits, correction, core."""
    recap = explain_case(small_predictor(**MODELS["recap"]), 3)
    assert set(recap.groups) == {*GROUPS, "core"}
    assert recap.without[-1].name == "graph_token" and recap.inactive == []
    paper = explain_case(small_predictor(), 3)
    assert list(paper.groups) == ["past visits", "correction", "core"]
    assert paper.groups["past visits"] == ["count", "recency", "window", "clip"]
    assert "graph_token" not in [e.name for e in explain_case(small_predictor(**MODELS["curves alone"]), 3).without]


def paths_case(predictor: Predictor) -> tuple[int, CaseExplanation]:
    """A case whose truth several paths lead to."""
    for number in range(len(predictor.cases)):
        explained = explain_case(predictor, number)
        if len(explained.paths) > 1:
            return number, explained
    raise AssertionError("no case has two paths")


def test_a_path_adds_f_of_x_times_its_share_and_the_rest_is_scored_without_it() -> None:
    """points = f(x) p / x; without it the model scores f(x - p), as a curve read by hand says."""
    predictor = small_predictor(**MODELS["recap"])
    number, explained = paths_case(predictor)
    curve = next(curve for curve in learned_curves(predictor) if curve.name == "two_hop_paths")
    case = build_edited_case(predictor, number)
    batch = predictor.histories([case.moment.row])
    assert predictor.model.curves is not None
    packed = paths_of_others(predictor.model.curves.features.others, batch.user_B, batch.source_B)
    here = packed.destination_W == explained.target
    products = dict(zip(packed.middle_W[here].tolist(), packed.product_W[here].tolist(), strict=True))
    assert {path.middle: path.product for path in explained.paths} == pytest.approx(products)
    whole = sum(products.values())
    assert values_at(case, [explained.target])["two_hop_paths"] == [pytest.approx(whole)]
    assert explained.a.groups[PATHS] == pytest.approx(curve.at(whole))
    for path in explained.paths:
        assert path.points == pytest.approx(curve.at(whole) * path.product / whole)
        after = build_edited_case(predictor, number, (CutPath(middle=path.middle, destination=explained.target),))
        (point_T,) = after.contributions([explained.target])
        assert float(point_T[after.groups[PATHS]].sum()) == pytest.approx(curve.at(whole - path.product))
        assert path.rank_without == rank_of(after.total_P, explained.target)
        others = [other.middle for other in explained.paths if other is not path]
        assert [left.middle for left in paths_between(after, explained.target)] == others


def test_the_papers_paths_have_no_points_but_a_cut() -> None:
    """All users' transitions count; the cut takes one product out of the token's row of A^2."""
    predictor = small_predictor()
    number, explained = paths_case(predictor)
    table = predictor.graph.two_hop_paths(explained.source, explained.target)
    assert [path.product for path in explained.paths] == pytest.approx(table["product"].tolist())
    assert all(path.points is None for path in explained.paths)
    case = build_edited_case(predictor, number)
    embedding = predictor.model.poi_embedding.weight.detach()
    propagated = predictor.scorer.propagated_PE
    assert propagated is not None
    for path in explained.paths:
        changed = propagated.clone()
        changed[explained.source] -= path.product * embedding[explained.target]
        with torch.inference_mode():
            total_P = predictor.model(predictor.histories([case.moment.row]), predictor.stage, changed).total[0]
        assert torch.allclose(predictor.score_counterfactuals([cut(case, path.middle, explained.target)])[0], total_P)
        assert path.rank_without == rank_of(total_P, explained.target)


@pytest.mark.parametrize("name", ["paper", "recap"])
def test_removing_a_visit_and_undoing_it(name: str) -> None:
    """Rank and lost points of each visit are those of the case edited so; without the edit all is as before."""
    predictor = small_predictor(**MODELS[name])
    number = int(predictor.cases.index[predictor.cases["in_history"]][0])
    explained = explain_case(predictor, number)
    assert explained.visits[0].poi == explained.target and explained.visits[0].visits
    for visit in explained.visits[0].visits:
        after = explain_case(predictor, number, against=explained.runner_up, edits=(RemoveVisit(visit=visit.visit),))
        assert visit.rank_without == after.target_rank
        assert visit.points == pytest.approx(explained.a.score - after.a.score, abs=1e-9)
        assert after.what_if is not None and after.what_if.target.rank_before == explained.target_rank
        assert after.what_if.lead_before == pytest.approx(explained.lead, abs=1e-9)
        assert after.what_if.lead == pytest.approx(after.lead, abs=1e-9)
    assert explain_case(predictor, number) == explained


def test_the_gate_scales_the_prior_and_the_clip_is_a_term() -> None:
    """correction = lambda gamma R; where the clip binds, count, recency, window and clip still sum to R."""
    predictor = small_predictor()
    model = Recap(predictor.model.config, predictor.dataset, predictor.graph, torch.float64)
    model.load_state_dict(predictor.model.state_dict())
    assert model.prior is not None and model.calibration is not None
    with torch.no_grad():
        model.prior.count_weight.fill_(9.0)
    clipped = Predictor(predictor.checkpoint, predictor.dataset, scorer=RecapScorer(model, predictor.stage))
    number = int(predictor.cases.index[predictor.cases["in_history"]][0])
    for one, binds in ((predictor, False), (clipped, True)):
        entry = explain_case(one, number, counterfactuals=False).a
        assert entry.gate is not None and -1 <= entry.gate <= 1
        prior = sum(entry.terms[name] for name in ("count", "recency", "window", "clip"))
        assert entry.groups["past visits"] == pytest.approx(prior)
        assert entry.terms["correction"] == pytest.approx(float(model.calibration.scale) * entry.gate * prior)
        if binds:
            assert entry.terms["clip"] < 0 and prior == pytest.approx(10.0)
    unvisited = next(e for e in explain_case(predictor, number, top=17).candidates if not e.terms["count"])
    assert unvisited.gate is None


@pytest.mark.parametrize("changes", [MODELS["paper"], MODELS["recap"], MODELS["curves alone"]], ids=str)
def test_the_smallest_edit_turns_the_two_round(changes: dict[str, Any]) -> None:
    """Applied, it does; and no edit of a smaller kind was passed over."""
    predictor = small_predictor(**changes)
    found = compared = 0
    for number in range(12):
        explained = explain_case(predictor, number, search=True, counterfactuals=False)
        assert explained.tried
        if explained.flip is None:
            continue
        found += 1
        after = apply_edit(build_edited_case(predictor, number), explained.flip.edit)
        lead = float(after.total_P[explained.target] - after.total_P[explained.runner_up])
        assert lead == pytest.approx(explained.flip.lead, abs=1e-9) and (lead < 0) != (explained.lead < 0)
        assert parse_edits(explained.flip.text) == (explained.flip.edit,) or isinstance(explained.flip.edit, SwitchOff)
        if isinstance(explained.flip.edit, RemoveVisit):  # of all visits, the one after which the lead is smallest
            before = build_edited_case(predictor, number)
            poi_H, places = before.variant.history.poi_H[:-1], (explained.target, explained.runner_up)
            visits = [int(before.visit_H[at]) for at in np.flatnonzero(np.isin(poi_H, places))]
            copies = [apply_edit(before, RemoveVisit(visit=visit)).total_P for visit in visits]
            leads = [float(total_P[places[0]] - total_P[places[1]]) for total_P in copies]
            assert all(abs(lead) <= abs(left) + 1e-9 for left in leads if (left < 0) == (lead < 0))
            compared += len(leads) > 1
    assert found and (compared or changes is MODELS["recap"])
    assert smallest_flip(build_edited_case(predictor, 0), 0, 1)[1] > 0


def test_any_two_places_and_the_hidden_truth() -> None:
    """Roles follow the truth; hidden, nothing names it; one place twice is refused."""
    predictor = small_predictor()
    usual = explain_case(predictor, 3)
    assert usual.target == usual.truth and usual.roles == ("truth", "model")
    others = [entry.poi for entry in usual.candidates if entry.poi not in (usual.target, usual.runner_up)][:2]
    asked = explain_case(predictor, 3, about=others[0], against=others[1])
    assert (asked.a.poi, asked.b.poi, asked.roles) == (*others, ("model", "other"))
    assert explain_case(predictor, 3, about=others[0], against=usual.truth).roles == ("model", "truth")
    hidden = explain_case(predictor, 3, hide_truth=True)
    assert hidden.truth is None and hidden.target_rank == 1 and "user went" not in hidden.headline.text
    with pytest.raises(CaseError, match="two different places"):
        explain_case(predictor, 3, about=others[0], against=others[0])


@pytest.mark.parametrize("name", ["paper", "recap"])
def test_the_headline_and_at_most_four_sentences(name: str) -> None:
    """Ranks are those of the explanation; every "without" is one that was run."""
    predictor = small_predictor(**MODELS[name])
    for number in range(0, len(predictor.cases), 3):
        explained = explain_case(predictor, number)
        assert explained.headline.text.startswith(f"RECAP ranks {explained.target_name} ")
        assert f" of {explained.num_places:,}" in explained.headline.text and "user went" in explained.headline.text
        assert len(explained.sentences) <= 4
        said = " ".join(sentence.text for sentence in explained.sentences)
        visits = len(explained.visits[0].visits)
        assert ("had never been there" in said) == (visits == 0)
        for sentence in explained.sentences:  # a tie is one rank; names may hold numbers
            plain = " ".join(piece.text for piece in sentence.pieces if piece.kind == "plain")
            assert len(re.findall(r"\d[\d,]*(?:\w\w–\d[\d,]*)?", plain)) <= 3
        assert ("Nobody " in said) == (explained.transition_count == 0)
        assert CaseExplanation.parse(explained.model_dump(mode="json")) == explained


RECAP = MODELS["recap"]


@pytest.mark.parametrize("changes", [{}, RECAP], ids=["paper", "recap"])
def test_checks_are_those_of_the_explanation(changes: dict[str, object]) -> None:
    """Points and ranks are the explanation's; other seeds come from their tables, for the case as it was alone."""
    predictor = small_predictor(**changes)
    table = describe_ablations(predictor, predictor.cases)
    explained = explain_case(predictor, 3, checks=True, seeds={1: table, 2: table})
    assert explained.checks
    ranks = {entry.name: entry.rank for entry in explained.without}
    recorded = table.iloc[3]
    for check in explained.checks:
        assert check.points == pytest.approx(explained.a.groups.get(check.row))
        assert [(entry.rank, entry.without) for entry in check.seeds] == [(explained.target_rank, ranks[check.row])] * 3
        assert recorded[f"without_{slug(check.row)}"] == ranks[check.row]
        assert check.seeds_agreeing == 3 and len(check.cells) == 7
    edited = build_edited_case(predictor, 3, parse_edits("hour:5"))
    assert all(len(check.seeds) == 1 for check in check_rows(edited, {1: table}))


def test_contributions_elsewhere_are_those_of_other_cases() -> None:
    """The same place, other cases, by one explanation each."""
    predictor = small_predictor(**RECAP)
    case = build_edited_case(predictor, 3)
    found = contributions_elsewhere(case)
    rows = np.delete(predictor.cases["row"].to_numpy(), 3)
    drawn = np.random.default_rng(3).choice(rows, min(NUM_DRAWN, len(rows)), replace=False)
    number = int(predictor.cases.index[predictor.cases["row"] == drawn[0]][0])
    entry = explain_case(predictor, number, about=case.target, counterfactuals=False).a
    assert {name: values[0] for name, values in found.items()} == pytest.approx(entry.groups)
    assert all(len(values) == len(drawn) for values in found.values())


def test_whose_transitions() -> None:
    """Other users of the transitions behind paths and the direct transition."""
    predictor = small_predictor(**RECAP)
    rows = training_rows(predictor)
    for number in range(6):
        case = build_edited_case(predictor, number)
        own = {case.moment.user}
        checks = {check.row: check for check in check_rows(case)}
        if TRANSITIONS in checks:
            direct = set(rows.users(case.source, case.target).tolist()) - own
            assert checks[TRANSITIONS].users == (len(direct) or None)
        if PATHS in checks:
            legs = [(case.source, path.middle) for path in paths_between(case, case.target)]
            legs += [(path.middle, case.target) for path in paths_between(case, case.target)]
            users = {int(user) for leg in legs for user in rows.users(*leg)} - own
            assert checks[PATHS].users == len(users)


def test_what_fails_is_said() -> None:
    """Seeds that disagree, a contribution like elsewhere, one user's transitions."""
    seeds = [SeedRank(seed=0, rank=2, without=5), SeedRank(seed=1, rank=2, without=2)]
    chance = PermutationTest(reached=99, drawn=199, p_value=0.5)
    weak = RowCheck(row="two-hop paths", points=0.2, seeds=seeds, permutation=chance, users=1)
    assert weak.problems == ["seeds disagree", "other cases get as much", "one user's transitions"]
    assert weak.cells["Seeds"] == "1 of 2 agrees" and weak.cells["Without it"] == "2nd → 5th"
    good = RowCheck(row="past visits", points=1.0, seeds=[seeds[0]] * 2, permutation=None, users=None)
    assert describe_checks([weak, good]) == "Stable in 2 seeds: past visits."
    assert describe_checks([weak]) == "No contribution passes every check."


BBQ, STADIUM, STATION, AIRPORT, BAR, HOME = range(6)
NAMES = ["BBQ Joint", "Stadium", "Train Station", "Airport", "Bar", "Home"]
TRAIN, TEST = c.TRAIN, c.TEST
WALKS = [
    # The user of the case: one past visit to the airport, never from the stadium.
    (0, [(HOME, TRAIN), (AIRPORT, TRAIN), (HOME, TRAIN), (BAR, TRAIN), (HOME, TRAIN)]),
    (0, [(BBQ, TEST), (STADIUM, TEST), (AIRPORT, TEST)]),
    # Others: stadium -> train station five times, train station -> airport four times.
    *[(1, [(STADIUM, TRAIN), (STATION, TRAIN), (AIRPORT, TRAIN)]) for _ in range(4)],
    (1, [(STADIUM, TRAIN), (STATION, TRAIN), (HOME, TRAIN)]),
    (1, [(STADIUM, TRAIN), (BAR, TRAIN), (HOME, TRAIN), (STADIUM, TRAIN), (BAR, TRAIN), (HOME, TRAIN)]),
    (1, [(BBQ, c.VAL), (HOME, c.VAL)]),
]


@cache
def case() -> tuple[Predictor, CaseExplanation]:
    dataset = split_dataset(WALKS, len(NAMES))
    dataset.pois[c.POI_NAME] = NAMES
    predictor = predictor_of(dataset, seed=5)
    return predictor, explain_case(predictor, 1, top=6, search=True)


def test_paths_and_visits_of_the_case() -> None:
    """An unseen pair; 5 and 4 transitions over the train station; one visit, five check-ins before."""
    predictor, explanation = case()
    assert (explanation.source_name, explanation.target_name) == ("Stadium", "Airport")
    assert explanation.transition_count == 0 and explanation.is_known and explanation.within_two_hops
    (path,) = explanation.paths
    assert (path.name, path.count_in, path.total_in, path.count_out, path.total_out) == ("Train Station", 5, 7, 4, 5)
    assert (path.product, path.share) == pytest.approx((4 / 7, 1.0))
    (visit,) = explanation.visits[0].visits
    assert (visit.visit, visit.checkins_ago) == (1, 5) and visit.days_ago == pytest.approx(5 / 24)
    assert explanation.inactive == [] and predictor.dataset.num_pois == explanation.num_places == 6


def test_all_renderings_hold_the_same_numbers() -> None:
    """The page shows ranks and counts, escapes names, and asks for nothing outside."""
    predictor, explanation = case()
    opened = Workspace(predictor.dataset, predictor.graph)
    page = render_html(share_cases([explanation], opened, exact=True))
    notebook = str(explanation._repr_html_())
    for explained in ("Train Station", explanation.local_time):
        assert explained in page and explained in notebook
    for outside in ("http:", "https:", "src=", "url(", "<script", "@import"):
        assert outside not in page and outside not in notebook
    hostile = explanation.model_copy(update={"source_name": '<img src=x onerror="alert(1)">'})
    assert "<img" not in str(hostile._repr_html_()) and "&lt;img" in str(hostile._repr_html_())


@pytest.mark.parametrize("model", MODELS)
def test_parts_add_up_to_the_score_where_the_picture_ends_and_each_is_left_out_for_real(model: str) -> None:
    """What parts add is the score; ranks without a part are those of the scorer's own ablation.

    Blocks of the bar, negative ones taken off, are as long as the score, on one scale for both places.
    """
    predictor = small_predictor(**MODELS[model])
    for number in range(0, 24, 5):
        flow = describe_flow(build_edited_case(predictor, number))
        for at, place in enumerate(flow.places):
            added = sum(part.adds[at] for part in flow.parts if part.adds is not None)
            assert added == pytest.approx(place.score, abs=1e-9)
        batch = predictor.histories([predictor.case(number).row])
        for part in flow.parts:
            assert part.title and all(part.reads) and flow.explain(part.name).does
            if part.name == GRAPH_TOKEN or part.without is None:
                continue
            terms = [term.name for term in predictor.scorer.terms if part.name in (term.name, term.group)]
            total_P = predictor.scorer.score(batch, Interventions(frozenset(terms))).total[0]
            assert part.without == tuple(rank_of(total_P, place.poi) for place in flow.places), part.name
    scales = []
    for at in range(2):
        figure = plot_flow(flow, DARK, place=at, opened=flow.parts[0].name).to_dict()
        blocks = [trace for trace in figure["data"] if trace.get("fill") == "toself" and len(trace["x"]) == 4]
        length = sum((max(block["y"]) - min(block["y"])) * (-1 if "fillpattern" in block else 1) for block in blocks)
        thin = sum(part.adds[at] for part in flow.parts if part.adds and abs(part.adds[at]) < 0.05)
        scales.append(length / (flow.places[at].score - thin))
    assert scales[0] == pytest.approx(scales[1], rel=0.1) and scales[0] > 0


@pytest.mark.parametrize("model", ["paper", "recap"])
def test_curves_say_what_terms_add(model: str) -> None:
    """At a place's own values the curves give its contributions, but for the clip; a new place has none of the past."""
    predictor = small_predictor(**MODELS[model])
    curves = learned_curves(predictor)
    for curve in curves:
        assert curve.knots == sorted(curve.knots) and len(curve.density) == max(0, len(curve.knots) - 1)
        assert [curve.feature.in_unit(knot) for knot in curve.knots] == pytest.approx(curve.amounts)
        assert model == "paper" or curve.points[0] == 0.0
    assert sum(curves[0].density) > 0
    for number in range(0, 24, 5):
        edited_case = build_edited_case(predictor, number)
        pois = list(range(predictor.dataset.num_pois))
        values, added_NT = values_at(edited_case, pois), edited_case.contributions(pois)
        names = [term.name for term in predictor.scorer.terms]
        for curve in curves:
            column = added_NT[:, names.index(curve.name)].tolist()
            said = [0.0 if value is None else curve.at(value) for value in values[curve.name]]
            assert said == pytest.approx(column, abs=1e-6 if model == "recap" else 0.02), curve.name
    assert (model == "paper") == bool(describe_learned(predictor).gates)


def test_the_headline_names_what_costs_most_on_its_own_ground() -> None:
    """Known places are ranked among known ones alone: nothing said of new places can move them."""
    predictor = small_predictor(**MODELS["corrected curves"])
    table = describe_ablations(predictor, predictor.cases)
    for number in range(0, len(table), 9):
        row, target = int(predictor.cases["row"][number]), int(predictor.cases["target"][number])
        batch = predictor.histories([row])
        past = batch.checkins.poi_T[int(batch.checkins.first_T[row]) : row + 1]
        kind_P = torch.isin(torch.arange(predictor.dataset.num_pois), past)
        assert table["is_known"][number] == bool(kind_P[target])
        total_P = predictor.score(batch).total[0].masked_fill(kind_P != kind_P[target], -torch.inf)
        assert table["kind_rank"][number] == rank_of(total_P, target)
    assert (table["kind_without_core"] == table["kind_rank"])[table["is_known"]].all()
    assert (table["kind_without_past_visits"] == table["kind_rank"])[~table["is_known"]].all()
    worth = worth_by_kind(table, np.arange(len(table)))
    assert set(worth["among"]) == {"all", "known", "new"}
    assert headline(deciding_part(worth, "known"), deciding_part(worth, "new")).endswith("new ones.")


def test_finished_replicates_give_their_curves(tmp_path: Path) -> None:
    """A seed next to the checkpoint has the same curves, a bundle ships them; an unfinished training has none."""
    dataset = small_city()
    checkpoint = Checkpoint.load(write_untrained_checkpoint(dataset, tmp_path / "recap", config=recap_config()))
    assert replicate_curves(checkpoint) == []
    seed = tmp_path / "recap-seeds" / "seed-1"
    shutil.copytree(checkpoint.folder, seed)
    (tmp_path / "recap-seeds" / "seed-2" / "training").mkdir(parents=True)
    (replicate,) = replicate_curves(checkpoint)
    own = learned_curves(Predictor(checkpoint, dataset))
    assert [(curve.knots, curve.points) for curve in replicate] == [(curve.knots, curve.points) for curve in own]
    copy = tmp_path / "bundle" / "recap"
    shutil.copytree(checkpoint.folder, copy)
    ship_replicate_curves(checkpoint, copy)
    assert [path.name for path in copy.with_name("recap-seeds").iterdir()] == ["seed-1.curves.safetensors"]
    (shipped,) = replicate_curves(Checkpoint.load(copy))
    assert shipped == replicate


def test_the_note_on_worth_names_parts_that_do_harm() -> None:
    """Where the whole interval among new places is below 0, more are found without the part; elsewhere nothing."""
    rows = [("known", "past visits", 3438, -0.1, -0.05), ("new", "the sequence model", 546, -0.04, -0.01)]
    rows.append(("new", "two-hop paths", 546, -0.01, 0.002))
    worth = pd.DataFrame(rows, columns=["among", "label", "n", "hr", "hr_high"])
    note = worth_note(worth)
    assert "3,438 test cases lead to known places (or the current one), 546 to new ones." in note
    assert note.endswith("New places are found more often without the sequence model.")
    assert worth_note(worth.assign(hr_high=0.1)).endswith("Lines: 95 % intervals over users.")
