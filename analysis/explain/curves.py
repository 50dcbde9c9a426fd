"""The curves that a revisit prior learned, and the spread of candidates' values.

The paper's prior has one curve for each of its three terms (Eq. 9).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from pydantic import Field

from analysis.explain.edited_case import EditedCase
from analysis.records.kept_seeds import replicate_folders, replicates_folder
from recap import columns as c
from recap.asking.predictor import Predictor
from recap.checkpoint import Checkpoint
from recap.config import Config
from recap.errors import CaseError
from recap.features.catalogue import PAST, Feature, FeatureSet, Scale, feature_set
from recap.features.values import FeatureValues
from recap.history.tensors import Histories, RevisitCandidates, find_revisit_candidates
from recap.machine.device import one_thread
from recap.model.curves import KNOTS, STEPS
from recap.model.revisit_prior import PRIOR_TERMS, RevisitPrior
from recap.pretrained.checkpoint import PretrainedCheckpoint
from recap.storage.tensors import load_tensors

DENSITY_CASES: Final = 256
"""Evenly spaced test cases whose candidates the density counts."""
MAIN_CURVES: Final = 8
GATE_BINS: Final = 20
"""Equal parts of the gate's range, -1 to 1."""
REPLICATE_CURVES: Final = "*.curves.safetensors"
"""In a bundle's folder of seed replicates: knots and increments of each, without other weights."""
_PLACES_DRAWN: Final = 2_000
_CASES_PER_BATCH: Final = 32
_WHOLE_KNOTS: Final = 6
_EVEN_KNOTS: Final = 20
_PRIOR_FEATURES: Final = (
    Feature("count", PAST, "visits", "visits before"),
    Feature("recency", PAST, "check-ins", "check-ins since the last visit"),
    Feature("window", PAST, "yes", "among the latest check-ins", "linear"),
)
"""What each of `PRIOR_TERMS` reads."""


class Curve(Config):
    """One learned curve: piecewise linear between its knots, flat outside; with one knot it is 0 everywhere."""

    name: str
    group: str
    unit: str
    scale: Scale = Field(description="How the value is computed from the amount in the unit.")
    meaning: str
    knots: list[float] = Field(description="In the feature's own value, which the curve reads.")
    amounts: list[float] = Field(description="The knots in the feature's unit.")
    points: list[float] = Field(description="At each knot, in score points.")
    density: list[int] = Field(description="Candidates of sampled test cases between neighbouring knots.")

    @classmethod
    def of(cls, feature: Feature, knots: list[float], points: list[float], value_N: np.ndarray) -> "Curve":
        return cls(
            name=feature.name,
            group=feature.group,
            unit=feature.unit,
            scale=feature.scale,
            meaning=feature.meaning,
            knots=knots,
            amounts=[feature.in_unit(knot) for knot in knots],
            points=points,
            density=np.histogram(value_N, knots)[0].tolist() if len(knots) > 1 else [],
        )

    @property
    def feature(self) -> Feature:
        return Feature(self.name, PAST, self.unit, self.meaning, self.scale)

    def at(self, value: float) -> float:
        return float(np.interp(value, self.knots, self.points))


class Learned(Config):
    curves: list[Curve]
    others: list[list[Curve]] = Field(description="The same curves in other seeds, where these are kept.")
    learned_on: str = Field("", description="Cities of `pretrained`; empty for a model trained here.")
    gates: list[int] = Field(description="Of candidates of sampled test cases; empty without a correction.")

    def of_group(self, group: str) -> list[Curve]:
        """The curves of a group, or the widest ones if it has none."""
        own = [curve for curve in self.curves if curve.group == group]
        if own:
            return own
        widest = sorted(self.curves, key=lambda curve: min(curve.points) - max(curve.points))[:MAIN_CURVES]
        return [curve for curve in self.curves if curve in widest]


def describe_learned(predictor: Predictor) -> Learned:
    """The curves of a model, those of its other seeds, and its gates; CaseError without a revisit prior."""
    others, checkpoint = replicate_curves(predictor.checkpoint), predictor.checkpoint
    elsewhere = checkpoint.learned_on if isinstance(checkpoint, PretrainedCheckpoint) else ""
    gates = gate_counts(predictor)
    return Learned(curves=learned_curves(predictor), others=others, learned_on=elsewhere, gates=gates)


@one_thread()
def learned_curves(predictor: Predictor) -> list[Curve]:
    """Every curve of a model in its order, or those of the paper's prior; CaseError without either."""
    model = predictor.model
    if model.curves is not None:
        own = model.curves.curves
        return _curves(own.of, own.knot_FK1, own.levels, _candidate_values(predictor, own.of))
    if model.prior is not None:
        values = [_prior_values(_revisited(predictor, histories)) for histories in _sampled(predictor)]
        return _prior_curves(model.prior, values)
    raise CaseError(f"{predictor.checkpoint.folder.name} has no revisit prior")


def replicate_curves(checkpoint: Checkpoint) -> list[list[Curve]]:
    """The same curves in the kept seed replicates, without densities; none for the paper's prior."""
    weights = []
    if not checkpoint.is_given_time:
        shipped = sorted(replicates_folder(checkpoint.folder).glob(REPLICATE_CURVES))
        weights = [checkpoint.with_named_curves(load_tensors(path)[0]) for path in shipped]
    for folder in replicate_folders(checkpoint.folder):
        replicate = Checkpoint.load(folder)
        if replicate.manifest.dataset_hash == checkpoint.manifest.dataset_hash and replicate.manifest.features:
            asked = replicate.given_time if checkpoint.is_given_time else replicate
            weights.append(asked.with_named_curves(load_tensors(folder / asked.curves_file)[0]))
    of = feature_set(given_time=checkpoint.is_given_time)
    nothing = [np.zeros(0)] * len(of)
    levels = (torch.nn.functional.pad(tensors[STEPS].cumsum(1), (1, 0)) for tensors in weights)
    return [_curves(of, tensors[KNOTS], level_FK1, nothing) for tensors, level_FK1 in zip(weights, levels, strict=True)]


def values_at(edited_case: EditedCase, pois: Sequence[int]) -> dict[str, list[float | None]]:
    """The value of each curve's feature at some places; None if a place has none."""
    predictor = edited_case.predictor
    histories, changes = predictor.pack([edited_case.variant])
    if predictor.model.curves is None:
        revisited = _revisited(predictor, histories)
        row_of = {poi: row for row, poi in enumerate(revisited.poi_C.tolist())}
        return {
            name: [float(value_C[row_of[poi]]) if poi in row_of else None for poi in pois]
            for name, value_C in zip(PRIOR_TERMS, _prior_values(revisited), strict=True)
        }
    features = predictor.curve_values(histories, changes).features
    value_FI, applies_FI = features.at(torch.tensor(pois, dtype=torch.int64))
    return {
        feature.name: [value if applies else None for value, applies in zip(*rows, strict=True)]
        for feature, *rows in zip(features.of.features, value_FI.tolist(), applies_FI.tolist(), strict=True)
    }


@one_thread()
def gate_counts(predictor: Predictor) -> list[int]:
    """Number of candidates of sampled test cases by gate, in `GATE_BINS` parts of [-1, 1].

    Empty if no correction acts.
    """
    total = np.zeros(GATE_BINS, dtype=np.int64)
    for histories in _sampled(predictor):
        parts = predictor.revisit_parts(histories)
        if parts is None or parts.gate_C is None:
            return []
        total += np.histogram(parts.gate_C.numpy(), GATE_BINS, (-1.0, 1.0))[0]
    return total.tolist()


def learned_numbers(predictor: Predictor) -> dict[str, float]:
    """Scalars of prior and correction, by their symbol in the paper."""
    prior, calibration = predictor.model.prior, predictor.model.calibration
    numbers: dict[str, torch.Tensor | None] = {}
    if prior is not None:
        numbers |= {"lambda_prior": prior.scale, "w_cnt": prior.count_weight, "w_rec": prior.recency_weight}
        numbers |= {"w_win": prior.window_weight, "tau_rec": prior.log_recency_steps.exp()}
    if calibration is not None:
        numbers["lambda_corr"] = calibration.scale
    return {name: float(value) for name, value in numbers.items() if value is not None}


def _curves(of: FeatureSet, knot_FK1: torch.Tensor, level_FK1: torch.Tensor, values: list[np.ndarray]) -> list[Curve]:
    curves = []
    rows = zip(of.features, knot_FK1.double().tolist(), level_FK1.double().tolist(), values, strict=True)
    for feature, knot_K, level_K, value_N in rows:
        knots = [knot for knot in knot_K if knot != float("inf")]
        curves.append(Curve.of(feature, knots, level_K[: len(knots)], value_N))
    return curves


def _prior_curves(prior: RevisitPrior, values: list[list[np.ndarray]]) -> list[Curve]:
    """The paper's terms as curves (Eq. 9)."""
    scale, tau = float(prior.scale), float(prior.log_recency_steps.exp())
    curves = []
    weights = (prior.count_weight, prior.recency_weight, prior.window_weight)
    for term, (feature, weight) in enumerate(zip(_PRIOR_FEATURES, weights, strict=True)):
        value_N = np.concatenate([piece[term] for piece in values])
        knot_K = np.array([0.0, 1.0]) if feature.scale == "linear" else _log_knots(float(value_N.max(initial=1.0)))
        level_K = np.exp(-np.expm1(knot_K) / tau) if feature.name == "recency" else knot_K
        points = scale * (0.0 if weight is None else float(weight)) * level_K
        curves.append(Curve.of(feature, knot_K.tolist(), points.tolist(), value_N))
    return curves


def _log_knots(highest: float) -> np.ndarray:
    """Knots of a count read as log(1 + n): small whole numbers, then evenly up to the highest."""
    whole = np.log1p(np.arange(_WHOLE_KNOTS))
    return np.append(whole, np.linspace(whole[-1], max(highest, whole[-1] + 1.0), _EVEN_KNOTS + 1)[1:])


def _prior_values(candidates: RevisitCandidates) -> list[np.ndarray]:
    counts = (candidates.count_C, candidates.recency_steps_C)
    logs = [np.log1p(value_C.numpy().astype(np.float64)) for value_C in counts]
    return [*logs, candidates.in_recent_window_C.numpy().astype(np.float64)]


def _revisited(predictor: Predictor, histories: Histories) -> RevisitCandidates:
    window = predictor.model.config.recent_window
    return find_revisit_candidates(histories, recent_window=window)


def _sampled(predictor: Predictor) -> list[Histories]:
    rows = predictor.cases[c.ROW].to_numpy()
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), DENSITY_CASES)).round().astype(int))]
    pieces = np.split(rows, range(_CASES_PER_BATCH, len(rows), _CASES_PER_BATCH))
    return [predictor.histories(some.tolist()) for some in pieces]


def _candidate_values(predictor: Predictor, of: FeatureSet) -> list[np.ndarray]:
    """Values of every feature over sampled candidates, without zeros of sparse features."""
    pieces: list[list[np.ndarray]] = [[np.zeros(0)] for _ in of.features]
    for histories in _sampled(predictor):
        features = predictor.curve_values(histories).features
        packed = [value_C[value_C != 0] for pairs in features.sparse for value_C in pairs.value_FC]
        for parts, value_N in zip(pieces, [*packed, *_new_places(features, len(histories))], strict=True):
            parts.append(value_N.double().numpy())
    return [np.concatenate(parts) for parts in pieces]


def _new_places(features: FeatureValues, size: int) -> list[torch.Tensor]:
    places = torch.linspace(0, features.num_pois - 1, min(features.num_pois, _PLACES_DRAWN)).round().long()
    key_I = (torch.arange(size)[:, None] * features.num_pois + places).view(-1)
    return list(features.everywhere(key_I[~features.is_known(key_I)]))
