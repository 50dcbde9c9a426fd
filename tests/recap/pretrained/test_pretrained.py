"""`pretrained`: the package's file of curves, and the model made of it."""

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from recap import columns as c
from recap.data.cases import latest_cases
from recap.data.dataset import Dataset
from recap.errors import CheckpointError
from recap.features.catalogue import GIVEN_TIME, WHENEVER
from recap.history.graph import TransitionGraph
from recap.history.tensors import CaseBatch, CheckinTensors
from recap.model.config import Stage
from recap.model.curve_prior import NEW_PLACES
from recap.model.curves import Curves
from recap.model.recap import Interventions, Recap
from recap.model.scorer import RecapScorer
from recap.presets import feature_curves
from recap.pretrained.adaptation import LEAST_CASES, Adaptation
from recap.pretrained.checkpoint import PretrainedCheckpoint
from recap.pretrained.curves_file import PretrainedCurves
from recap.probabilities import UNFITTED
from recap.storage.user_folder import data_path, user_subfolder
from recap.training.pretraining import pretrain
from recap.training.trainer import CURVE_SPREAD, Trainer
from tests.checkins import small_dataset, split_dataset
from tests.worlds import all_cases, batch_of, habit_rows, small_city, small_training, targets_of

POIS = torch.arange(4)
FILE = data_path("recap", "pretrained.json")


def without_categories() -> Dataset:
    """The small city, every place of one category."""
    city = small_city(1)
    pois = city.pois.assign(**dict[str, Any]({c.CATEGORY_INDEX: np.int32(0), c.CATEGORY: "", c.CATEGORY_ID: ""}))
    return replace(city, pois=pois)


def walked_city() -> Dataset:
    """Enough validation cases to fit to."""
    return small_dataset(habit_rows(num_users=30, num_walks=12))


def unfitted_model(dataset: Dataset) -> Recap:
    config = PretrainedCheckpoint.of(dataset).recap_training.model
    model = Recap(config, dataset, TransitionGraph.from_dataset(dataset), torch.float64).eval()
    PretrainedCurves.packaged().fill(model.curves.curves)
    return model


def scorer_of(dataset: Dataset, checkpoint: PretrainedCheckpoint | None = None) -> RecapScorer:
    graph, found = TransitionGraph.from_dataset(dataset), checkpoint or PretrainedCheckpoint.of(dataset)
    scorer = (found.fit(dataset, graph) if found.is_unfitted else found).scorer(dataset, graph)
    assert isinstance(scorer, RecapScorer)
    return scorer


def test_the_file_fits_the_features_and_holds_nothing_else() -> None:
    """Made of today's features, small, ascending knots, at most four digits, and counts of each city only."""
    curves = PretrainedCurves.packaged()
    assert FILE.stat().st_size < 40_000
    for curve in (*curves.curves, *curves.given_time):
        assert curve.knots == sorted(set(curve.knots)) and len(curve.knots) == len(curve.values)
        assert all(float(f"{number:.4g}") == number for number in (*curve.knots, *curve.values))
    assert json.loads(FILE.read_text()).keys() == {"about", "cities", "protocol", "left_out", "curves", "given_time"}
    assert all(city.users > 1 and city.cases > 0 for city in curves.cities)


def test_a_changed_feature_refuses_the_file(tmp_path: Path) -> None:
    """One line says what to do; so it does for a file that is no such file."""
    path = tmp_path / "pretrained.json"

    def refuse(values: Any, message: str) -> None:
        path.write_text(json.dumps(values))
        with pytest.raises(CheckpointError, match=message):
            PretrainedCurves.load(path)

    for name in ("knots", "values"):
        damaged = json.loads(FILE.read_text())
        del damaged["curves"][3][name][-1]
        refuse(damaged, "rising knots and as many values")
    values = json.loads(FILE.read_text())
    values["curves"][3]["unit"] = "days"
    refuse(values, r"other features than this version; make it again")
    refuse({}, r"cannot be read .*`recap experiment run pretrained`")


def test_cities_share_one_set_of_curves() -> None:
    """Trained on two cities; the one without categories adds nothing to features by category."""
    alone, both = pretrain([small_city()]), pretrain([without_categories(), small_city()])
    assert [city.users for city in both.cities] == [small_city(1).num_users, small_city().num_users]
    by_name = {curve.feature: curve for curve in both.curves}
    for curve in alone.curves:
        if curve.feature in WHENEVER.of_categories:
            assert by_name[curve.feature].knots == curve.knots
    assert any(by_name[curve.feature].knots != curve.knots for curve in alone.curves)
    assert max(abs(value) for value in by_name["category_new"].values) > 0.01
    filled, given_time = Curves(WHENEVER), Curves(GIVEN_TIME)
    for curves in (filled, given_time):
        both.fill(curves)
    assert PretrainedCurves.of(filled, given_time, both.cities, about=both.about, left_out=both.left_out) == both


def test_contributions_add_up_to_the_score() -> None:
    """With the shift of new places as a row of its own, also where it is left out."""
    city = small_city()
    scorer = scorer_of(city)
    scorer.model.curves.new_places = 0.7
    histories = batch_of(city)
    names = [term.name for term in scorer.terms]
    assert names == [*WHENEVER.names, NEW_PLACES]
    total_BP, known_BP = scorer.score(histories).total, histories.known_places(city.num_pois)
    for poi in POIS:
        poi_B = torch.full((len(histories),), int(poi))
        contributions_BT = scorer.contributions(histories, poi_B)
        assert torch.allclose(contributions_BT.sum(1), total_BP[:, poi], rtol=0, atol=1e-12)
        assert torch.allclose(contributions_BT[:, -1], 0.7 * (~known_BP[:, poi]).double())
    left_BP = scorer.score(histories, Interventions(frozenset({NEW_PLACES}))).total
    assert torch.allclose(total_BP - left_BP, 0.7 * (~known_BP).double())


def test_features_by_category_are_off_without_categories() -> None:
    """Every place has one category: their contributions are 0; in a city with categories they are not."""
    at = [WHENEVER.names.index(name) for name in WHENEVER.of_categories]
    for city, expected in ((without_categories(), 0.0), (small_city(), None)):
        histories = batch_of(city)
        size = float(scorer_of(city).contributions(histories, targets_of(histories))[:, at].abs().max())
        assert size == expected if expected is not None else size > 0.01


def test_factors_have_the_highest_likelihood_among_past_places() -> None:
    """No factor, a little more or less, gives the latest training targets more, counted from contributions and with a
    standard Gaussian around 1; one curve at least moved, and curves that only new places have are as in the file.
    """
    city = walked_city()
    found, plain = PretrainedCheckpoint.of(city), unfitted_model(city)
    curves = scorer_of(city, found).model.curves.curves
    factor_F = torch.tensor(found.fitted.factors, dtype=torch.float64)
    assert torch.allclose(curves.levels, plain.curves.curves.levels * factor_F[:, None])

    latest = latest_cases(city.checkins, city.cases(c.TRAIN, "every_next"), feature_curves().latest_share)
    batch = CaseBatch(CheckinTensors.from_dataset(city), torch.from_numpy(latest))
    histories = batch.histories()
    known_BP = histories.known_places(city.num_pois)
    pois = (torch.full((len(latest),), poi) for poi in range(city.num_pois))
    point_PBF = torch.stack([RecapScorer(plain, Stage()).contributions(histories, poi_B) for poi_B in pois]).detach()
    is_known_B = known_BP.gather(1, batch.target_B[:, None])[:, 0]

    def likelihood(factor_F: torch.Tensor) -> float:
        log_BP = (point_PBF @ factor_F).T.masked_fill(~known_BP, -torch.inf).log_softmax(1)
        return float(log_BP.gather(1, batch.target_B[:, None])[is_known_B].sum() - 0.5 * (factor_F - 1).square().sum())

    best = likelihood(factor_F)
    for at, step in itertools.product(range(len(factor_F)), (-0.1, 0.1)):
        moved_F = factor_F.clone()
        moved_F[at] = max(0.0, float(moved_F[at]) + step)
        assert likelihood(moved_F) <= best + 1e-3
    assert best > likelihood(torch.ones_like(factor_F)) + 1.0
    assert all(found.fitted.factors[WHENEVER.names.index(name)] == 1.0 for name in ("similar_users", "distance_new"))


def test_nobody_returns() -> None:
    """Then no training case says how the curves of visited places should change."""
    walks = [(user, [(20 * user + at, (at > 11) + (at > 15)) for at in range(20)]) for user in range(20)]
    city = split_dataset(walks, 400)
    found = Adaptation.fit(unfitted_model(city), city, TransitionGraph.from_dataset(city))
    assert found.factors == [1.0] * len(WHENEVER.names) and found.new_places > 3.0


def test_new_places_move_to_where_validation_has_them() -> None:
    """At the fitted shift the model expects as many new targets as there are; it is kept, with factors and temperature,
    for the next time, and a damaged file is fitted again.
    """
    city = walked_city()
    rows = torch.from_numpy(city.cases(c.VAL, "every_next"))
    assert len(rows) >= LEAST_CASES
    checkpoint = PretrainedCheckpoint.of(city)
    model = scorer_of(city, checkpoint).model
    batch = CaseBatch(CheckinTensors.from_dataset(city), rows)
    known_BP = batch.histories().known_places(city.num_pois)
    new = float((~known_BP.gather(1, batch.target_B[:, None])).sum())
    probability_BP = model(batch.histories(), Stage()).total.softmax(1).detach()
    assert float(probability_BP.masked_fill(known_BP, 0.0).sum()) == pytest.approx(new, rel=0.02)
    kept = user_subfolder("cache") / f"pretrained-{checkpoint.hash[:16]}.json"
    fitted = Adaptation.parse(json.loads(kept.read_text()))
    assert checkpoint.temperature == fitted.temperature != UNFITTED and not checkpoint.is_unfitted
    kept.write_text(
        fitted.model_copy(update={"new_places": 1.25, "factors": [0.0] * len(WHENEVER.names)}).model_dump_json()
    )
    again = PretrainedCheckpoint.of(city)
    read = scorer_of(city, again).model.curves
    assert read.new_places == 1.25 and again.temperature == fitted.temperature and not read.curves.levels.any()
    for changed in (
        {"new_places": 700},
        {"factors": [-1.0] * len(WHENEVER.names)},
        {"factors": [1e9] * len(WHENEVER.names)},
    ):
        kept.write_text(json.dumps(fitted.model_dump() | changed))
        assert scorer_of(city, PretrainedCheckpoint.of(city)).model.curves.new_places == fitted.new_places
        assert Adaptation.parse(json.loads(kept.read_text())) == fitted


def test_few_validation_cases_move_nothing() -> None:
    """Fewer than fifty: the file's curves, no shift, no row for it, and nothing kept."""
    city = small_city()
    assert len(city.cases(c.VAL, "every_next")) < LEAST_CASES
    scorer = scorer_of(city)
    curves = Curves(WHENEVER)
    PretrainedCurves.packaged().fill(curves)
    assert torch.equal(scorer.model.curves.curves.step_FK.float(), curves.step_FK)
    assert NEW_PLACES not in [term.name for term in scorer.terms]
    assert PretrainedCheckpoint.of(city).is_unfitted and PretrainedCheckpoint.of(city).temperature == UNFITTED


def test_hash_names_file_and_dataset() -> None:
    """Another city or other curves: another key of records and links. A dataset whose training weeks the curves have
    seen is never called new to them.
    """
    city, curves = small_city(), PretrainedCurves.packaged()
    others = PretrainedCurves.parse(curves.model_dump() | {"about": "others"})
    assert len({curves.key("a" * 64), curves.key("b" * 64), others.key("a" * 64)}) == 3
    assert PretrainedCheckpoint.of(city).hash == curves.key(city.hash)
    assert PretrainedCheckpoint.of(city).learned_on.endswith("and Austin (Gowalla)")
    seen = curves.model_copy(update={"cities": [curves.cities[0].model_copy(update={"dataset_hash": city.hash})]})
    assert PretrainedCheckpoint.of(city, seen).learned_on == f"{seen.learned_on}, this data's training weeks among them"


def test_training_starts_from_the_curves_and_is_held_there(tmp_path: Path) -> None:
    """Before the first step the curves are the file's; an increment one sigma away costs half a nat."""
    config = small_training(model={"prior": {"kind": "curves", "start": "pretrained"}}, curriculum={"staged": False})
    trainer = Trainer(small_city(), config, tmp_path, torch.device("cpu"))
    expected, curves = Curves(WHENEVER), trainer.model.curves.curves
    trainer.pretrained.fill(expected)
    trainer.begin()
    trainer.begin_epoch(1)
    assert torch.equal(curves.step_FK, expected.step_FK) and torch.equal(curves.knot_FK1, expected.knot_FK1)
    assert float(trainer._penalty(curves).detach()) == 0.0
    with torch.no_grad():
        curves.step_FK[0, 1] += CURVE_SPREAD
    assert float(trainer._penalty(curves).detach()) == pytest.approx(0.5 / trainer.num_examples, rel=1e-4)
    trainer.run()
    assert 0.0 < float((curves.step_FK - expected.step_FK).detach().abs().max()) < 1.0


def test_no_later_check_in_moves_it() -> None:
    """A changed test week changes no fitted number, a changed validation week no factor."""
    city = walked_city()
    assert len(all_cases(city)) > len(city.cases(c.TRAIN))
    found = {}
    for split in (None, c.TEST, c.VAL):
        checkins = city.checkins.copy()
        is_changed = (checkins[c.SPLIT] == split).to_numpy()
        checkins.loc[is_changed, c.POI] = checkins.loc[is_changed, c.POI].to_numpy()[::-1]
        changed = replace(city, checkins=checkins)
        found[split] = Adaptation.fit(unfitted_model(changed), changed, TransitionGraph.from_dataset(changed))
    assert found[c.TEST] == found[None] != found[c.VAL] and found[c.VAL].factors == found[None].factors
