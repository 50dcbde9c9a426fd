"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from recap import columns as c
from recap.errors import ConfigError

ModelArgument = Annotated[
    str, Argument(metavar="MODEL", help="A checkpoint folder, or a baseline such as visit_count.")
]
DatasetArgument = Annotated[Path, Argument(help="A dataset folder.")]
DataOption = Annotated[Path, Option("--data", help="A dataset folder.")]
CheckpointArgument = Annotated[str, Argument(metavar="MODEL", help="A checkpoint folder, or pretrained.")]
CheckpointOption = Annotated[str, Option("--checkpoint", metavar="MODEL", help="A checkpoint folder, or pretrained.")]
MaybeCheckpoint = Annotated[
    str | None, Argument(metavar="[MODEL]", help="A checkpoint folder, pretrained, or a baseline's name.")
]
BaselineOption = Annotated[str | None, Option(help="A baseline instead of a checkpoint.")]
ProtocolOption = Annotated[str, Option(help="every_next, every_step, trajectory_last or user_last.")]
SplitOption = Annotated[str, Option(help="train, val or test.")]
MetricOption = Annotated[str, Option(help="hr1, hr5, hr10, hr20, ndcg20 or mrr.")]
DeviceOption = Annotated[str, Option(help="auto, cpu, cuda or cuda:N.")]
EpochsOption = Annotated[
    int | None, Option(min=1, help="Number of epochs; the curriculum's stages keep their proportions.")
]


def parse_split(name: str) -> int:
    """The number of a split.

    Raises:
        ConfigError: no such split.
    """
    if name not in c.SPLIT_NAMES:
        raise ConfigError(f"unknown split {name!r}; choose one of {', '.join(c.SPLIT_NAMES)}")
    return c.SPLIT_NAMES.index(name)
