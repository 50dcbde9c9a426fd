"""The curves of `pretrained`: features, knots and values in a readable file of the package. Does not import torch."""

import hashlib
import json
import math
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from pydantic import Field, model_validator

from recap.config import Config
from recap.errors import CheckpointError, ConfigError
from recap.features.catalogue import GIVEN_TIME, feature_set
from recap.storage.cache_keys import cache_key, given_time_key
from recap.storage.json_text import read_json
from recap.storage.user_folder import data_path

if TYPE_CHECKING:
    from recap.model.curves import Curves

MAKE_AGAIN: Final = "make it again with `recap experiment run pretrained`"
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
    curves: list[PretrainedCurve] = Field(description="Where next, whenever it comes.")
    given_time: list[PretrainedCurve] = Field(
        default_factory=list, description="Where at a given time; empty in files of earlier versions."
    )

    @classmethod
    @cache
    def packaged(cls) -> Self:
        """The package's curves, read once; raises as `load`."""
        return cls.load(data_path("recap", "pretrained.json"))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file. Raises CheckpointError: unreadable, or made of other features than this version has."""
        try:
            loaded = cls.parse(read_json(path))
        except (OSError, ValueError, ConfigError) as error:
            raise CheckpointError(f"{path} cannot be read ({error}); {MAKE_AGAIN}") from error
        for asked, curves in enumerate((loaded.curves, loaded.given_time)):
            named = [{"name": x.feature, "group": x.group, "unit": x.unit, "scale": x.scale} for x in curves]
            if named != feature_set(given_time=bool(asked)).described() and (curves or not asked):
                raise CheckpointError(f"{path.name} has curves of other features than this version; {MAKE_AGAIN}")
        return loaded

    @classmethod
    def of(
        cls, curves: "Curves", given_time: "Curves", cities: list[TrainedCity], *, about: str, left_out: list[str]
    ) -> Self:
        """Rounded curves of both questions; knots that become equal are one."""
        facts = {"about": about, "left_out": left_out, "protocol": "every_next"}
        named = {"curves": _named(curves), "given_time": _named(given_time)}
        return cls.parse({**facts, "cities": [city.model_dump() for city in cities], **named})

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the content."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def key(self, dataset_hash: str, *, given_time: bool = False) -> str:
        """SHA-256 that names the model on a dataset in records and links."""
        key = cache_key(self.hash, dataset_hash)
        return given_time_key(key) if given_time else key

    @property
    def learned_on(self) -> str:
        """The cities in words."""
        *names, last = (city.name for city in self.cities)
        return f"{', '.join(names)} and {last}" if names else last

    def as_text(self) -> str:
        """JSON with one curve a line."""
        sets = {"curves": self.curves, "given_time": self.given_time}
        facts = json.dumps(self.model_dump(exclude=set(sets)), indent=1).removesuffix("\n}")
        texts = (
            f' "{name}": [\n' + ",\n".join(f"  {curve.model_dump_json()}" for curve in curves) + "\n ]"
            for name, curves in sets.items()
        )
        return ",\n".join((facts, *texts)) + "\n}\n"

    def fill(self, curves: "Curves") -> None:
        """Put knots and increments into curves of either question. Raises CheckpointError: the file has none of it."""
        own = self.given_time if curves.of is GIVEN_TIME else self.curves
        if not own:
            raise CheckpointError(f"these pretrained curves cannot read a time given; {MAKE_AGAIN}")
        for row, curve in enumerate(own):
            curves.fill(row, curve.knots, curve.values)


def _named(curves: "Curves") -> list[dict[str, Any]]:
    """Curves with their features as the file stores them."""
    named = []
    rows = zip(curves.of.described(), curves.knot_FK1.tolist(), curves.levels.tolist(), strict=True)
    for described, knot_K, level_K in rows:
        points = {_rounded(k): _rounded(v) for k, v in zip(knot_K, level_K, strict=True) if math.isfinite(k)}
        feature = {"feature" if key == "name" else key: value for key, value in described.items()}
        named.append({**feature, "knots": list(points), "values": list(points.values())})
    return named


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
