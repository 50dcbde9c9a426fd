"""The model drawn once: parts that add up, ranks without each, curves that say what terms add, and the headline."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.explain.curves import describe_learned, learned_curves, replicate_curves, ship_replicate_curves, values_at
from analysis.explain.edited_case import build_edited_case
from analysis.explain.model_flow import describe_flow
from analysis.explain.model_words import headline, worth_note
from analysis.figures.model_flow import plot_flow
from analysis.figures.palette import DARK
from analysis.records.ablations import describe_ablations
from analysis.records.causes import deciding_part, worth_by_kind
from recap.checkpoint import Checkpoint
from recap.counterfactuals import GRAPH_TOKEN
from recap.evaluation.ranks import rank_of
from recap.predictor import Predictor
from recap.presets import recap as recap_config
from tests.analysis.planted import MODELS, small_predictor
from tests.analysis.records.test_causes import KINDS
from tests.untrained import write_untrained_checkpoint
from tests.worlds import small_city


@pytest.mark.parametrize("model", MODELS)
def test_parts_add_up_and_each_is_left_out_for_real(model: str) -> None:
    """What parts add is the score; ranks without a part are those of the scorer's own ablation."""
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
            total_P = predictor.scorer.score(batch, predictor.scorer.without(batch, terms)).total[0]
            assert part.without == tuple(rank_of(total_P, place.poi) for place in flow.places), part.name


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


@pytest.mark.parametrize("model", MODELS)
def test_the_picture_ends_at_the_score(model: str) -> None:
    """Blocks of the bar, negative ones taken off, are as long as the score, on one scale for both places."""
    flow = describe_flow(build_edited_case(small_predictor(**MODELS[model]), 3))
    scales = []
    for place in range(2):
        figure = plot_flow(flow, DARK, place=place, opened=flow.parts[0].name).to_dict()
        blocks = [trace for trace in figure["data"] if trace.get("fill") == "toself" and len(trace["x"]) == 4]
        length = sum((max(block["y"]) - min(block["y"])) * (-1 if "fillpattern" in block else 1) for block in blocks)
        thin = sum(part.adds[place] for part in flow.parts if part.adds and abs(part.adds[place]) < 0.05)
        scales.append(length / (flow.places[place].score - thin))
    assert scales[0] == pytest.approx(scales[1], rel=0.1) and scales[0] > 0


def test_the_headline_names_what_costs_most_on_its_own_ground() -> None:
    """Known places are ranked among known ones alone: nothing said of new places can move them."""
    predictor = small_predictor(**KINDS["curves"][0])
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
