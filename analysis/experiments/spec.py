"""The definition of an experiment: arms with different configurations, seeds, and the table's columns."""

import tomllib
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from analysis.experiments.names import EXPERIMENTS, SPECS
from recap.baselines import BASELINES, PRETRAINED
from recap.config import Config
from recap.data.cases import Protocol
from recap.errors import ConfigError
from recap.presets import training_preset
from recap.training_config import AnyTraining

_BASELINES: Final = (*BASELINES, PRETRAINED)
Metric = Literal["hr1", "hr20", "ndcg20", "mrr"]


class ResultColumn(Config):
    key: str = Field(description="Dotted path into a result, such as every_step.tail.hr20; see `results.measure`.")
    label: str
    digits: int = Field(4, ge=0, le=6)


ACCURACY: Final = tuple(
    ResultColumn(key=f"every_step.{group}.{metric}", label=f"{prefix}{label}")
    for group, prefix in (("all", ""), ("tail", "tail "))
    for metric, label in (("hr1", "HR@1"), ("hr20", "HR@20"), ("ndcg20", "NDCG@20"), ("mrr", "MRR"))
)
"""Columns that every experiment shares."""


class Arm(Config):
    """One row: a training configuration, a baseline, or imported predictions."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    label: str
    preset: str | None = Field(None, description="The experiment's preset where not given.")
    epochs: int | None = Field(None, ge=1, description="The experiment's length where not given.")
    changes: tuple[str, ...] = Field((), description="dotted.field=value assignments on top of the preset.")
    baseline: str | None = Field(None, description="A baseline instead of a training.")
    imported: str | None = Field(None, description="Imported predictions by name or key instead of a training.")
    given_time: bool = Field(False, description="Ask RECAP where at the time of the next check-in.")
    seeds: int | None = Field(None, ge=1, description="So many of the experiment's seeds; all where not given.")
    paper: dict[Metric, float] = Field(default_factory=dict, description="The paper's numbers over all its cases.")

    @model_validator(mode="after")
    def _trains_or_counts(self) -> "Arm":
        if self.baseline not in (None, *_BASELINES):
            raise ValueError(f"a baseline is one of {', '.join(_BASELINES)}, not {self.baseline!r}")
        if self.baseline and self.imported:
            raise ValueError("an arm is a baseline or imported, not both")
        if not self.trains and (self.preset or self.epochs or self.changes or self.seeds):
            raise ValueError("a baseline has no preset, epochs, changes or seeds; neither have imported predictions")
        return self

    @property
    def trains(self) -> bool:
        return not (self.baseline or self.imported)


class ExperimentSpec(Config):
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    title: str
    question: str
    preset: str = "recap"
    epochs: int | None = Field(None, ge=1, description="Another length than the preset's; stages keep their share.")
    changes: tuple[str, ...] = Field((), description="For every arm that trains, before its own changes.")
    seeds: tuple[int, ...] = Field((3407, 3408, 3409), min_length=1)
    protocol: Protocol = Field("every_step", description="Cases that are ranked; every_next has those of every_step.")
    columns: tuple[ResultColumn, ...] = Field((), description="Columns before those that all experiments share.")
    baselines: tuple[str, ...] = Field((), description="Baselines shown above the arms.")
    compare: tuple[tuple[str, str], ...] = Field((), description="Pairs of arms to compare with intervals over users.")
    arms: tuple[Arm, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_are_known(self) -> "ExperimentSpec":
        names = [arm.name for arm in self.rows]
        if len(set(names)) < len(names):
            raise ValueError(f"arms need different names, got {', '.join(names)}")
        unknown = [name for pair in self.compare for name in pair if name not in names]
        if unknown:
            raise ValueError(f"compare names no arm {', '.join(unknown)}")
        return self

    @property
    def rows(self) -> tuple[Arm, ...]:
        return (*(Arm(name=name, label=name, baseline=name) for name in self.baselines), *self.arms)

    def train_config(self, arm: Arm, seed: int) -> AnyTraining:
        """The complete configuration of one training; raises ConfigError, with the arm's name, if it does not fit."""
        try:
            changes = [*self.changes, *arm.changes]
            return training_preset(
                arm.preset or self.preset, epochs=arm.epochs or self.epochs, seed=seed, changes=changes
            )
        except ConfigError as error:
            raise ConfigError(f"experiment {self.name!r}, arm {arm.name!r}: {error}") from error


def load_spec(name: str) -> ExperimentSpec:
    """An experiment by name, or from a TOML file given by its path; raises ConfigError for anything else."""
    path = Path(name) if name.endswith(".toml") else SPECS / f"{name}.toml"
    if not name.endswith(".toml") and name not in EXPERIMENTS:
        raise ConfigError(f"unknown experiment {name!r}; choose one of {', '.join(EXPERIMENTS)}, or name a .toml file")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    return check_spec(values)


def check_spec(values: dict[str, Any]) -> ExperimentSpec:
    """Read a spec; raises ConfigError for unknown fields or an arm whose configuration does not fit."""
    spec = ExperimentSpec.parse(values)
    for arm in spec.arms:
        if arm.trains:
            spec.train_config(arm, spec.seeds[0])
    return spec
