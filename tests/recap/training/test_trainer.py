"""Trainings: parts wake when their stage comes, every ablation and preset learns, the best epoch is an honest one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from recap import columns as c
from recap.checkpoint import TRAINING_FOLDER, WEIGHTS, Checkpoint
from recap.data.dataset import Dataset
from recap.errors import DataError
from recap.evaluation.scoring import evaluate
from recap.features.catalogue import WHENEVER
from recap.history.graph import TransitionGraph
from recap.history.tensors import Histories
from recap.model.config import Stage
from recap.model.curves import Curves
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import RECAP_PRESETS, feature_curves, recap, train_preset
from recap.runs.store.description import best_epoch
from recap.storage.tensors import load_tensors
from recap.training.baselines import build_baseline, is_fitted
from recap.training.loop import BEST, BEST_OVERALL, StepReport
from recap.training.metrics_file import read_metrics
from recap.training.run import train
from recap.training.trainer import Trainer
from recap.training_config import TrainConfig
from tests.checkins import split_dataset
from tests.worlds import SMALL_MODEL, batch_of, small_city, small_training, targets_of

CPU = torch.device("cpu")


def weights_of(trainer: Trainer) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in trainer.model.state_dict().items()}


def trained(folder: Path, config: TrainConfig, **watching: Any) -> Trainer:
    """A finished training in a folder, which is made."""
    folder.mkdir(exist_ok=True)
    trainer = Trainer(small_city(), config, folder, CPU)
    assert trainer.run(**watching)
    return trainer


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_inactive_parts_stay_bit_identical_until_their_stage(tmp_path: Path) -> None:
    """Epoch by epoch: graph from 2, prior from 3, correction from 4; what sleeps does not even decay."""
    config = small_training(
        epochs=4,
        curriculum={"graph_epoch": 2, "graph_ramp_epochs": 1, "prior_epoch": 3, "correction_epoch": 4, "warm_epoch": 4},
        optimiser={"learning_rate": 1e-2, "weight_decay": 0.1},
    )
    trainer = Trainer(small_city(), config, tmp_path, CPU)
    before = weights_of(trainer)
    moved: dict[int, set[str]] = {}

    def after_epoch(trainer: Trainer, epoch: int) -> None:
        nonlocal before
        now = weights_of(trainer)
        moved[epoch] = {name for name, tensor in now.items() if not torch.equal(tensor, before[name])}
        before = now

    trainer.run(after_epoch=after_epoch)
    wakes = {"graph_token": 2, "prior": 3, "calibration": 4}
    for epoch in range(1, 5):
        assert moved[epoch] == {name for name in before if wakes.get(name.split(".")[0], 1) <= epoch}, epoch


ABLATIONS: dict[str, dict[str, Any]] = {
    "whole": {},
    "w/o Graph": {"model": {"use_graph": False}},
    "w/o History": {"model": {"use_history": False}},
    "w/o Shortcut": {"curriculum": {"warm_weight": 0.0}},
    "w/o count": {"model": {"prior": {"use_count": False}}},
    "w/o recency": {"model": {"prior": {"use_recency": False}}},
    "w/o recent window": {"model": {"prior": {"use_window": False}}},
    "future time": {"model": {"use_future_time": True}},
    "1 hop": {"model": {"num_hops": 1}},
    "4 hops": {"model": {"num_hops": 4}},
    "k = 1": {"model": {"suffix_length": 1}},
    "k = 20": {"model": {"suffix_length": 20}},
    "label smoothing": {"label_smoothing": 0.1},
    "simultaneous": {"curriculum": {"staged": False}},
    "bf16": {"precision": "bf16"},
}


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_variant_trains(name: str, tmp_path: Path) -> None:
    """One epoch with everything on: every parameter of the variant moves, and the loss is a number that fell."""
    changes = ABLATIONS[name]
    at_once = {"staged": False} | changes.get("curriculum", {})
    config = small_training(epochs=3, **{**changes, "curriculum": at_once})
    trainer = Trainer(small_city(), config, tmp_path, CPU)
    before = weights_of(trainer)
    assert trainer.run()
    stuck = [name for name, tensor in weights_of(trainer).items() if torch.equal(tensor, before[name])]
    assert stuck == []
    losses = [line["loss"] for line in lines_of(tmp_path)]
    assert losses[-1]["main"] < losses[0]["main"]
    assert (losses[0]["warm"] > 0) is (name != "w/o Shortcut")
    for part, without in (("graph_token", "w/o Graph"), ("prior", "w/o History"), ("calibration", "w/o History")):
        assert any(key.startswith(f"{part}.") for key in before) is (name != without)


def test_a_staged_training_uses_its_stages(tmp_path: Path) -> None:
    """The journal shows each epoch's stage and learning rates as the curriculum gives them; who watches hears of every
    step: 176 training cases in batches of 64 are three steps an epoch.
    """
    config, seen = small_training(), list[StepReport]()
    trained(tmp_path, config, watch=seen.append)
    lines = lines_of(tmp_path)
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    assert [Stage(**line["stage"]) for line in lines] == [config.curriculum.at(epoch) for epoch in (1, 2, 3)]
    assert [line["learning_rate"]["backbone"] for line in lines] == pytest.approx([1e-2, 1e-2, 1e-3])
    assert [line["learning_rate"]["prior"] for line in lines] == [5e-2] * 3
    assert [line["loss"]["warm"] > 0 for line in lines] == [False, False, True]
    assert [(report.epoch, report.step) for report in seen] == [(e, s) for e in (1, 2, 3) for s in (1, 2, 3)]
    assert {(report.epochs, report.steps) for report in seen} == {(3, 3)} and all(report.loss > 0 for report in seen)


@pytest.mark.filterwarnings("default")  # torch.compile warns of its own code while it traces
@pytest.mark.slow
def test_a_compiled_encoder_trains_the_same_weights(tmp_path: Path) -> None:
    """torch.compile changes the speed, not the model: the same tensors, close to those of the plain run."""
    if shutil.which("g++") is None and shutil.which("clang++") is None:
        pytest.skip("torch.compile needs a C++ compiler")
    weights, scored = [], []
    for name, switch in (("plain", False), ("compiled", True)):
        config = small_training(
            epochs=1, compile=switch, curriculum={"staged": False}, model={"dropout": 0.0, "embedding_dropout": 0.0}
        )
        trainer = trained(tmp_path / name, config)
        weights.append(weights_of(trainer))
        scored.append(trainer.scorer(1).score(Histories(trainer.checkins, trainer.row_N[:50])).total)
    torch.testing.assert_close(*scored, rtol=1e-2, atol=1e-3)
    plain, compiled = weights
    assert plain.keys() == compiled.keys()
    for name, tensor in plain.items():
        # A bias of the keys changes no softmax: its gradient is rounding, which Adam turns into steps.
        kept = slice(len(tensor) // 2, None) if name.endswith("key_value.bias") else ...
        torch.testing.assert_close(compiled[name][kept], tensor[kept], rtol=1e-2, atol=1e-3)


def test_a_draw_of_cases_validates_and_tests_the_same_training(tmp_path: Path) -> None:
    """Three validation cases and two test cases are ranked and counted; the weights are those of a whole validation."""
    dataset, weights = small_city(), []
    num_cases = [len(dataset.cases(split)) for split in (c.VAL, c.TEST)]
    for name, drawn in (("all", (None, None)), ("drawn", (3, 2))):
        config = small_training(epochs=3, validate_every=3, validation_cases=drawn[0], test_cases=drawn[1])
        checkpoint = train(dataset, config, tmp_path / name, device=CPU)
        line = lines_of(tmp_path / name / TRAINING_FOLDER)[-1]
        summary = checkpoint.read_summary()
        weights.append(load_tensors(checkpoint.folder / WEIGHTS)[0])
        found = (line["val"]["all"]["n"], summary["test"]["all"]["n"], summary["baselines"]["popularity"]["all"]["n"])
        of = (line.get("val_drawn_from"), summary.get("test_drawn_from"))
        assert found == ((*num_cases, num_cases[1]) if name == "all" else (3, 2, 2))
        assert of == ((None, None) if name == "all" else tuple(num_cases))
    assert all(torch.equal(tensor, weights[1][key]) for key, tensor in weights[0].items())


def test_weights_hang_on_the_seed_alone(tmp_path: Path) -> None:
    """The same seed gives the same weights, validated after every epoch or only at the end; another seed others."""
    settings: list[dict[str, Any]] = [{"seed": 1}, {"seed": 1, "validate_every": 3}, {"seed": 2}]
    one, same, other = (weights_of(trained(tmp_path / str(n), small_training(**s))) for n, s in enumerate(settings))
    assert all(torch.equal(tensor, same[name]) for name, tensor in one.items())
    assert not torch.equal(one["core.output.weight"], other["core.output.weight"])


def test_the_best_epoch_has_every_enabled_part(tmp_path: Path) -> None:
    """Seven epochs of the core, then a hundredfold learning rate breaks it: the kept epoch is 8 or 9 all the same.

    The best of all epochs is kept too, each with the weights of its own epoch.
    """
    config = small_training(
        epochs=9,
        model={"prior": {"count_weight": 0.0, "use_recency": False, "use_window": False}},
        optimiser={"learning_rate": 1e-2, "prior_learning_rate": 1e-9},
        curriculum=dict.fromkeys(("graph_epoch", "graph_ramp_epochs"), 1)
        | dict.fromkeys(("prior_epoch", "correction_epoch", "warm_epoch"), 8)
        | {"backbone_lr_scale": 100.0},
    )
    weights: dict[int, dict[str, Tensor]] = {}

    def remember(trainer: Trainer, epoch: int) -> None:
        weights[epoch] = weights_of(trainer)

    trainer = trained(tmp_path, config, after_epoch=remember)
    mrr = {line["epoch"]: line["val"]["all"]["mrr"] for line in lines_of(tmp_path)}
    complete = {epoch: mrr[epoch] for epoch in (8, 9)}
    assert max(mrr.values()) > max(complete.values()), "the world of this test: the best epoch is an incomplete one"
    for kept, name, candidates in (
        (trainer.progress.best, BEST, complete),
        (trainer.progress.best_overall, BEST_OVERALL, mrr),
    ):
        assert kept is not None
        epoch = kept.epoch
        assert epoch == max(candidates, key=candidates.__getitem__)
        assert kept.val["mrr"] == mrr[epoch] and kept.stage == config.curriculum.at(epoch)
        tensors, _ = load_tensors(tmp_path / name)
        assert all(torch.equal(tensor, weights[epoch][key]) for key, tensor in tensors.items())


def test_the_kept_epoch_can_be_chosen_on_the_last_case_of_each_trajectory(tmp_path: Path) -> None:
    """The journal holds both: ``val`` over every step, ``selection`` over one case a trajectory, which chooses."""
    city = small_city()
    config = small_training(epochs=6, seed=0, select_on="trajectory_last", curriculum={"staged": False})
    trainer = trained(tmp_path, config)
    lines = lines_of(tmp_path)
    assert {line["val"]["all"]["n"] for line in lines} == {len(city.cases(c.VAL))}
    assert {line["selection"]["n"] for line in lines} == {len(city.cases(c.VAL, "trajectory_last"))}
    mrr = {line["epoch"]: line["selection"]["mrr"] for line in lines}
    every_step = {line["epoch"]: line["val"]["all"]["mrr"] for line in lines}
    chosen = max(mrr, key=mrr.__getitem__)
    assert chosen != max(every_step, key=every_step.__getitem__), "the world of this test: the two choose differently"
    kept, shown = trainer.progress.best, best_epoch(read_metrics(tmp_path / "metrics.jsonl"))
    assert kept is not None and shown is not None
    assert (kept.epoch, kept.val["mrr"], shown["epoch"]) == (chosen, mrr[chosen], chosen)


def test_validates_every_second_epoch_and_at_the_end_and_a_part_that_is_off_counts_as_complete(tmp_path: Path) -> None:
    """Of five epochs 2, 4 and 5 are validated; w/o History those with a graph token, from 3 on, may be the best."""
    curriculum = {"graph_epoch": 3} | dict.fromkeys(("prior_epoch", "correction_epoch", "warm_epoch"), 5)
    config = small_training(epochs=5, validate_every=2, model={"use_history": False}, curriculum=curriculum)
    trainer = trained(tmp_path, config)
    val = {line["epoch"]: line["val"]["all"]["mrr"] for line in lines_of(tmp_path) if "val" in line}
    assert [*val] == [2, 4, 5] and trainer.progress.best is not None
    assert trainer.progress.best.epoch == max((4, 5), key=val.__getitem__)


SIZES = [
    f"model.{name}={value}" for name, value in SMALL_MODEL.model_dump().items() if name.endswith(("_dim", "_heads"))
]


def shrunk(preset: str, *changes: str) -> TrainConfig:
    """A preset at the sizes of `SMALL_MODEL`, with short epochs."""
    return train_preset(preset).with_epochs(6).override([*SIZES, "batch_size=32", "validate_every=6", *changes])


@pytest.mark.parametrize("changes", [(), ("model.use_correction=true",)], ids=["as it is", "with correction"])
@pytest.mark.parametrize("preset", RECAP_PRESETS)
def test_every_parameter_of_every_preset_gets_a_gradient(preset: str, changes: tuple[str, ...], tmp_path: Path) -> None:
    """At some step of some epoch, one that is not zero: no weight is carried along for nothing.

    Of the curves, each that has a second knot; of tables, each row whose place or user occurs in training.
    """
    trainer = Trainer(small_city(), shrunk(preset, *changes), tmp_path, CPU)
    moved = {name: torch.zeros_like(value, dtype=torch.bool) for name, value in trainer.model.named_parameters()}

    def watch(_: StepReport) -> None:
        for name, value in trainer.model.named_parameters():
            if value.grad is not None:
                moved[name] |= value.grad != 0

    assert trainer.run(watch)
    assert [name for name, elements in moved.items() if not elements.any()] == []
    if "core.output.weight" in moved:
        assert moved["core.output.weight"].any(1).tolist() == scored_by_the_core(trainer)
        assert moved["poi_embedding.weight"].any(1).all()
        assert moved["backbone.user_embedding.weight"].any(1).all()
    if trainer.model.curves is not None:
        curves = trainer.model.curves.curves
        has_two_F = curves.knot_FK1[:, 1].isfinite()
        assert has_two_F.sum() > 30
        moved_F = moved["curves.curves.step_FK"].any(1)
        assert [
            name
            for name, two, moves in zip(WHENEVER.names, has_two_F, moved_F, strict=True)
            if bool(two) != bool(moves)
        ] == []


def scored_by_the_core(trainer: Trainer) -> list[bool]:
    """Whether some training case has the place among those that the core scores."""
    everywhere, places = trainer.config.model.core_scope == "everywhere", range(trainer.model.num_pois)
    poi, first = trainer.checkins.poi_T.tolist(), trainer.checkins.first_T.tolist()
    pasts = [set(poi[first[row] : row + 1]) for row in trainer.row_N.tolist()]
    return [everywhere or any(place not in past for past in pasts) for place in places]


def test_the_curves_alone_are_the_default_with_the_rest_left_out() -> None:
    """They differ in the parts that act, the pairs they learn from, where curves start and how fast they move."""
    whole, alone = recap().model_dump(), feature_curves().model_dump()
    differing = {name for name in whole if whole[name] != alone[name]}
    assert differing == {"preset", "train_on", "select_on", "model", "curriculum", "optimiser"}
    parts = {name for name in whole["model"] if whole["model"][name] != alone["model"][name]}
    assert parts <= {"core_scope", "use_graph", "use_correction", "prior"}
    assert whole["model"]["prior"] == alone["model"]["prior"] | {"start": "pretrained"}
    rates = {name for name, value in whole["optimiser"].items() if value != alone["optimiser"][name]}
    assert rates == {"prior_learning_rate"}
    assert not feature_curves().model.has_encoder and recap().model.has_core


def test_knots_are_in_the_checkpoint_and_come_from_training_alone(tmp_path: Path) -> None:
    """The opened model has them; other validation and test check-ins would give the same."""
    dataset = small_city()
    checkpoint = train(dataset, shrunk("feature_curves"), tmp_path / "out", device=CPU)
    assert checkpoint is not None
    graph = TransitionGraph.from_dataset(dataset)
    opened = Checkpoint.load(tmp_path / "out").build_model(dataset, graph).curves
    poi = dataset.checkins[c.POI].where(dataset.checkins[c.SPLIT] == c.TRAIN, 3).astype("int32")
    table = dataset.checkins.assign(**{c.POI: poi})
    other = Dataset(checkins=table, pois=dataset.pois, users=dataset.users, manifest=dataset.manifest)
    trainer = Trainer(other, shrunk("feature_curves"), tmp_path, CPU)
    trainer.begin()
    assert opened is not None and trainer.model.curves is not None
    assert torch.equal(opened.curves.knot_FK1.float(), trainer.model.curves.curves.knot_FK1)


def test_smoothing_makes_curves_smoother(tmp_path: Path) -> None:
    """A penalty a thousand times as heavy leaves nearly every curve smoother; without one most are rougher still."""
    rough = []
    for at, weight in enumerate((0.0, 1e-4, 1e-1)):
        trainer = trained(tmp_path / str(at), shrunk("feature_curves", f"optimiser.curve_smoothing={weight}"))
        rough.append(roughness_of_each(trainer.model.curves.curves))
    none, light, heavy = (torch.tensor(values) for values in rough)
    bends = none > 0
    assert bends.sum() > 20
    assert (light > heavy)[bends].double().mean() > 0.9 and (none > light)[bends].double().mean() > 0.7


def roughness_of_each(curves: Curves) -> list[float]:
    """The penalty of each curve alone."""
    step_FK, found = curves.step_FK.detach().clone(), []
    for row in range(len(step_FK)):
        curves.step_FK.data = torch.zeros_like(step_FK)
        curves.step_FK.data[row] = step_FK[row]
        found.append(curves.roughness().item())
    return found


def test_the_curves_are_fitted_once_for_a_dataset(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written once, read back equal, a damaged file is fitted again to the same; asked not to, nothing is written."""
    dataset, graph, batch = small_city(), TransitionGraph.from_dataset(small_city()), batch_of(small_city())
    fits: list[Any] = []

    def counted(*words: Any) -> Trainer:
        fits.append(1)
        return Trainer(*words)

    monkeypatch.setattr("recap.training.trainer.Trainer", counted)
    assert not is_fitted(dataset.hash)
    build_baseline("feature_curves", dataset, graph, keep=False)
    assert not is_fitted(dataset.hash) and len(fits) == 1

    def total() -> torch.Tensor:
        scorer = build_baseline("feature_curves", dataset, graph)
        assert scorer.name == "feature_curves"
        return scorer.score(batch).total

    first = total()
    assert is_fitted(dataset.hash) and len(fits) == 2 and first.dtype == torch.float64
    assert torch.equal(total(), first) and len(fits) == 2
    (path,) = home.rglob("curves-*.safetensors")
    content = path.read_bytes()
    for damaged in (b"", content[: len(content) // 2], b"{}" + content):
        path.write_bytes(damaged)
        before = len(fits)
        assert torch.equal(total(), first) and len(fits) == before + 1
    assert path.read_bytes() == content
    monkeypatch.setattr("recap.storage.cache_keys.COMPUTED", 0)
    assert not is_fitted(dataset.hash)


def test_the_baseline_is_the_preset(home: Path, tmp_path: Path) -> None:
    """What `feature_curves` scores as a baseline is what a training of its preset scores, case by case."""
    dataset = small_city()
    graph = TransitionGraph.from_dataset(dataset)
    checkpoint = train(dataset, feature_curves(), tmp_path / "out", device=CPU)
    scorer = build_baseline("feature_curves", dataset, graph)
    one, other = (each.score(batch_of(dataset)).total for each in (scorer, checkpoint.scorer(dataset, graph)))
    torch.testing.assert_close(one, other, rtol=0, atol=1e-6)
    assert evaluate(scorer, dataset, graph).metrics == checkpoint.read_summary()["test"]


def test_without_a_case_to_fit_on_there_are_no_curves(home: Path) -> None:
    dataset = split_dataset([(0, [(0, c.TRAIN), (1, c.TEST), (0, c.TEST)])], 2)
    with pytest.raises(DataError) as refusal:
        build_baseline("feature_curves", dataset, TransitionGraph.from_dataset(dataset))
    assert "\n" not in str(refusal.value)


def poor(kind: str) -> Dataset:
    """Cities in which some features have one value, or none."""
    splits = [c.TRAIN] * 6 + [c.VAL] * 2 + [c.TEST] * 2
    if kind == "one user":
        return split_dataset([(0, [(at % 3, s) for at, s in enumerate(splits)])], 3)
    if kind == "all new":  # nobody is anywhere twice, and everyone elsewhere
        return split_dataset([(u, [(10 * u + at, s) for at, s in enumerate(splits)]) for u in range(4)], 40)
    dataset = split_dataset([(u, [((u + at) % 3, s) for at, s in enumerate(splits)]) for u in range(4)], 3)
    if kind == "no times":
        dataset.checkins[c.TIME] = dataset.checkins[c.TIME].iloc[0]
    return dataset


@pytest.mark.parametrize("preset", RECAP_PRESETS)
@pytest.mark.parametrize("kind", ["one user", "all new", "one category and point", "no times"])
def test_a_poor_city_gives_flat_curves_and_no_nan(kind: str, preset: str, tmp_path: Path) -> None:
    """A training ends in numbers, and what has no second value adds nothing to any place."""
    dataset = poor(kind)
    trainer = Trainer(dataset, shrunk(preset), tmp_path, CPU)
    assert trainer.run()
    model = Recap(trainer.config.model, dataset, trainer.graph, torch.float64)
    model.load_state_dict(trainer.model.state_dict())
    scorer = RecapScorer(model, trainer.stage(6))
    batch = Histories(batch_of(dataset).checkins, torch.from_numpy(dataset.cases(c.TEST)))
    found_BT = scorer.contributions(batch, targets_of(batch)[:, None])[:, 0]
    assert scorer.score(batch).total.isfinite().all() and found_BT.isfinite().all()
    if model.curves is not None:
        curves = model.curves.curves
        one_F = ~curves.knot_FK1[:, 1].isfinite()
        assert (one_F.any() and not curves.levels[one_F].any()) or not found_BT.isnan().any()
        flat = [term for term, one in zip(WHENEVER.names, one_F, strict=True) if one]
        at = [index for index, term in enumerate(model.terms) if term.name in flat]
        assert not found_BT[:, at].any()
