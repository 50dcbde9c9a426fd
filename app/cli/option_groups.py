"""Several command-line options as one typed parameter of a command.

A group is a frozen dataclass whose fields are annotated as typer options; a command that takes one parameter of the
group's type has all of its options::

    @commands.command()
    @with_option_groups
    def prepare(path: Annotated[Path, typer.Argument()], protocol: ProtocolOptions) -> None: ...
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace every parameter that is a dataclass by one option per field, for typer."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and dataclasses.is_dataclass(hint)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name]))
            continue
        fields = get_type_hints(groups[name], include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=fields[field.name]
            )
            for field in dataclasses.fields(groups[name])
        ]

    @functools.wraps(command)
    def spelled(**values: Any) -> None:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        command(**values, **made)

    # Options without a default would be refused after those with one; typer passes everything by name.
    ordered = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    spelled.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]  # what typer reads
    spelled.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered} | {"return": None}
    return spelled
