"""Named configurations."""

from collections.abc import Sequence
from typing import Any, Final

from recap.errors import ConfigError
from recap.model.config import ModelConfig, PriorConfig
from recap.published.configs import PUBLISHED, RECAP, TIME_GIVEN, VALUES, published_config, read_published
from recap.training_config import AnyTraining, Curriculum, OptimiserConfig, TrainConfig

DEFAULT_PRESET: Final = "recap"
_TITLES: Final = {"recap": "RECAP", "paper": "RECAP (paper)", "feature_curves": "Feature curves"}
RECAP_PRESETS: Final = tuple(_TITLES)


def paper() -> TrainConfig:
    """The paper's values (App. B.3) for NYC and CA; TKY has ``curriculum.correction_epoch`` and ``warm_epoch`` 100.

    The last case of each validation trajectory chooses the kept epoch.
    """
    return TrainConfig(preset="paper", select_on="trajectory_last")


def recap() -> TrainConfig:
    """RECAP from the pretrained curves, for the next check-in, whenever it comes; chosen on validation cases.

    The core scores places new to the user.
    """
    return TrainConfig(
        preset="recap",
        train_on="every_next",
        select_on="every_next",
        epochs=4,
        batch_size=256,
        latest_share=0.4,
        validate_every=4,
        given_time=True,
        model=ModelConfig(
            poi_dim=32,
            category_dim=16,
            hidden_dim=64,
            num_layers=1,
            feedforward_dim=128,
            graph_dim=64,
            calibration_dim=64,
            embedding_dropout=0.5,
            output_dropout=0.6,
            core_scope="unvisited",
            use_correction=False,
            prior=PriorConfig(kind="curves", start="pretrained"),
        ),
        curriculum=Curriculum(
            graph_epoch=1,
            graph_ramp_epochs=2,
            prior_epoch=1,
            correction_epoch=2,
            warm_epoch=2,
            warm_ramp_epochs=3,
            warm_weight=0.1,
            backbone_lr_scale=1.0,
        ),
        optimiser=OptimiserConfig(
            learning_rate=1e-3, weight_decay=3e-2, prior_learning_rate=1e-2, curve_smoothing=1e-2, schedule="cosine"
        ),
    )


def feature_curves() -> TrainConfig:
    """The curves of `recap` alone, from zero and inside trajectories: no core, no graph token, no holdout loss."""
    config = recap()
    prior = PriorConfig(kind="curves")
    model = {"core_scope": "nowhere", "use_graph": False, "use_correction": False, "prior": prior}
    return config.model_copy(
        update={
            "preset": "feature_curves",
            "train_on": "cases",
            "select_on": "every_step",
            "model": config.model.model_copy(update=model),
            "curriculum": config.curriculum.model_copy(update={"warm_weight": 0.0}),
            "optimiser": config.optimiser.model_copy(update={"prior_learning_rate": 5e-2}),
        }
    )


def train_preset(name: str) -> TrainConfig:
    """RECAP's training configuration by name. Raises ConfigError: unknown name."""
    for preset in (recap, paper, feature_curves):
        if preset.__name__ == name:
            return preset()
    raise ConfigError(
        f"unknown preset {name!r}; choose one of {', '.join(RECAP_PRESETS)}, "
        f"or a published model: {', '.join(PUBLISHED)}"
    )


def training_preset(
    name: str, *, epochs: int | None = None, seed: int | None = None, changes: Sequence[str] = ()
) -> AnyTraining:
    """A training by RECAP's preset or a published model's name, with another length, whose stages keep their share, and
    ``field=value`` changes. Raises ConfigError: an unknown name or field, or a refused value.
    """
    config = published_config(name) if name in PUBLISHED else train_preset(name)
    config = config if epochs is None else config.with_epochs(epochs)
    return config.override([*([] if seed is None else [f"seed={seed}"]), *changes])


def preset_title(name: str) -> str:
    """The name of the model that a preset trains; unknown presets keep their name.

    >>> preset_title("paper"), preset_title("lotnext")
    ('RECAP (paper)', 'LoTNext')
    """
    return VALUES[name]["title"] if name in PUBLISHED else _TITLES.get(name, name)


def with_time_given(label: str) -> str:
    """The label of the same model, asked where at a given time.

    >>> with_time_given("RECAP")
    'RECAP, time given'
    """
    return f"{label}, {TIME_GIVEN}"


def checkpoint_label(model: str, train: Any) -> str:
    """What a checkpoint is called: RECAP by its preset, a published model by its title and options.

    Args:
        train: the stored configuration, which another version may have written.

    >>> checkpoint_label("recap", {"preset": "feature_curves"}), checkpoint_label("recap", {"preset": "quick"})
    ('Feature curves', 'RECAP')
    """
    if model != RECAP:
        try:
            return read_published(train).label
        except (KeyError, TypeError, ConfigError):
            return "another model"
    preset = train.get("preset") if isinstance(train, dict) else None
    return _TITLES.get(str(preset), _TITLES[DEFAULT_PRESET])
