"""The evidence ranker: a log-linear model whose every score is an exact sum of named evidence.

Shape suffixes: B cases, P POIs, C packed candidates, N training cases, F packed features, D dense features.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypedDict

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.baselines import EVIDENCE, EVIDENCE_WITH_SESSIONS
from recap.baselines.evidence_config import FORMAT_VERSION, EvidenceRankerConfig
from recap.baselines.log_linear import RankingProblem, fit_log_linear
from recap.data.cases import latest_cases
from recap.data.dataset import Dataset, check_same_dataset
from recap.errors import CheckpointError, DataError, FormatVersionError, MissingTensorError
from recap.evidence.config import DENSE_FEATURES
from recap.evidence.features import EvidenceFeatures
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.memory import trim_heap
from recap.scores import CaseBatch, Scores
from recap.storage.tensors import load_tensors, save_tensors

_CASES_PER_BLOCK: Final = 256
_SOURCES_PER_BLOCK: Final = 32


class FitFacts(TypedDict):
    """How a fit went; the saved file keeps it."""

    cases: int
    seed: int
    loss: float
    iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class EvidenceRanker:
    """score(d) = sum of weight x feature, over a few features of every POI and more of a case's candidates.

    Attributes:
        dense_weights, packed_weights: weight by feature name, in order.
        facts: how the fit went.
    """

    config: EvidenceRankerConfig
    features: EvidenceFeatures
    dense_weights: dict[str, float]
    packed_weights: dict[str, float]
    dataset_hash: str
    facts: FitFacts

    @property
    def name(self) -> str:
        return EVIDENCE_WITH_SESSIONS if self.config.features.sessions else EVIDENCE

    @classmethod
    def fit(
        cls,
        dataset: Dataset,
        graph: TransitionGraph,
        config: EvidenceRankerConfig | None = None,
        *,
        seed: int = 0,
    ) -> "EvidenceRanker":
        """Fit by cross-entropy over the whole catalogue on training cases; the same seed gives the same weights.

        Args:
            graph: the dataset's training transitions.
            seed: draws the training cases where there are more than ``config.num_cases``.

        Raises:
            DataError: no training case.
        """
        config = EvidenceRankerConfig() if config is None else config
        features = EvidenceFeatures.from_dataset(dataset, graph, config.features)
        checkins = CheckinTensors.from_dataset(dataset)
        rows = draw_cases(dataset, config, seed)
        rows = within_budget(features, checkins, rows, config.num_candidates, seed)
        problem = build_problem(features, checkins, rows)
        fit = fit_log_linear(problem, l2=config.l2, max_iterations=config.max_iterations)
        del problem
        trim_heap()
        return cls(
            config=config,
            features=features,
            dense_weights=dict(zip(DENSE_FEATURES, fit.dense_D.tolist(), strict=True)),
            packed_weights=dict(zip(config.features.packed_features, fit.packed_F.tolist(), strict=True)),
            dataset_hash=dataset.hash,
            facts={
                "cases": len(rows),
                "seed": seed,
                "loss": fit.loss,
                "iterations": fit.iterations,
                "converged": fit.converged,
            },
        )

    def score(self, batch: CaseBatch) -> Scores:
        """Weighted evidence of every POI, float64; ties are broken by popularity."""
        evidence = self.features.of(batch)
        shape = (len(batch), self.features.others.num_pois)
        dense = {name: (weight * evidence.dense[name]).expand(shape) for name, weight in self.dense_weights.items()}
        packed = {
            name: weight * evidence.packed_CF[:, column]
            for column, (name, weight) in enumerate(self.packed_weights.items())
        }
        return Scores(dense, packed, evidence.case_C, evidence.poi_C, tie_break_P=self.features.places.popularity_P)

    def save(self, path: Path) -> None:
        """Write weights (safetensors) with configuration and dataset hash (JSON), whole or not at all.

        Raises:
            RecapError: the disk refused.
        """
        tensors = {
            "dense": torch.tensor(list(self.dense_weights.values()), dtype=torch.float64),
            "packed": torch.tensor(list(self.packed_weights.values()), dtype=torch.float64),
        }
        metadata = {
            "format_version": FORMAT_VERSION,
            "model": EVIDENCE,
            "config": self.config.model_dump(mode="json"),
            "dense_features": list(self.dense_weights),
            "packed_features": list(self.packed_weights),
            "dataset_hash": self.dataset_hash,
            "facts": self.facts,
        }
        save_tensors(tensors, path, metadata)

    @classmethod
    def load(cls, path: Path, dataset: Dataset, graph: TransitionGraph) -> "EvidenceRanker":
        """Read a saved ranker for the dataset it was fitted on.

        Raises:
            CheckpointError: not a saved evidence ranker.
            FormatVersionError: written by a newer version.
            MissingTensorError: a weight is missing or one is unknown.
            RecapError: fitted on another dataset.
        """
        tensors, metadata = load_tensors(path)
        if metadata.get("model") != EVIDENCE:
            raise CheckpointError(f"{path} holds no evidence ranker; fit it again")
        if metadata["format_version"] != FORMAT_VERSION:
            raise FormatVersionError(
                f"{path} was written in format {metadata['format_version']}, this version reads {FORMAT_VERSION}: "
                "fit it again or update recap"
            )
        check_same_dataset(metadata["dataset_hash"], dataset, str(path))
        config = EvidenceRankerConfig.parse(metadata["config"])
        expected = {"dense": DENSE_FEATURES, "packed": config.features.packed_features}
        weights: dict[str, dict[str, float]] = {}
        for part, names in expected.items():
            if part not in tensors or tensors[part].shape != (len(names),):
                raise MissingTensorError(f"{path} lacks one weight for each of the {len(names)} {part} features")
            if metadata[f"{part}_features"] != list(names):
                raise MissingTensorError(f"{path}: its {part} features are not those of this version; fit it again")
            weights[part] = dict(zip(names, tensors[part].tolist(), strict=True))
        features = EvidenceFeatures.from_dataset(dataset, graph, config.features)
        return cls(config, features, weights["dense"], weights["packed"], dataset.hash, metadata["facts"])


def draw_cases(dataset: Dataset, config: EvidenceRankerConfig, seed: int) -> Tensor:
    """Source rows of training cases, the latest share by time of the target, drawn without replacement, in table order.

    Raises:
        DataError: no training case.
    """
    rows = dataset.cases(c.TRAIN)
    if len(rows) == 0:
        raise DataError("the training split has no case to fit on")
    rows = latest_cases(dataset.checkins, rows, config.latest_share)
    if len(rows) > config.num_cases:
        rows = np.random.default_rng(seed).choice(rows, config.num_cases, replace=False)
    return torch.from_numpy(np.sort(rows))


def within_budget(
    features: EvidenceFeatures, checkins: CheckinTensors, row_N: Tensor, num_candidates: int, seed: int
) -> Tensor:
    """As many of the cases as have about ``num_candidates`` candidates, drawn at random; all where these are fewer."""
    sample = row_N[:: max(1, len(row_N) // _CASES_PER_BLOCK)]
    per_case = len(features.of(CaseBatch(checkins, sample)).case_C) / len(sample)
    allowed = max(1, int(num_candidates / max(per_case, 1.0)))
    if len(row_N) <= allowed:
        return row_N
    return torch.from_numpy(np.sort(np.random.default_rng(seed).choice(row_N.numpy(), allowed, replace=False)))


def build_problem(features: EvidenceFeatures, checkins: CheckinTensors, row_N: Tensor) -> RankingProblem:
    """Evidence of training cases and of their targets, as `fit_log_linear` wants it."""
    case, packed, dense, packed_target, dense_target = [], [], [], [], []
    for start in range(0, len(row_N), _CASES_PER_BLOCK):
        batch = CaseBatch(checkins, row_N[start : start + _CASES_PER_BLOCK])
        evidence = features.of(batch)
        shape = (len(batch), features.others.num_pois)
        every = [evidence.dense[name].expand(shape) for name in DENSE_FEATURES]
        case.append(evidence.case_C + start)
        packed.append(evidence.packed_CF)
        dense.append(torch.stack([values[evidence.case_C, evidence.poi_C] for values in every], dim=1))
        index_B, target_B = torch.arange(len(batch)), batch.target_B
        dense_target.append(torch.stack([values[index_B, target_B] for values in every], dim=1))
        hit_C = evidence.poi_C == target_B[evidence.case_C]
        target_BF = torch.zeros(len(batch), evidence.packed_CF.shape[1], dtype=torch.float64)
        packed_target.append(target_BF.index_add_(0, evidence.case_C[hit_C], packed[-1][hit_C]))
        trim_heap()
    source_S, source_N = torch.unique(checkins.poi_T[row_N], return_inverse=True)
    case_C, packed_CF, dense_CD, packed_NF, dense_ND = map(
        _emptied_into_one, (case, packed, dense, packed_target, dense_target)
    )
    dense_blocks = _dense_blocks(features, source_S)
    trim_heap()
    return RankingProblem(case_C, packed_CF, dense_CD, packed_NF, dense_ND, source_N, dense_blocks)


def _dense_blocks(features: EvidenceFeatures, source_S: Tensor) -> list[list[Tensor]]:
    """Dense features of every POI for blocks of sources, float32, each kept in one piece of memory."""
    kept = {
        name: value.float() if value.dim() == 1 else torch.empty(len(source_S), value.shape[1], dtype=torch.float32)
        for name, value in features.dense_of(source_S[:1]).items()
    }
    per_source = [name for name, value in kept.items() if value.dim() == 2]
    blocks = []
    for start in range(0, len(source_S), _SOURCES_PER_BLOCK):
        block = slice(start, start + _SOURCES_PER_BLOCK)
        dense = features.dense_of(source_S[block])
        for name in per_source:
            kept[name][block] = dense[name]
        blocks.append([value[block] if name in per_source else value for name, value in kept.items()])
    return blocks


def _emptied_into_one(pieces: list[Tensor]) -> Tensor:
    """The pieces as one tensor; the list is emptied, so that both stand in memory for one of the tensors only."""
    whole = torch.cat(pieces)
    pieces.clear()
    trim_heap()
    return whole
