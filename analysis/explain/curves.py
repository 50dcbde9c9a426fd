"""The learned curves of a model: points against each feature in its own unit, and where candidates' values lie."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from pydantic import Field

from analysis.explain.edited_case import EditedCase
from recap import columns as c
from recap.config import Config
from recap.device import one_thread
from recap.errors import CaseError
from recap.features.catalogue import FEATURES, Feature
from recap.features.values import FeatureValues
from recap.predictor import Predictor

DENSITY_CASES: Final = 256
"""Test cases, evenly spread, whose candidates the density counts."""
_PLACES_DRAWN: Final = 2_000
_CASES_PER_BATCH: Final = 32


class Curve(Config):
    """One learned curve: piecewise linear between its knots, flat outside; one knot means that it is 0 everywhere."""

    name: str
    group: str
    unit: str
    meaning: str
    knots: list[float] = Field(description="In the feature's own value, which the curve reads.")
    amounts: list[float] = Field(description="The knots in the feature's unit.")
    points: list[float] = Field(description="At each knot, in score points.")
    density: list[int] = Field(description="Candidates of sampled test cases between neighbouring knots.")

    @property
    def feature(self) -> Feature:
        """Its entry in the catalogue."""
        return next(feature for feature in FEATURES if feature.name == self.name)

    def at(self, value: float) -> float:
        """The points of a value."""
        return float(np.interp(value, self.knots, self.points))


@one_thread()
def learned_curves(predictor: Predictor) -> list[Curve]:
    """Every curve of a model, in the catalogue's order.

    Raises:
        CaseError: the model has none.
    """
    if predictor.model.curves is None:
        raise CaseError(f"{predictor.checkpoint.folder.name} has no curves; its revisit prior is the paper's")
    curves = predictor.model.curves.curves
    values = _candidate_values(predictor)
    found = []
    for feature, knot_K, level_K, value_N in zip(FEATURES, curves.knot_FK1, curves.levels, values, strict=True):
        knots = [knot for knot in knot_K.double().tolist() if knot != float("inf")]
        found.append(
            Curve(
                name=feature.name,
                group=feature.group,
                unit=feature.unit,
                meaning=feature.meaning,
                knots=knots,
                amounts=[feature.in_unit(knot) for knot in knots],
                points=level_K.double().tolist()[: len(knots)],
                density=np.histogram(value_N, knots)[0].tolist() if len(knots) > 1 else [],
            )
        )
    return found


def values_at(edited_case: EditedCase, pois: Sequence[int]) -> dict[str, list[float | None]]:
    """The value of each feature at some places, in order; None where a place has no such value (known or new)."""
    batch, changes = edited_case.predictor.pack([edited_case.variant])
    features = edited_case.predictor.curve_values(batch, changes).features
    value_FI, applies_FI = features.at(torch.tensor(pois, dtype=torch.int64))
    return {
        feature.name: [value if applies else None for value, applies in zip(*rows, strict=True)]
        for feature, *rows in zip(FEATURES, value_FI.tolist(), applies_FI.tolist(), strict=True)
    }


def _candidate_values(predictor: Predictor) -> list[np.ndarray]:
    """Values of every feature over the candidates of sampled test cases, those of few places without the zeros."""
    rows = predictor.cases[c.ROW].to_numpy()
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), DENSITY_CASES)).round().astype(int))]
    pieces: list[list[np.ndarray]] = [[np.zeros(0)] for _ in FEATURES]
    for some in np.split(rows, range(_CASES_PER_BATCH, len(rows), _CASES_PER_BATCH)):
        features = predictor.curve_values(predictor.batch(some.tolist())).features
        packed = [value_C[value_C != 0] for pairs in features.sparse for value_C in pairs.value_FC]
        for found, value_N in zip(pieces, [*packed, *_new_places(features, len(some))], strict=True):
            found.append(value_N.double().numpy())
    return [np.concatenate(found) for found in pieces]


def _new_places(features: FeatureValues, size: int) -> list[torch.Tensor]:
    places = torch.linspace(0, features.num_pois - 1, min(features.num_pois, _PLACES_DRAWN)).round().long()
    key_I = (torch.arange(size)[:, None] * features.num_pois + places).view(-1)
    return list(features.everywhere(key_I[~features.is_known(key_I)]))
