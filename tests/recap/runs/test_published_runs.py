"""A published model as a background run: the same words, the same configuration, the same folder as `recap train`."""

from pathlib import Path

from analysis.training_progress import curve_table, stage_spans
from recap.presets import train_preset
from recap.published.configs import ReplayConfig
from recap.runs.store.estimates import work_per_epoch
from recap.runs.store.spec import RunSpec
from recap.runs.store.submission import build_specs
from recap.training.metrics_file import EpochLine


def test_a_run_of_a_published_model(dataset_folder: Path) -> None:
    """Its name is the preset; length, seed and options meet as they do for RECAP."""
    (spec,) = build_specs(dataset_folder, preset="replay", epochs=50, seeds=[7], overrides=["target_time=true"])
    config = spec.train_config()
    assert isinstance(config, ReplayConfig)
    assert (config.epochs, config.seed, config.target_time) == (50, 7, True)
    assert config.decay_epochs == (10, 20, 30, 40), "the rate falls at the same shares of another length"
    assert spec.title == "REPLAY, target_time=true, seed 7"
    earlier = spec.model_dump() | {"snapshots": False, "parent": None}
    assert RunSpec.parse(earlier) == spec
    assert work_per_epoch(config, 100, 10) == 1000
    latest = train_preset("recap").override(["latest_share=0.25"])
    whole = latest.override(["latest_share=1"])
    assert work_per_epoch(latest, 100, 10) == work_per_epoch(whole, 25, 10) == work_per_epoch(whole, 100, 10) / 4
    (span,) = stage_spans(config)
    assert (span.name, span.first, span.last) == ("REPLAY", 1, 50)
    line: EpochLine = {
        "epoch": 1,
        "loss": {"main": 2.0},
        "learning_rate": {"all": 0.01},
        "steps_per_second": 1.0,
        "seconds": 3.0,
    }
    assert curve_table([line], "loss").to_dict("records") == [{"epoch": 1, "series": "main", "value": 2.0}]
