"""Base of all typed configuration: frozen, unknown keys refused, one line for a bad value."""

from collections.abc import Container, Mapping
from typing import Any, ClassVar, Final, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from recap.errors import ConfigError
from recap.machine.printable import shortened

MOST_PROBLEMS: Final = 5
LONGEST_VALUE: Final = 200


class Config(BaseModel):
    """A frozen configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=())

    retired: ClassVar[Mapping[str, Container[Any]]] = {}
    """Fields of earlier versions, with the values that mean today's behaviour."""

    @model_validator(mode="before")
    @classmethod
    def _drop_retired(cls, values: Any) -> Any:
        """Drop retired fields; refuse values with another meaning."""
        if not isinstance(values, dict):
            return values
        for name in cls.retired.keys() & values.keys():
            if values[name] not in cls.retired[name]:
                raise ValueError(
                    f"{name} was {_short(values[name])} in an earlier version, which this one cannot do; train again"
                )
        return {name: value for name, value in values.items() if name not in cls.retired}

    @classmethod
    def parse(cls, values: dict[str, Any]) -> Self:
        """Build from plain values (JSON, command line). Raises ConfigError: an unknown key or a value out of range."""
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(describe_validation(error)) from error

    def override(self, assignments: list[str]) -> Self:
        """A validated copy with ``dotted.field=value`` assignments applied; a part that was off starts from its
        defaults. Commas separate several values (``decay_epochs=6,8,10``). Raises ConfigError: an assignment without
        ``=``, an unknown field, or a refused value.
        """
        values = self.model_dump(mode="json")
        for assignment in assignments:
            path, separator, text = assignment.partition("=")
            if not separator:
                raise ConfigError(f"--set expects field=value, got {assignment!r}")
            *parents, leaf = path.strip().split(".")
            level = values
            kind: type[Config] = type(self)
            for parent in parents:
                part = _part_of(kind, parent)
                if part is not None and level.get(parent) is None:
                    level[parent] = part().model_dump(mode="json")
                if not isinstance(level.get(parent), dict):
                    raise ConfigError(f"unknown field {path!r}; this level has: {', '.join(level)}")
                level, kind = level[parent], part or Config
            if leaf not in level:
                raise ConfigError(f"unknown field {path!r}; this level has: {', '.join(level)}")
            level[leaf] = (
                None if text.strip() == "none" else _values(text) if isinstance(level[leaf], list) else text.strip()
            )
        return self.parse(values)


def _values(text: str) -> list[str]:
    """Split the values of a field.

    >>> _values("6, 8, 10"), _values("[6]"), _values("")
    (['6', '8', '10'], ['6'], [])
    """
    return [value.strip() for value in text.strip().removeprefix("[").removesuffix("]").split(",") if value.strip()]


def _part_of(kind: type[Config], name: str) -> type[Config] | None:
    if name not in kind.model_fields:
        return None
    annotation = kind.model_fields[name].annotation
    kinds = [part for part in (annotation, *get_args(annotation)) if isinstance(part, type)]
    return next((part for part in kinds if issubclass(part, Config)), None)


def describe_validation(error: ValidationError) -> str:
    """A pydantic error in one line."""
    problems = []
    errors = error.errors()
    for item in errors[:MOST_PROBLEMS]:
        place = ".".join(str(part) for part in item["loc"]) or "configuration"
        if item["type"] == "extra_forbidden":
            problems.append(f"unknown field {_short(place)}")
        else:
            given = item.get("input")
            shown = f", got {_short(given)}" if not isinstance(given, dict) else ""
            problems.append(f"{place}: {item['msg'].removeprefix('Value error, ')}{shown}")
    if len(errors) > MOST_PROBLEMS:
        problems.append(f"and {len(errors) - MOST_PROBLEMS:,} more")
    return "; ".join(problems)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a very long number"
    return shortened(text, LONGEST_VALUE)
