"""Small rankers over the cached cases of `tries_cases.py`: what an idea adds to evidence_sessions' score.

score(d) = evidence_sessions(d) + change(x_d, z), with x_d a candidate's features and z what is known of the step; the
places that are no candidates keep their score. Fitted by cross-entropy over the whole catalogue.

Shape suffixes: N cases, C candidates, F features, Z context values.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.tries_cases import TryCases
from benchmarks.tries_pointer import FEATURES, Pointer


@dataclass(eq=False)
class Arrays:
    """Chosen features and context of cases, standardised, with what the loss needs."""

    x_CF: Tensor
    z_NZ: Tensor
    base_C: Tensor
    case_C: Tensor
    poi_C: Tensor
    start_N1: Tensor
    at_target_N: Tensor
    base_target_N: Tensor
    rest_lse_N: Tensor
    suffix: "Suffix | None" = None
    pointer: Pointer | None = None
    own_next_C: Tensor | None = None
    known_C: Tensor | None = None


@dataclass(eq=False)
class Part:
    """Some cases of `Arrays`, one after the other."""

    data: Arrays
    first: int
    last: int

    def __post_init__(self) -> None:
        self.low, self.high = int(self.data.start_N1[self.first]), int(self.data.start_N1[self.last])
        self.cases, self.candidates = slice(self.first, self.last), slice(self.low, self.high)
        self.x_CF, self.z_NZ = self.data.x_CF[self.candidates], self.data.z_NZ[self.cases]
        self.case_C, self.poi_C = self.data.case_C[self.candidates] - self.first, self.data.poi_C[self.candidates]


@dataclass(eq=False)
class Suffix:
    """The last check-ins of each case, oldest first, for rankers that read the sequence."""

    poi_NK: Tensor
    category_NK: Tensor
    time_NKT: Tensor
    num_pois: int
    num_categories: int


@dataclass(eq=False)
class Scale:
    """Standard deviations of the features; mean and deviation of the context."""

    deviation_F: np.ndarray
    mean_Z: np.ndarray
    deviation_Z: np.ndarray


def matrix(cases: TryCases, names: list[str], context: list[str], scale: Scale | None = None) -> tuple[Arrays, Scale]:
    """Named features; ``a*b`` is a product of two."""

    def values(name: str) -> np.ndarray:
        found = np.ones(len(cases.case_C), np.float32)
        for factor in name.split("*"):
            found = found * cases.features[factor]
        return found

    x_CF = np.empty((len(cases.case_C), len(names)), np.float32)
    for column, name in enumerate(names):
        x_CF[:, column] = values(name)
    z_NZ = (
        np.stack([cases.context[name] for name in context], 1)
        if context
        else np.zeros((len(cases.row_N), 0), np.float32)
    )
    if scale is None:
        deviation = x_CF.std(0)
        scale = Scale(
            np.where(deviation > 1e-6, deviation, 1.0), z_NZ.mean(0), np.where(z_NZ.std(0) > 1e-6, z_NZ.std(0), 1.0)
        )
    x_CF /= scale.deviation_F
    z_NZ = (z_NZ - scale.mean_Z) / scale.deviation_Z
    start = np.searchsorted(cases.case_C, np.arange(len(cases.row_N) + 1))
    return (
        Arrays(
            torch.from_numpy(x_CF),
            torch.from_numpy(z_NZ.astype(np.float32)),
            torch.from_numpy(cases.base_C),
            torch.from_numpy(cases.case_C),
            torch.from_numpy(cases.poi_C),
            torch.from_numpy(start),
            torch.from_numpy(cases.at_target_N),
            torch.from_numpy(cases.base_target_N),
            torch.from_numpy(cases.rest_lse_N),
        ),
        scale,
    )


class Sequence(nn.Module):
    """A state of the last check-ins: embeddings of place and category with the times between, through a GRU."""

    def __init__(self, suffix: Suffix, width: int = 64) -> None:
        super().__init__()
        self.poi = nn.Embedding(suffix.num_pois, 32)
        self.category = nn.Embedding(suffix.num_categories, 16)
        self.dropout = nn.Dropout(0.4)
        self.encoder = nn.GRU(48 + suffix.time_NKT.shape[2], width, batch_first=True)

    def forward(self, suffix: Suffix, cases: slice) -> Tensor:
        token = torch.cat([self.poi(suffix.poi_NK[cases]), self.category(suffix.category_NK[cases])], 2)
        token = torch.cat([self.dropout(token), suffix.time_NKT[cases]], 2)
        return self.dropout(self.encoder(token)[1][0])


def _silence(network: nn.Sequential, *, bias: bool = True) -> None:
    """Let a network begin by saying nothing."""
    last = network[len(network) - 1]
    assert isinstance(last, nn.Linear)
    nn.init.zeros_(last.weight)
    if bias:
        nn.init.zeros_(last.bias)


class Change(nn.Module):
    """What is added to the score of each candidate: linear, with weights that depend on the step, or any function."""

    def __init__(
        self,
        kind: str,
        num_features: int,
        num_context: int,
        hidden: int = 32,
        dropout: float = 0.1,
        suffix: Suffix | None = None,
    ) -> None:
        super().__init__()
        self.kind = kind
        self.weight = nn.Parameter(torch.zeros(num_features))
        if "gate" in kind:
            self.gate = nn.Parameter(torch.zeros(num_context, num_features))
        if "deepgate" in kind:
            self.deep = nn.Sequential(
                nn.Linear(num_context, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, num_features)
            )
            _silence(self.deep)
        if "seq" in kind:
            assert suffix is not None
            self.sequence = Sequence(suffix)
            self.read = nn.Linear(64, num_features)
            nn.init.zeros_(self.read.weight)
            nn.init.zeros_(self.read.bias)
            self.table = nn.Embedding(suffix.num_pois, 64)
            nn.init.zeros_(self.table.weight)
        if "cosine" in kind:
            nn.init.normal_(self.table.weight)
            self.temperature = nn.Parameter(torch.zeros(()))
        if "ownnext" in kind:
            assert suffix is not None
            self.own_next = nn.Embedding(suffix.num_pois, 64)
            nn.init.normal_(self.own_next.weight, std=0.1)
        if "pointer" in kind:
            self.points = nn.Sequential(nn.Linear(FEATURES + num_context, hidden), nn.GELU(), nn.Linear(hidden, 1))
            self.pointing = nn.Parameter(torch.zeros(()))
        if "mixture" in kind:
            read = num_context + (64 if "seq" in kind else 0)
            self.repeats = nn.Sequential(nn.Linear(read, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, 1))
        if "mlp" in kind:
            self.mlp = nn.Sequential(
                nn.Linear(num_features + num_context, hidden),
                nn.GELU(),
                nn.Dropout(dropout),
                nn.Linear(hidden, hidden),
                nn.GELU(),
                nn.Linear(hidden, 1),
            )
            _silence(self.mlp, bias=False)

    def forward(self, part: Part) -> Tensor:
        x_CF, z_NZ, case_C = part.x_CF, part.z_NZ, part.case_C
        change_C = x_CF @ self.weight
        if "seq" in self.kind:
            assert part.data.suffix is not None
            state_ND = self.sequence(part.data.suffix, part.cases)
            if "ownnext" in self.kind:
                assert part.data.own_next_C is not None
                next_CD = part.data.own_next_C[part.candidates, None] * self.own_next(part.poi_C)
                state_ND = state_ND.index_add(0, case_C, next_CD)
            if "seqgate" in self.kind:
                change_C = change_C + (x_CF * self.read(state_ND)[case_C]).sum(1)
            if "core" in self.kind:
                change_C = change_C + (state_ND[case_C] * self.table(part.poi_C)).sum(1)
            if "cosine" in self.kind:
                likeness_C = nn.functional.cosine_similarity(state_ND[case_C], self.table(part.poi_C))
                change_C = change_C + self.temperature * likeness_C
        if "gate" in self.kind:
            weight_NF = z_NZ @ self.gate
            if "deepgate" in self.kind:
                weight_NF = weight_NF + self.deep(z_NZ)
            change_C = change_C + (x_CF * weight_NF[case_C]).sum(1)
        if "mlp" in self.kind:
            change_C = change_C + self.mlp(torch.cat([x_CF, z_NZ[case_C]], 1)).squeeze(1)
        if "pointer" in self.kind:
            change_C = change_C + self.pointing * torch.log1p(self._pointed(part))
        return change_C

    def mixed(self, part: Part, score_C: Tensor) -> Tensor:
        """Scores of a mixture of two distributions: over known places, and over those new to the user.

        p(d) = p(repeat) softmax over known places, or (1 - p(repeat)) softmax over new ones (RepeatNet, Ren et al.,
        AAAI 2019). The places that are no candidates are new and keep their score, so that of the others those of
        known places move: by logit p(repeat) less the log-odds that the scores themselves give to known places.
        """
        assert part.data.known_C is not None
        known_C = part.data.known_C[part.candidates]
        rest_N = part.data.rest_lse_N[part.cases]
        none_N = rest_N.new_full(rest_N.shape, -1e4)
        known_N = _log_sum_exp(score_C[known_C], part.case_C[known_C], none_N)
        new_N = _log_sum_exp(score_C[~known_C], part.case_C[~known_C], rest_N)
        read_NZ = part.z_NZ
        if "seq" in self.kind:
            assert part.data.suffix is not None
            read_NZ = torch.cat([read_NZ, self.sequence(part.data.suffix, part.cases)], 1)
        moved_N = self.repeats(read_NZ).squeeze(1) - known_N + new_N
        return torch.where(known_C, score_C + moved_N[part.case_C], score_C)

    def _pointed(self, part: Part) -> Tensor:
        """Summed strength of the past check-ins at each candidate, (C,): a pointer over single check-ins."""
        assert part.data.pointer is not None
        slot_NK, feature_NKF = part.data.pointer.slot_NK[part.cases], part.data.pointer.feature_NKF[part.cases]
        known_NKF = torch.cat([feature_NKF, part.z_NZ[:, None].expand(-1, feature_NKF.shape[1], -1)], 2)
        strength_NK = torch.exp(self.points(known_NKF).squeeze(2).clamp_max(8.0))
        there_NK = slot_NK >= 0
        empty_C = strength_NK.new_zeros(part.high - part.low)
        return empty_C.index_add(0, slot_NK[there_NK] - part.low, strength_NK[there_NK])


def losses(score_C: Tensor, data: Arrays, first: int, last: int) -> Tensor:
    """Cross-entropy of cases first..last."""
    low, high = int(data.start_N1[first]), int(data.start_N1[last])
    all_N = _log_sum_exp(score_C, data.case_C[low:high] - first, data.rest_lse_N[first:last])
    at_N = data.at_target_N[first:last] - low
    is_in = data.at_target_N[first:last] >= 0
    target_N = torch.where(is_in, score_C[at_N.clamp_min(0)], data.base_target_N[first:last])
    return all_N - target_N


def _log_sum_exp(score_C: Tensor, case_C: Tensor, rest_N: Tensor) -> Tensor:
    """Of each case's candidates and of the rest, whose own is given."""
    top_N = rest_N.clone().scatter_reduce_(0, case_C, score_C.detach(), "amax")
    return torch.log(torch.exp(rest_N - top_N).index_add(0, case_C, torch.exp(score_C - top_N[case_C]))) + top_N


def _changed_scores(model: Change, data: Arrays, first: int, last: int) -> Tensor:
    """The score of every candidate of the cases from ``first`` on, before ``last``."""
    part = Part(data, first, last)
    score_C = data.base_C[part.candidates] + model(part)
    return model.mixed(part, score_C) if "mixture" in model.kind else score_C


def fit(
    kind: str,
    data: Arrays,
    *,
    epochs: int,
    seed: int = 0,
    block: int = 256,
    rate: float = 1e-2,
    decay: float = 1e-4,
    hidden: int = 32,
    smooth: float = 0.0,
) -> Change:
    """Adam with a cosine schedule; the same seed gives the same weights."""
    torch.manual_seed(seed)
    model = Change(kind, data.x_CF.shape[1], data.z_NZ.shape[1], hidden, suffix=data.suffix)
    slow = [
        parameter for name, parameter in model.named_parameters() if name not in ("weight", "pointing", "temperature")
    ]
    quick = [parameter for name, parameter in model.named_parameters() if name in ("weight", "pointing", "temperature")]
    groups = [{"params": quick, "lr": rate, "weight_decay": 0.0}]
    if slow:
        groups.append(
            {
                "params": slow,
                "lr": rate * (0.3 if any(word in kind for word in ("mlp", "deep", "seq", "pointer")) else 0.5),
                "weight_decay": decay,
            }
        )
    optimiser = torch.optim.AdamW(groups)
    num_cases = len(data.base_target_N)
    starts = list(range(0, num_cases, block))
    steps = epochs * len(starts)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        rng.shuffle(starts)
        for first in starts:
            last = min(first + block, num_cases)
            loss = losses(_changed_scores(model, data, first, last), data, first, last).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return model.eval()


def scores(model: Change, data: Arrays, block: int = 512) -> tuple[Tensor, float]:
    """Score of every candidate, and the mean cross-entropy."""
    found, loss = [], 0.0
    num_cases = len(data.base_target_N)
    with torch.inference_mode():
        for first in range(0, num_cases, block):
            last = min(first + block, num_cases)
            score_C = _changed_scores(model, data, first, last)
            loss += float(losses(score_C, data, first, last).sum())
            found.append(score_C)
    return torch.cat(found), loss / num_cases


def better_of(cases: TryCases, score_C: np.ndarray) -> np.ndarray:
    """How many places stand above each target."""
    inside = cases.at_target_N >= 0
    target_N = np.where(inside, score_C[np.maximum(cases.at_target_N, 0)], cases.base_target_N)
    better_N = np.zeros(len(target_N), np.int64)
    np.add.at(better_N, cases.case_C, score_C > target_N[cases.case_C])
    num_pois = cases.rest_NP.shape[1]
    for index, (row, target) in enumerate(zip(cases.rest_NP, target_N, strict=True)):
        better_N[index] += num_pois - np.searchsorted(row, target, side="right")
    return better_N
