"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from recap import columns as c
from recap.errors import ConfigError

ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A checkpoint folder, or a baseline such as visit_count.")
]
DatasetArgument = Annotated[Path, typer.Argument(help="A dataset folder.")]
DataOption = Annotated[Path, typer.Option("--data", help="A dataset folder.")]
CheckpointArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A checkpoint folder, or pretrained.")]
CheckpointOption = Annotated[
    str, typer.Option("--checkpoint", metavar="MODEL", help="A checkpoint folder, or pretrained.")
]
MaybeCheckpoint = Annotated[
    str | None, typer.Argument(metavar="[MODEL]", help="A checkpoint folder, pretrained, or a baseline's name.")
]
BaselineOption = Annotated[str | None, typer.Option(help="A baseline instead of a checkpoint.")]
ProtocolOption = Annotated[str, typer.Option(help="every_next, every_step, trajectory_last or user_last.")]
SplitOption = Annotated[str, typer.Option(help="train, val or test.")]
MetricOption = Annotated[str, typer.Option(help="hr1, hr5, hr10, hr20, ndcg20 or mrr.")]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")]
EpochsOption = Annotated[
    int | None, typer.Option(min=1, help="Number of epochs; the curriculum's stages keep their proportions.")
]


def parse_split(name: str) -> int:
    """The number of a split.

    Raises:
        ConfigError: no such split.
    """
    if name not in c.SPLIT_NAMES:
        raise ConfigError(f"unknown split {name!r}; choose one of {', '.join(c.SPLIT_NAMES)}")
    return c.SPLIT_NAMES.index(name)
