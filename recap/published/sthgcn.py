"""STHGCN: a trajectory's check-ins become one state, which attends to earlier trajectories, own and similar ones.

Shape suffixes: B cases, J trajectories, H check-ins or neighbours, N neighbours of all cases, A heads, P POIs, T
check-ins of a table, D features.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recap.arithmetic.geodesy import EARTH_RADIUS_KM, unit_vectors
from recap.arithmetic.ragged import expand_ranges, softmax_within, sum_within
from recap.data.dataset import Dataset
from recap.features.similar_users import occurrences
from recap.history.tensors import SECONDS_PER_DAY, CaseBatch, CheckinTensors, Histories, local_weekday
from recap.published.configs import SthgcnConfig
from recap.published.network import City, PublishedNetwork, mean_within

OWN, OTHER = 0, 1
_HOUR: Final = 3600.0
_CASES_AT_ONCE: Final = 1024
_CELLS_AT_ONCE: Final = 1 << 23


@dataclass(frozen=True, eq=False)
class Packed:
    """The check-ins of some trajectories, packed. ``owner_H``: each check-in's trajectory, non-decreasing; ``last_J``:
    the row of each trajectory's last (visible) check-in.
    """

    checkins: CheckinTensors
    owner_H: Tensor
    row_H: Tensor
    last_J: Tensor

    @classmethod
    def of(cls, checkins: CheckinTensors, first_J: Tensor, last_J: Tensor, longest: int) -> "Packed":
        """From first and last rows, at most the last ``longest`` check-ins."""
        first_J = torch.maximum(first_J, last_J - longest + 1)
        return cls(checkins, *expand_ranges(first_J, last_J - first_J + 1), last_J)

    @property
    def user_J(self) -> Tensor:
        return self.checkins.user_T[self.last_J]

    def __len__(self) -> int:
        return len(self.last_J)


def prefixes_of(histories: Histories, longest: int) -> Packed:
    """Each source's trajectory up to the source."""
    first_B, _ = histories.checkins.trajectory_rows(histories.checkins.trajectory_number_T[histories.row_B])
    return Packed.of(histories.checkins, first_B, histories.row_B, longest)


def earlier_trajectories(histories: Histories, most: int) -> tuple[Tensor, Tensor]:
    """The user's latest trajectories before each source's: history and trajectory, (N,) each."""
    trajectory_number_T = histories.checkins.trajectory_number_T
    now_B = trajectory_number_T[histories.row_B]
    from_B = torch.maximum(trajectory_number_T[histories.first_B], now_B - most)
    return expand_ranges(from_B, now_B - from_B)


class SimilarTrajectories:
    """Finds training trajectories by shared places."""

    def __init__(self, city: City) -> None:
        self.checkins = train = city.train
        _, last_J = train.trajectory_rows(torch.unique(train.trajectory_number_T))
        self.user_J, self.end_J = train.user_T[last_J].numpy(), train.seconds_T[last_J].numpy()
        self.member_PJ = occurrences(
            train.poi_T.numpy(), train.trajectory_number_T.numpy(), (city.num_pois, len(last_J))
        )
        self.places_J = self.member_PJ.sum(axis=0)
        span_J = (self.end_J - self.end_J.min()).astype(np.float64)
        self.late_J = 1e-9 * span_J / max(span_J.max(), 1)
        """Of equally similar trajectories the later one is taken; places shared differ by far more."""

    def find(self, prefixes: Packed, start_B: Tensor, most: int, least: float) -> tuple[Tensor, Tensor]:
        """Others' trajectories that ended before a prefix began, most similar by the Jaccard index of places.
        ``start_B``: UTC seconds at which each prefix's trajectory began. Returns case and trajectory, (N,) each.
        """
        poi_H = prefixes.checkins.poi_T[prefixes.row_H]
        start, user = start_B.cpu().numpy(), prefixes.user_J.cpu().numpy()
        shape = (len(prefixes), self.member_PJ.shape[0])
        visited_BP = occurrences(prefixes.owner_H.cpu().numpy(), poi_H.cpu().numpy(), shape)
        size_B, step = visited_BP.sum(axis=1), max(1, _CELLS_AT_ONCE // len(self.user_J))
        pairs = []
        for begin in range(0, max(1, len(prefixes)), step):
            shared = (visited_BP[begin : begin + step] @ self.member_PJ).tocoo()
            case, trajectory = shared.row + begin, shared.col
            alike = shared.data / (size_B[case] + self.places_J[trajectory] - shared.data)
            fits = (alike >= least) & (self.end_J[trajectory] <= start[case]) & (self.user_J[trajectory] != user[case])
            case, trajectory, alike = case[fits], trajectory[fits], (alike + self.late_J[trajectory])[fits]
            order = np.lexsort((trajectory, -alike, case))
            place = np.arange(len(order)) - np.searchsorted(case[order], case[order])
            kept = order[place < most]
            pairs.append((case[kept].astype(np.int64), trajectory[kept].astype(np.int64)))
        case_N, trajectory_N = (torch.from_numpy(np.concatenate(parts)) for parts in zip(*pairs, strict=True))
        return case_N.to(start_B.device), trajectory_N.to(start_B.device)


@dataclass(frozen=True, eq=False)
class NeighbourExamples:
    """Training cases with the others' trajectories that each reads. ``other_NM``: training trajectories, padded with
    -1.
    """

    cases: CaseBatch
    other_NM: Tensor

    def __len__(self) -> int:
        return len(self.cases)

    def batch(self, index_B: Tensor) -> tuple[CaseBatch, tuple[Tensor, Tensor]]:
        """Cases, and case and trajectory of each of the others'."""
        other_BM = self.other_NM[index_B]
        case_H, place_H = (other_BM >= 0).nonzero(as_tuple=True)
        return self.cases.batch(index_B), (case_H, other_BM[case_H, place_H])


class NumberCode(nn.Module):
    """A real number of any shape (...) to (..., D): W cos(omega a + phi), omega from 1 to 10^-9."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.speed = nn.Parameter(10.0 ** (-9.0 * torch.arange(dim) / max(1, dim - 1)))
        self.phase = nn.Parameter(torch.zeros(dim))
        self.mix = nn.Linear(dim, dim, bias=False)

    def forward(self, value: Tensor) -> Tensor:
        return self.mix(torch.cos(value.to(self.speed.dtype)[..., None] * self.speed + self.phase))


class Finish(nn.Module):
    """Unit length, batch norm, leaky ReLU with a slope that is random in training, dropout."""

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.norm, self.leak, self.dropout = nn.BatchNorm1d(dim), nn.RReLU(), nn.Dropout(dropout)

    def forward(self, x_JD: Tensor) -> Tensor:
        x_JD = F.normalize(x_JD, dim=1)
        norm, alone = self.norm, self.training and len(x_JD) == 1  # one row has no spread
        if alone:
            x_JD = F.batch_norm(x_JD, norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=norm.eps)
        return self.dropout(self.leak(x_JD if alone else norm(x_JD)))


class TrajectoryReader(nn.Module):
    """Check-ins to trajectories: each head's learned seed is the query."""

    def __init__(self, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.key, self.value = (nn.Linear(dim, heads * dim, bias=False) for _ in range(2))
        self.seed_AD = nn.Parameter(torch.empty(heads, dim))
        nn.init.xavier_uniform_(self.seed_AD)
        self.norm = nn.LayerNorm(heads * dim)
        self.inner, self.outer = nn.Linear(heads * dim, max(1, 6 * dim // 5)), nn.Linear(max(1, 6 * dim // 5), dim)
        self.dropout, self.finish = nn.Dropout(dropout), Finish(dim, dropout)

    def forward(self, message_HD: Tensor, owner_H: Tensor, size: int) -> Tensor:
        """States of the trajectories, (J, D)."""
        return self.finish(self.outer(F.relu(self.inner(self.norm(self.attend(message_HD, owner_H, size))))))

    def attend(self, message_HD: Tensor, owner_H: Tensor, size: int) -> Tensor:
        """Each head's seed plus the mean of values weighted by LReLU(key . seed), (J, A D)."""
        # Keys only meet their head's seed, and values are summed: take both products first.
        key_ADD, value_ADD = (linear.weight.unflatten(0, (self.heads, -1)) for linear in (self.key, self.value))
        score_HA = F.leaky_relu(message_HD @ torch.einsum("akd,ak->da", key_ADD, self.seed_AD), 0.2)
        return (heard(score_HA, message_HD, value_ADD, owner_H, size, self.dropout) + self.seed_AD).flatten(1)


class Sthgcn(PublishedNetwork):
    """logits = W state + b; the state is that of the visible trajectory after attention to its neighbours."""

    config: SthgcnConfig
    sphere_P3: Tensor

    def __init__(self, config: SthgcnConfig, city: City) -> None:
        super().__init__(config, city)
        dim, width, heads = config.dim, 5 * config.dim, config.heads
        sizes = (city.num_users, city.num_pois, city.num_categories, 7, 24)
        self.user, self.poi, self.category, self.weekday, self.hour = (nn.Embedding(size, dim) for size in sizes)
        self.time_code, self.space_code = NumberCode(width), NumberCode(width)
        self.reader = TrajectoryReader(width, heads, config.dropout)
        self.kind = nn.Embedding(2, width)
        self.query = nn.Linear(width, heads * width)
        self.key, self.value = (nn.Linear(width, heads * width, bias=False) for _ in range(2))
        self.skip, self.merge = nn.Linear(width, heads * width), nn.Linear(heads * width, width)
        self.attention_dropout, self.finish = nn.Dropout(config.dropout), Finish(width, config.dropout)
        self.output = nn.Linear(width, city.num_pois)
        self.similar = SimilarTrajectories(city)
        self.hold(sphere_P3=torch.from_numpy(unit_vectors(*city.coordinates_P2.numpy().T)))

    def examples(self, dataset: Dataset, checkins: CheckinTensors) -> NeighbourExamples:
        cases = super().examples(dataset, checkins)
        assert isinstance(cases, CaseBatch)
        other_NM = torch.full((len(cases), self.config.other_trajectories), -1, device=checkins.device)
        for start in range(0, len(cases), _CASES_AT_ONCE):
            case_H, other_H = self.others(cases.histories().select(slice(start, start + _CASES_AT_ONCE)))
            place_H = torch.arange(len(case_H), device=case_H.device) - torch.searchsorted(case_H, case_H)
            other_NM[start + case_H, place_H] = other_H
        return NeighbourExamples(cases, other_NM)

    def others(self, histories: Histories) -> tuple[Tensor, Tensor]:
        """Case and training trajectory of neighbours of other users."""
        checkins, config = histories.checkins, self.config
        first_B, _ = checkins.trajectory_rows(checkins.trajectory_number_T[histories.row_B])
        prefixes, start_B = prefixes_of(histories, config.window), checkins.seconds_T[first_B]
        return self.similar.find(prefixes, start_B, config.other_trajectories, config.least_similarity)

    def read(self, packed: Packed) -> Tensor:
        """States of trajectories from their check-ins, (J, D)."""
        checkins, row_H, last_H = packed.checkins, packed.row_H, packed.last_J[packed.owner_H]
        poi_H, local_H = checkins.poi_T[row_H], checkins.local_seconds_T[row_H]
        checkin_HD = torch.cat(
            [
                self.user(checkins.user_T[row_H]),
                self.poi(poi_H),
                self.category(self.category_P[poi_H]),
                self.weekday(local_weekday(local_H)),
                self.hour(local_H % SECONDS_PER_DAY // 3600),
            ],
            dim=-1,
        )
        hours_H = (checkins.seconds_T[last_H] - checkins.seconds_T[row_H]) / _HOUR
        apart_H = kilometres(self.sphere_P3[poi_H], self.sphere_P3[checkins.poi_T[last_H]])
        message_HD = checkin_HD + self.time_code(hours_H) + self.space_code(apart_H)
        return self.reader(message_HD, packed.owner_H, len(packed))

    def middles(self, packed: Packed) -> tuple[Tensor, Tensor]:
        """Each trajectory's mean time, (J,), hours, and mean point, (J, 3), float64."""
        hours_H = packed.checkins.seconds_T[packed.row_H].double() / _HOUR
        points_H3 = self.sphere_P3[packed.checkins.poi_T[packed.row_H]].double()
        mean_J4 = mean_within(torch.cat([hours_H[:, None], points_H3], dim=1), packed.owner_H, len(packed))
        return mean_J4[:, 0], mean_J4[:, 1:]

    def states(self, histories: Histories, others: tuple[Tensor, Tensor]) -> Tensor:
        """The visible trajectory's state after its neighbours, (B, D)."""
        prefixes = prefixes_of(histories, self.config.window)
        state_BD, middles = self.read(prefixes), self.middles(prefixes)
        kinds = [
            (OWN, histories.checkins, earlier_trajectories(histories, self.config.own_trajectories)),
            (OTHER, self.similar.checkins, others),
        ]
        messages, cases = [], []
        for kind, checkins, (case_H, trajectory_H) in kinds:
            unique_J, which_H = torch.unique(trajectory_H, return_inverse=True)
            first_J, last_J = (
                row_J.to(case_H.device) for row_J in checkins.trajectory_rows(unique_J.to(checkins.device))
            )
            packed = Packed.of(checkins.to(case_H.device), first_J, last_J, self.config.window)
            hours_J, points_J3 = self.middles(packed)
            passed = (middles[0][case_H] - hours_J[which_H]).abs()
            apart = kilometres(middles[1][case_H], points_J3[which_H])
            message_HD = self._aside(packed)[which_H] + self.kind.weight[kind]
            messages.append(message_HD + self.time_code(passed) + self.space_code(apart))
            cases.append(case_H)
        return self.finish(self.attend(state_BD, torch.cat(messages), torch.cat(cases)))

    @torch.no_grad()
    def _aside(self, packed: Packed) -> Tensor:
        was_training = self.training
        self.eval()
        state_JD = self.read(packed)
        self.train(was_training)
        return state_JD

    def attend(self, state_BD: Tensor, message_HD: Tensor, case_H: Tensor) -> Tensor:
        """Half the own state and half the neighbours' messages, merged, (B, D)."""
        heads = (self.config.heads, state_BD.shape[1])
        # As in the reader, take both products per case.
        key_ADD, value_ADD = (linear.weight.unflatten(0, heads) for linear in (self.key, self.value))
        asked_BAD = torch.einsum("bak,akd->bad", self.query(state_BD).unflatten(1, heads), key_ADD)
        score_HA = (asked_BAD[case_H] * message_HD[:, None]).sum(-1) / heads[1] ** 0.5
        heard_BAD = heard(score_HA, message_HD, value_ADD, case_H, len(state_BD), self.attention_dropout)
        return self.merge((self.skip(state_BD) + heard_BAD.flatten(1)) / 2)

    def logits(self, histories: Histories) -> Tensor:
        return self.output(self.states(histories, self.others(histories)))

    def loss(self, batch: tuple[CaseBatch, tuple[Tensor, Tensor]]) -> Tensor:
        cases, others = batch
        logits_BP: Tensor = self.output(self.states(cases.histories(), others))
        return F.cross_entropy(logits_BP, cases.target_B)


def heard(
    score_HA: Tensor, message_HD: Tensor, value_ADD: Tensor, owner_H: Tensor, size: int, dropout: nn.Module
) -> Tensor:
    """Each owner's mean of messages, weighted by a softmax of scores, as values of each head, (size, A, D)."""
    weight_HA = dropout(softmax_within(score_HA, owner_H, size))
    pooled_JAD = sum_within(weight_HA[:, :, None] * message_HD[:, None], owner_H, size)
    return torch.einsum("jad,avd->jav", pooled_JAD, value_ADD)


def kilometres(one_H3: Tensor, other_H3: Tensor) -> Tensor:
    """Distance between points on or near the unit sphere, (H,)."""
    chord_H = torch.linalg.vector_norm(one_H3 - other_H3, dim=-1)
    return 2 * EARTH_RADIUS_KM * torch.asin((chord_H / 2).clamp(max=1))
