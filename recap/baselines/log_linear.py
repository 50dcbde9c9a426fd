"""Fitting a log-linear ranker over the whole catalogue: a convex problem, so the answer does not depend on luck.

The score of POI d in case n is w_dense . g_sd + w_packed . f_nd, where the packed features are zero outside a case's
few candidates. The dense features depend on the source alone, so the sum over the catalogue is taken once per source
and corrected at the candidates:

    Z_n = sum_d exp(w_dense . g_sd) + sum_{candidates c} exp(w_dense . g_sc) (exp(w_packed . f_nc) - 1).

Shape suffixes: N cases, S distinct sources, P POIs, C packed candidates, F packed features, D dense features.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor


@dataclass(frozen=True, eq=False)
class RankingProblem:
    """Training cases of a log-linear ranker.

    Attributes:
        case_C: case of each candidate.
        packed_CF: candidates' packed features, float64.
        dense_CD: candidates' dense features, float64.
        packed_NF: the target's packed features (zero where it is no candidate).
        dense_ND: the target's dense features.
        source_N: index into the distinct sources.
        dense_blocks: the dense features of every POI for consecutive distinct sources, each D tensors that broadcast
            to (block, P); float32, the one place where memory counts.
    """

    case_C: Tensor
    packed_CF: Tensor
    dense_CD: Tensor
    packed_NF: Tensor
    dense_ND: Tensor
    source_N: Tensor
    dense_blocks: list[list[Tensor]]

    def loss_and_gradient(self, dense_D: Tensor, packed_F: Tensor) -> tuple[float, Tensor, Tensor]:
        """Mean cross-entropy over the catalogue and its gradient, summed in float64."""
        sum_S, moment_SD = self._sum_catalogue(dense_D)
        base_C = torch.exp(self.dense_CD @ dense_D)
        lifted_C = base_C * torch.exp(self.packed_CF @ packed_F)
        num_cases = len(self.source_N)
        catalogue_N = sum_S[self.source_N].index_add(0, self.case_C, lifted_C - base_C)
        target_N = self.dense_ND @ dense_D + self.packed_NF @ packed_F
        loss = float((torch.log(catalogue_N) - target_N).mean())

        inverse_N = 1.0 / (catalogue_N * num_cases)
        probability_C = lifted_C * inverse_N[self.case_C]
        change_C = (lifted_C - base_C) * inverse_N[self.case_C]
        inverse_S = torch.zeros_like(sum_S).index_add(0, self.source_N, inverse_N)
        packed_gradient_F = probability_C @ self.packed_CF - self.packed_NF.mean(0)
        dense_gradient_D = inverse_S @ moment_SD + change_C @ self.dense_CD - self.dense_ND.mean(0)
        return loss, dense_gradient_D, packed_gradient_F

    def _sum_catalogue(self, dense_D: Tensor) -> tuple[Tensor, Tensor]:
        """sum_d exp(w . g_sd) and sum_d exp(w . g_sd) g_sd of each distinct source."""
        sums, moments = [], []
        for block in self.dense_blocks:
            # In float64: weights rounded to float32 would make the loss a staircase that stops the line search.
            features = [feature.double() for feature in block]
            exp_SP = torch.exp(sum(weight * feature for weight, feature in zip(dense_D, features, strict=True)))
            sums.append(exp_SP.sum(1))
            moments.append(torch.stack([(exp_SP * feature).sum(1) for feature in features], dim=1))
        return torch.cat(sums), torch.cat(moments)


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights of a fitted ranker, float64.

    Attributes:
        loss: mean cross-entropy at the solution, in nats, without the penalty.
        iterations: L-BFGS iterations used.
        converged: whether the gradient became small enough before the iterations ran out.
    """

    dense_D: Tensor
    packed_F: Tensor
    loss: float
    iterations: int
    converged: bool


def fit_log_linear(problem: RankingProblem, *, l2: float, max_iterations: int) -> Fit:
    """Minimise cross-entropy plus ``l2 / 2`` times the squared weights per standard deviation of their feature."""
    scale = feature_scales(problem)
    num_dense = problem.dense_CD.shape[1]

    def objective(standard: np.ndarray) -> tuple[float, np.ndarray]:
        weight = torch.from_numpy(standard / scale)
        loss, dense_D, packed_F = problem.loss_and_gradient(weight[:num_dense], weight[num_dense:])
        gradient = torch.cat([dense_D, packed_F]).numpy() / scale
        return loss + 0.5 * l2 * float(standard @ standard), gradient + l2 * standard

    start = np.zeros(len(scale))
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iterations, "maxfun": 2 * max_iterations, "ftol": 1e-9, "gtol": 1e-5},
    )
    weight = torch.from_numpy(found.x / scale)
    loss, _, _ = problem.loss_and_gradient(weight[:num_dense], weight[num_dense:])
    return Fit(weight[:num_dense], weight[num_dense:], loss, int(found.nit), bool(found.success))


def feature_scales(problem: RankingProblem) -> np.ndarray:
    """Standard deviation of each feature over the candidates; 1 where it never varies."""
    deviation = torch.cat([problem.dense_CD.std(0), problem.packed_CF.std(0)]).nan_to_num().numpy()
    return np.where(deviation > 1e-6, deviation, 1.0)
