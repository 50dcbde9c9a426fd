"""The curves of `pretrained`: features, knots and values in a readable file of the package. Does not import torch."""

import hashlib
import json
import math
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self

from pydantic import Field, model_validator

from recap.config import Config
from recap.errors import CheckpointError, ConfigError
from recap.features.catalogue import describe_features
from recap.storage.cache_keys import cache_key
from recap.storage.installed import data_path
from recap.storage.json_text import read_json

if TYPE_CHECKING:
    from recap.model.curves import Curves

_MAKE: Final = "make it again with `recap experiment run pretrained`"
_DIGITS: Final = 4
"""Significant digits of every number: two more than a figure shows."""


class TrainedCity(Config):
    """A dataset whose training weeks the curves have seen."""

    name: str
    dataset_hash: str
    users: int
    places: int
    checkins: int = Field(description="Of the training weeks.")
    cases: int = Field(description="Consecutive pairs learned from.")


class PretrainedCurve(Config):
    feature: str
    group: str
    unit: str
    scale: str
    knots: list[float] = Field(min_length=1, max_length=11, description="Ends of at most ten intervals.")
    values: list[float] = Field(description="Score points at each knot.")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        rises = all(low < high for low, high in pairwise(self.knots))
        if not rises or len(self.values) != len(self.knots):
            raise ValueError(f"{self.feature} needs rising knots and as many values, has {self.knots}, {self.values}")
        return self


class PretrainedCurves(Config):
    """Content of `pretrained.json`."""

    about: str
    cities: list[TrainedCity] = Field(min_length=1)
    protocol: Literal["every_next"] = Field(description="Kind of the pairs learned from.")
    left_out: list[str]
    curves: list[PretrainedCurve]

    @classmethod
    @cache
    def packaged(cls) -> Self:
        """The package's curves, read once; raises as `load`."""
        return cls.load(data_path("recap", "pretrained.json"))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file. Raises CheckpointError: unreadable, or made of other features than this version has."""
        try:
            found = cls.parse(read_json(path))
        except (OSError, ValueError, ConfigError) as error:
            raise CheckpointError(f"{path} cannot be read ({error}); {_MAKE}") from error
        named = [{"name": x.feature, "group": x.group, "unit": x.unit, "scale": x.scale} for x in found.curves]
        if named != describe_features():
            raise CheckpointError(f"{path.name} has curves of other features than this version; {_MAKE}")
        return found

    @classmethod
    def of(cls, curves: "Curves", cities: list[TrainedCity], *, about: str, left_out: list[str]) -> Self:
        """Rounded curves; knots that become equal are one."""
        named = []
        rows = zip(describe_features(), curves.knot_FK1.tolist(), curves.levels.tolist(), strict=True)
        for described, knot_K, level_K in rows:
            points = {_rounded(k): _rounded(v) for k, v in zip(knot_K, level_K, strict=True) if math.isfinite(k)}
            feature = {"feature" if key == "name" else key: value for key, value in described.items()}
            named.append({**feature, "knots": list(points), "values": list(points.values())})
        facts = {"about": about, "left_out": left_out, "protocol": "every_next"}
        return cls.parse({**facts, "cities": [city.model_dump() for city in cities], "curves": named})

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def key(self, dataset_hash: str) -> str:
        """SHA-256 that names the model on a dataset in records and links."""
        return cache_key(self.hash, dataset_hash)

    @property
    def learned_on(self) -> str:
        """The cities in words."""
        *names, last = (city.name for city in self.cities)
        return f"{', '.join(names)} and {last}" if names else last

    def as_text(self) -> str:
        """JSON with one curve a line."""
        facts = json.dumps(self.model_dump(exclude={"curves"}), indent=1).removesuffix("\n}")
        return f'{facts},\n "curves": [\n' + ",\n".join(f"  {x.model_dump_json()}" for x in self.curves) + "\n ]\n}\n"

    def fill(self, curves: "Curves") -> None:
        """Put knots and increments into curves."""
        for row, curve in enumerate(self.curves):
            curves.fill(row, curve.knots, curve.values)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
