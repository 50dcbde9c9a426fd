"""Reliability: how often the first place is right, beside the share of the softmax that the model gives it.

The share is no probability unless it is right as often as it says (Guo et al., 2017). A temperature T, fitted on
validation cases alone, divides every total before the softmax; ranks do not change.

Shape suffixes: B cases, P POIs, N all cases.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import torch
from pydantic import Field
from scipy.optimize import minimize_scalar
from torch import Tensor

from analysis.records.table_cache import TableKey, kept_table
from recap import columns as c
from recap.config import Config
from recap.device import one_thread
from recap.evaluation.records import write_records
from recap.predictor import Predictor

NUM_BINS: Final = 10
"""Bins of equal width of the first place's share."""
VALIDATION_CASES: Final = 2000
"""At most so many validation cases, drawn at random, fit the temperature."""
_CASES_PER_BATCH: Final = 128
_KIND: Final = "reliability"
_FORMAT: Final = "1"
_LARGEST_LOG_TEMPERATURE: Final = 3.0


class ReliabilityBin(Config):
    """Test cases whose first place has a share in one bin."""

    temperature: float = Field(description="1: the shares as they are shown.")
    low: float
    high: float
    n: int
    share: float | None = Field(description="Mean share of the first place; None where n is 0.")
    right: float | None = Field(description="Share of the cases where the first place is the true one.")


class Reliability(Config):
    """A model's shares held against how often they are right, over test cases."""

    n: int
    temperature: float = Field(description="Fitted on validation cases.")
    bins: list[ReliabilityBin] = Field(description="Those at temperature 1, then those at the fitted one.")

    @property
    def as_shown(self) -> list[ReliabilityBin]:
        """The bins of the shares as they are shown."""
        return self.bins[:NUM_BINS]

    @property
    def ece(self) -> float:
        """Expected calibration error of the shares as they are shown."""
        return calibration_error(self.as_shown)

    @property
    def ece_fitted(self) -> float:
        """The same at the fitted temperature."""
        return calibration_error(self.bins[NUM_BINS:])


def reliability_key(dataset_hash: str, checkpoint_hash: str) -> TableKey:
    """What names the kept bins of a checkpoint."""
    return TableKey(dataset_hash, checkpoint_hash, c.SPLIT_NAMES[c.TEST], _KIND, _FORMAT)


def keep_reliability(reliability: Reliability, path: Path, key: TableKey) -> None:
    """Write the bins as a table."""
    write_records(pd.DataFrame([entry.model_dump() for entry in reliability.bins]), path, key.metadata)


def kept_reliability(dataset_hash: str, checkpoint_hash: str, *, bundle: Path | None = None) -> Reliability | None:
    """What a bundle ships or the user's cache keeps; None where it was not measured."""
    key = reliability_key(dataset_hash, checkpoint_hash)
    table = kept_table(key, pd.DataFrame, rows=2 * NUM_BINS, keep=False, bundle=bundle)
    if "temperature" not in table:
        return None
    rows = table.astype(object).where(table.notna(), None).to_dict(orient="records")
    bins = [ReliabilityBin.parse({str(name): value for name, value in row.items()}) for row in rows]
    n = sum(entry.n for entry in bins[:NUM_BINS])
    return Reliability(n=n, temperature=bins[-1].temperature, bins=bins)


def calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Expected calibration error: mean over cases of |right - share| by bin; 0 without a case."""
    total = sum(entry.n for entry in bins)
    gaps = (entry.n * abs((entry.right or 0.0) - (entry.share or 0.0)) for entry in bins)
    return sum(gaps) / total if total else 0.0


def measure_reliability(predictor: Predictor, cases: pd.DataFrame | None = None, *, seed: int = 0) -> Reliability:
    """Fit the temperature on validation cases and count over test cases.

    Args:
        cases: rows of `Predictor.cases`; all by default.
        seed: of the validation sample.
    """
    with one_thread():
        temperature = _fit_temperature(predictor, seed)
        test = predictor.cases if cases is None else cases
        shares: dict[float, list[Tensor]] = {1.0: [], temperature: []}
        right = []
        for total_BP, target_B in _totals(predictor, test):
            right.append(total_BP.argmax(1) == target_B)
            for value, found in shares.items():
                found.append(top_share(total_BP, value))
    is_right_N = torch.cat(right).numpy() if right else np.zeros(0, dtype=bool)
    bins = []
    for value in (1.0, temperature):
        share_N = torch.cat(shares[value]).numpy() if right else np.zeros(0)
        bins += reliability_bins(share_N, is_right_N, value)
    return Reliability(n=len(is_right_N), temperature=temperature, bins=bins)


def reliability_bins(share_N: np.ndarray, is_right_N: np.ndarray, temperature: float) -> list[ReliabilityBin]:
    """`NUM_BINS` bins of equal width; a share of 1 belongs to the last."""
    place_N = np.minimum((share_N * NUM_BINS).astype(np.int64), NUM_BINS - 1)
    bins = []
    for at in range(NUM_BINS):
        inside_N = place_N == at
        n = int(inside_N.sum())
        bins.append(
            ReliabilityBin(
                temperature=temperature,
                low=at / NUM_BINS,
                high=(at + 1) / NUM_BINS,
                n=n,
                share=float(share_N[inside_N].mean()) if n else None,
                right=float(is_right_N[inside_N].mean()) if n else None,
            )
        )
    return bins


def top_share(total_BP: Tensor, temperature: float) -> Tensor:
    """Softmax share of the first place in each row, (B,)."""
    best_B1 = total_BP.max(1, keepdim=True).values
    return 1.0 / torch.exp((total_BP - best_B1) / temperature).sum(1)


def _fit_temperature(predictor: Predictor, seed: int) -> float:
    """The temperature with the smallest mean negative log-likelihood of the true places; 1 without validation cases."""
    cases = predictor.cases_of(c.VAL)
    if not len(cases):
        return 1.0
    chosen = np.random.default_rng(seed).permutation(len(cases))[:VALIDATION_CASES]
    pieces = list(_totals(predictor, cases.iloc[np.sort(chosen)]))
    total_NP = torch.cat([total_BP for total_BP, _ in pieces])
    target_N = torch.cat([target_B for _, target_B in pieces])
    own_N = total_NP.gather(1, target_N[:, None])[:, 0]

    def loss(log_temperature: float) -> float:
        scale = float(np.exp(-log_temperature))
        return float((torch.logsumexp(total_NP * scale, 1) - own_N * scale).mean())

    bounds = (-_LARGEST_LOG_TEMPERATURE, _LARGEST_LOG_TEMPERATURE)
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-3}).x))


def _totals(predictor: Predictor, cases: pd.DataFrame) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(cases), _CASES_PER_BATCH):
        piece = cases.iloc[start : start + _CASES_PER_BATCH]
        total_BP = predictor.score(predictor.batch(piece[c.ROW].tolist())).total
        yield total_BP, torch.tensor(piece[c.TARGET].to_numpy(np.int64))
