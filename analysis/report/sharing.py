"""An explanation fit to leave the machine: numbers exact, people, times and trajectories generalised."""

from typing import Any, Final

from analysis.explain.explanation import FullExplanation
from analysis.explain.paths import user_name
from recap.privacy import Generalisation

_TIMES: Final = ("time", "times", "local_time", "first_time", "now_time")


def shareable(explanation: FullExplanation, rule: Generalisation | None = None) -> FullExplanation:
    """A copy in which users have other names, trajectories other numbers, and times are moved and coarse."""
    rule = rule or Generalisation()
    numbers: dict[int, int] = {}
    values = _generalise(explanation.model_dump(), rule, numbers)
    values["user"] = int(rule.pseudonym(user_name(explanation.user)).removeprefix("Walker "), 16) % 1000
    return FullExplanation.model_validate(values)


def _generalise(value: Any, rule: Generalisation, numbers: dict[int, int], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _generalise(inner, rule, numbers, str(name)) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_generalise(inner, rule, numbers, key) for inner in value]
    if key in _TIMES and isinstance(value, str):
        return rule.iso_time(value)
    if key == "days_ago" and isinstance(value, float):
        return float(int(value))
    if key == "walkers":
        return rule.pseudonym(value)
    if key == "trajectories":
        return numbers.setdefault(value, len(numbers))
    return value
