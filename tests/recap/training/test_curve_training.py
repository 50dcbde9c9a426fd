"""Trainings with curves: every parameter of every preset learns, and the curves alone are fitted once."""

from pathlib import Path
from typing import Any

import pytest
import torch

from recap import columns as c
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from recap.errors import DataError
from recap.evaluation.evaluate import evaluate
from recap.features.catalogue import NAMES
from recap.graph import TransitionGraph
from recap.history import Histories
from recap.model.curves import Curves
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import RECAP_PRESETS, feature_curves, recap, train_preset
from recap.storage.user_folder import HOME_VARIABLE
from recap.training import baselines
from recap.training.baselines import build_baseline, is_fitted
from recap.training.loop import StepReport
from recap.training.run import train
from recap.training.trainer import Trainer
from recap.training_config import TrainConfig
from tests.checkins import split_dataset
from tests.worlds import SMALL_MODEL, batch_of, small_city, targets_of

CPU = torch.device("cpu")
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
            name for name, two, moves in zip(NAMES, has_two_F, moved_F, strict=True) if bool(two) != bool(moves)
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
    trainer._begin()
    assert opened is not None and trainer.model.curves is not None
    assert torch.equal(opened.curves.knot_FK1.float(), trainer.model.curves.curves.knot_FK1)


def test_smoothing_makes_curves_smoother(tmp_path: Path) -> None:
    """A penalty a thousand times as heavy leaves nearly every curve smoother; without one most are rougher still."""
    rough = []
    for at, weight in enumerate((0.0, 1e-4, 1e-1)):
        (tmp_path / str(at)).mkdir()
        config = shrunk("feature_curves", f"optimiser.curve_smoothing={weight}")
        trainer = Trainer(small_city(), config, tmp_path / str(at), CPU)
        trainer.run()
        assert trainer.model.curves is not None
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


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_curves_are_fitted_once_for_a_dataset(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written once, read back equal, a damaged file is fitted again to the same; asked not to, nothing is written."""
    dataset, graph, batch = small_city(), TransitionGraph.from_dataset(small_city()), batch_of(small_city())
    fits: list[Any] = []

    def counted(*words: Any) -> Trainer:
        fits.append(1)
        return Trainer(*words)

    monkeypatch.setattr(baselines, "Trainer", counted)
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
    monkeypatch.setattr(baselines, "_VERSION", 0)
    assert not is_fitted(dataset.hash)


def test_the_baseline_is_the_preset(home: Path, tmp_path: Path) -> None:
    """What `feature_curves` scores as a baseline is what a training of its preset scores, case by case."""
    dataset = small_city()
    graph = TransitionGraph.from_dataset(dataset)
    checkpoint = train(dataset, feature_curves(), tmp_path / "out", device=CPU)
    assert checkpoint is not None
    scorer = build_baseline("feature_curves", dataset, graph)
    one, other = (each.score(batch_of(dataset)).total for each in (scorer, checkpoint.scorer(dataset, graph)))
    torch.testing.assert_close(one, other, rtol=0, atol=1e-6)
    assert evaluate(scorer, dataset, graph).metrics == checkpoint.read_summary()["test"]


def test_without_a_case_to_fit_on_there_are_no_curves(home: Path) -> None:
    """One line, as for any training."""
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
    model = Recap.for_dataset(trainer.config.model, dataset, trainer.graph, torch.float64)
    model.load_state_dict(trainer.model.state_dict())
    scorer = RecapScorer(model, trainer.stage(6))
    batch = Histories(batch_of(dataset).checkins, torch.from_numpy(dataset.cases(c.TEST)))
    found_BT = scorer.contributions(batch, targets_of(batch))
    assert scorer.score(batch).total.isfinite().all() and found_BT.isfinite().all()
    if model.curves is not None:
        curves = model.curves.curves
        one_F = ~curves.knot_FK1[:, 1].isfinite()
        assert (one_F.any() and not curves.levels[one_F].any()) or not found_BT.isnan().any()
        flat = [term for term, one in zip(NAMES, one_F, strict=True) if one]
        at = [index for index, term in enumerate(model.terms) if term.name in flat]
        assert not found_BT[:, at].any()
