"""The base of every published model, and what one may know of a dataset before training.

Shape suffixes: B windows or cases, K positions, N learned steps, P POIs, D features.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

import numpy as np
import torch
from scipy.spatial import cKDTree
from torch import Tensor, nn
from torch.nn import functional as F

from recap import columns as c
from recap.arithmetic.geodesy import EARTH_RADIUS_KM, unit_vectors
from recap.arithmetic.ragged import sum_within
from recap.data.dataset import Dataset
from recap.history.graph import TransitionGraph
from recap.history.tensors import SECONDS_PER_DAY, CaseBatch, CheckinTensors, Histories, local_weekday
from recap.published.configs import PublishedConfig, WindowedConfig
from recap.published.windows import TrainingWindows, Windows
from recap.scores import Scores

SLOTS_OF_WEEK: Final = 168


@dataclass(frozen=True, eq=False)
class City:
    """Sizes, places and training check-ins of a dataset, on the CPU.

    Attributes:
        coordinates_P2: latitude and longitude in degrees, float64.
        category_P: int64.
        visits_P: training check-ins of each POI, int64.
        train: the training check-ins.
    """

    num_users: int
    coordinates_P2: Tensor
    category_P: Tensor
    visits_P: Tensor
    train: CheckinTensors
    graph: TransitionGraph

    @classmethod
    def of(cls, dataset: Dataset, graph: TransitionGraph | None = None) -> "City":
        train = CheckinTensors.from_table(dataset.checkins[dataset.checkins[c.SPLIT] == c.TRAIN])
        return cls(
            num_users=dataset.num_users,
            coordinates_P2=torch.tensor(dataset.pois[[c.LATITUDE, c.LONGITUDE]].to_numpy(np.float64)),
            category_P=torch.tensor(dataset.pois[c.CATEGORY_INDEX].to_numpy(np.int64)),
            visits_P=torch.bincount(train.poi_T, minlength=dataset.num_pois),
            train=train,
            graph=TransitionGraph.from_dataset(dataset) if graph is None else graph,
        )

    @property
    def num_pois(self) -> int:
        return len(self.category_P)

    @property
    def num_categories(self) -> int:
        return int(self.category_P.max()) + 1


def places_near(city: City, most: int, within_km: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a POI and another near it, at most ``most`` a POI, the nearest first."""
    on_sphere = unit_vectors(*city.coordinates_P2.numpy().T)
    chord = 2 * np.sin(within_km / EARTH_RADIUS_KM / 2)
    count = min(most + 1, city.num_pois)
    _, neighbour = cKDTree(on_sphere).query(on_sphere, k=count, distance_upper_bound=chord)
    neighbour = neighbour.reshape(city.num_pois, count)
    source = np.repeat(np.arange(city.num_pois), count).reshape(neighbour.shape)
    kept = (neighbour < city.num_pois) & (neighbour != source)
    kept &= np.cumsum(kept, axis=1) <= most
    return source[kept].astype(np.int64), neighbour[kept].astype(np.int64)


class Examples(Protocol):
    """What a network trains on."""

    def __len__(self) -> int: ...

    def batch(self, index_B: Tensor) -> Any:
        """What `PublishedNetwork.loss` reads of some examples."""


class PublishedNetwork(nn.Module, ABC):
    """A network over the users and POIs of one dataset. Nothing after a history may change its scores."""

    learns_users: ClassVar[bool] = True
    """Whether it knows something of each user by number, and so no new one."""
    config: PublishedConfig
    coordinates_P2: Tensor
    category_P: Tensor

    def __init__(self, config: PublishedConfig, city: City) -> None:
        super().__init__()
        self.config = config
        self.hold(coordinates_P2=city.coordinates_P2.clone(), category_P=city.category_P)

    def hold(self, **tensors: Tensor) -> None:
        """Register buffers that are not saved with the weights."""
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor, persistent=False)

    @property
    def reads_target_time(self) -> bool:
        return self.config.options.get("target_time", False)

    def prepare(self, city: City) -> None:
        """Compute buffers from the training split before the first step."""

    def begin_epoch(self, epoch: int, *, fresh: bool) -> None:
        """Called at every epoch's start, and with ``fresh`` False when a training resumes inside it."""

    def examples(self, dataset: Dataset, checkins: CheckinTensors) -> Examples:
        """A dataset's training examples, by default its training cases."""
        return CaseBatch(checkins, torch.from_numpy(dataset.cases(c.TRAIN)).to(checkins.device))

    @abstractmethod
    def loss(self, batch: Any) -> Tensor:
        """The mean loss over some examples (`Examples.batch`), a scalar."""

    @abstractmethod
    def logits(self, histories: Histories) -> Tensor:
        """Scores of all POIs for every history, (B, P). Must not read any later row."""


class SequenceNetwork(PublishedNetwork):
    """A causal network: one pass gives the state after every check-in of a window of at most ``window`` check-ins."""

    config: WindowedConfig
    within_trajectory: bool = False

    @abstractmethod
    def states(self, windows: Windows) -> Tensor:
        """The state after each check-in, (B, K, D); later positions never change an earlier one."""

    def states_at(self, windows: Windows, wanted_BK: Tensor) -> Tensor:
        """The states after the wanted check-ins, (N, D), window by window."""
        return self.states(windows)[wanted_BK]

    @abstractmethod
    def step_logits(self, state_ND: Tensor, steps: Histories) -> Tensor:
        """Scores of all POIs, (N, P), from the states after the last check-ins of these histories."""

    def step_loss(self, state_ND: Tensor, steps: CaseBatch) -> Tensor:
        """The mean cross-entropy of learned steps."""
        histories = steps.histories(target_time=self.reads_target_time)
        return F.cross_entropy(self.step_logits(state_ND, histories), steps.target_B)

    def examples(self, dataset: Dataset, checkins: CheckinTensors) -> TrainingWindows:
        return TrainingWindows.of(dataset, checkins, self.config.window, within_trajectory=self.within_trajectory)

    def loss(self, batch: tuple[Windows, Tensor]) -> Tensor:
        windows, learned_BK = batch
        steps = CaseBatch(windows.checkins, windows.row_BK[learned_BK])
        return self.step_loss(self.states_at(windows, learned_BK), steps)

    def logits(self, histories: Histories) -> Tensor:
        windows = Windows.of_histories(histories, self.config.window, within_trajectory=self.within_trajectory)
        position_K = torch.arange(windows.row_BK.shape[1], device=histories.row_B.device)
        last_BD = self.states_at(windows, position_K == windows.length_B[:, None] - 1)
        return self.step_logits(last_BD, histories)


class PublishedScorer:
    """A trained published model as a scorer with one part, ``logits``."""

    def __init__(self, model: PublishedNetwork) -> None:
        self.model = model.eval()
        self.name, self.reads_target_time = model.config.label, model.reads_target_time

    def score(self, histories: Histories) -> Scores:
        with torch.inference_mode():
            return Scores({"logits": self.model.logits(histories.asked(given_time=self.reads_target_time))})


def slot_of_week(local_seconds: Tensor) -> Tensor:
    """The hour of the local week, 0 (Monday, midnight) to 167.

    >>> slot_of_week(torch.tensor([0, 4 * 86_400 + 3_600]))  # Thursday 1 January 1970; Monday at one
    tensor([72,  1])
    """
    return (local_seconds // 3600 + 72) % SLOTS_OF_WEEK


def slot_of_day(local_seconds: Tensor, slots: int) -> Tensor:
    """The part of the day, 0 to slots - 1 on a workday, slots to 2 slots - 1 on a weekend.

    >>> slot_of_day(torch.tensor([3_600, 2 * 86_400 + 1_800]), 48)  # Thursday at one; Saturday at half past midnight
    tensor([ 2, 49])
    """
    weekend = (local_weekday(local_seconds) >= 5).to(local_seconds.dtype)
    return local_seconds % SECONDS_PER_DAY // (SECONDS_PER_DAY // slots) + slots * weekend


def mean_within(value_ND: Tensor, owner_N: Tensor, size: int) -> Tensor:
    """Means of each owner's values, (size, D); 0 without any.

    >>> mean_within(torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 0, 1]), 2).tolist()
    [[2.0], [5.0]]
    """
    count_J = torch.bincount(owner_N, minlength=size).clamp_min(1)
    return sum_within(value_ND, owner_N, size) / count_J[:, None]


class Time2Vec(nn.Module):
    """A number of any shape (...) to (..., dim): sin(w x + b) except the last feature, w x + b (Kazemi 2019)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.line = nn.Linear(1, dim)

    def forward(self, value: Tensor) -> Tensor:
        line = self.line(value.to(self.line.weight.dtype)[..., None])
        return torch.cat([torch.sin(line[..., :-1]), line[..., -1:]], dim=-1)


_RANGE: Final = 26.0
"""RotatE's range of embeddings, 24 + 2."""


def rotate(value: Tensor, phase: Tensor, scale: int) -> Tensor:
    """(a + ib) exp(i phase pi scale / 26), with a and b the halves of ``value`` (..., 2 D); phases (..., D)."""
    angle = phase * (math.pi * scale / _RANGE)
    real, imaginary = value.chunk(2, dim=-1)
    cosine, sine = torch.cos(angle), torch.sin(angle)
    return torch.cat([real * cosine - imaginary * sine, real * sine + imaginary * cosine], dim=-1)
