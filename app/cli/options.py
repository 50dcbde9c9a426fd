"""Options and parameters that several commands share, each declared once."""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from app.cli.console import JsonFlag, print_json
from recap import columns as c
from recap.errors import ConfigError

ModelArgument = Annotated[
    str, Argument(metavar="MODEL", help="A checkpoint folder, pretrained, or a baseline such as visit_count.")
]
DatasetArgument = Annotated[Path, Argument(help="A dataset folder.")]
DataOption = Annotated[Path, Option("--data", help="A dataset folder.")]
CheckpointArgument = Annotated[str, Argument(metavar="MODEL", help="A checkpoint folder, or pretrained.")]
ProtocolOption = Annotated[str, Option(help="every_next, every_step, trajectory_last or user_last.")]
SplitOption = Annotated[str, Option(help="train, val or test.")]
MetricOption = Annotated[
    str | None,
    Option("--metric", help="hr1, hr5, hr10, hr20, ndcg20 or mrr; by default a list of half a user's places at most."),
]
GivenTimeOption = Annotated[
    bool, Option("--given-time", help="Give the model the time of each case's next check-in: where is the user then?")
]
DeviceOption = Annotated[str, Option(help="auto, cpu, cuda or cuda:N.")]
EpochsOption = Annotated[
    int | None, Option(min=1, help="Number of epochs; the curriculum's stages keep their proportions.")
]
Command = Callable[..., Any]


def parse_split(name: str) -> int:
    """The number of a split; raises ConfigError if there is no such split."""
    if name not in c.SPLIT_NAMES:
        raise ConfigError(f"unknown split {name!r}; choose one of {', '.join(c.SPLIT_NAMES)}")
    return c.SPLIT_NAMES.index(name)


def takes(**groups: Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command the parameters of functions; it takes what they return. ``@takes(reading=read_options)`` puts the
    parameters of ``read_options`` in the place of ``reading``.
    """

    def decorate(command: Command) -> Command:
        own = {name: signature(function).parameters for name, function in groups.items()}

        def run(**given: Any) -> Any:
            made = {name: groups[name](**{key: given.pop(key) for key in keys}) for name, keys in own.items()}
            return command(**given, **made)

        parameters = signature(command).parameters
        every = [own.get(name, {name: parameter}) for name, parameter in parameters.items()]
        return _with_parameters(run, command, {name: one for group in every for name, one in group.items()})

    return decorate


def answers(command: Callable[..., Iterator[Any]]) -> Command:
    """Give a command ``--json``: it yields the object, and what it does after that is for people."""

    def run(*, as_json: bool, **given: Any) -> None:
        steps = command(**given)
        payload = next(steps)
        if as_json:
            print_json(payload)
        else:
            next(steps, None)

    flag = Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=JsonFlag)
    return _with_parameters(run, command, {**signature(command).parameters, "as_json": flag})


def _with_parameters(run: Command, command: Command, parameters: Mapping[str, Parameter]) -> Command:
    """The function under a command's name and sentence, with these parameters."""
    made: Any = wraps(command)(run)
    made.__signature__ = Signature([one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters.values()])
    made.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    return made
