"""The counting baselines, in float64. Ties are broken by popularity.

Shape suffixes: B cases, P POIs, C packed candidates.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.arithmetic.ragged import sum_within
from recap.baselines import AT_TIME
from recap.data.dataset import Dataset
from recap.features.catalogue import PAST, PLACES, TRANSITIONS
from recap.features.places import Places
from recap.features.visits import same_hour
from recap.history.graph import TransitionGraph
from recap.history.tensors import SECONDS_PER_DAY, Histories, local_hour_fraction, local_weekday
from recap.scores import PartTerms, Scores, Term

MARKOV_WEIGHT: Final = 6.0
"""Weight of A_sd relative to log(1 + visits) in `CountPlusMarkov`."""
AT_TIME_DAYS: Final = 90.0
AT_TIME_HOURS: Final = 0.75
AT_ANY_TIME: Final = 0.05
OTHER_DAYS: Final = 0.1
"""Of `VisitCountAtTime`: age and width of closeness, the weight of any visit, and of a close one on the other kind of
day; fixed by MRR over New York's validation weeks."""


class _Counter(PartTerms):
    """A counter of one dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self.popularity_P = torch.from_numpy(dataset.pois[c.TRAIN_CHECKINS].to_numpy(np.float64).copy())


class _GraphCounter(_Counter):
    """A counter that reads transitions."""

    def __init__(self, dataset: Dataset, graph: TransitionGraph) -> None:
        super().__init__(dataset)
        self.graph = graph


class Popularity(_Counter):
    """Training check-ins of each POI."""

    name = "popularity"
    terms = (Term("popularity", PLACES),)

    def score(self, histories: Histories) -> Scores:
        return Scores({"popularity": self.popularity_P.expand(len(histories), -1)}, tie_break_P=self.popularity_P)


class Markov(_GraphCounter):
    """Training transitions from the source, m_sd."""

    name = "markov"
    terms = (Term("markov", TRANSITIONS),)

    def score(self, histories: Histories) -> Scores:
        rows_BP = self.graph.counts[histories.source_B.numpy()].toarray().astype(np.float64)
        return Scores({"markov": torch.from_numpy(rows_BP)}, tie_break_P=self.popularity_P)


class VisitCount(_Counter):
    """The user's visits up to and including the current check-in."""

    name = "visit_count"
    terms = (Term("visits", PAST),)

    def score(self, histories: Histories) -> Scores:
        case_C, poi_C, count_C = visits_including_now(histories)
        zeros_BP = torch.zeros(len(histories), len(self.popularity_P), dtype=torch.float64)
        packed = {"visits": count_C.double()}
        return Scores({"rest": zeros_BP}, packed, case_C, poi_C, tie_break_P=self.popularity_P)


class CountPlusMarkov(_GraphCounter):
    """log(1 + visits up to and including now) + 6 A_sd."""

    name = "count_plus_markov"
    terms = (Term("markov", TRANSITIONS), Term("visits", PAST))

    def score(self, histories: Histories) -> Scores:
        rows_BP = MARKOV_WEIGHT * self.graph.adjacency[histories.source_B.numpy()].toarray()
        case_C, poi_C, count_C = visits_including_now(histories)
        packed = {"visits": torch.log1p(count_C.double())}
        return Scores({"markov": torch.from_numpy(rows_BP)}, packed, case_C, poi_C, tie_break_P=self.popularity_P)


class Nearest(_Counter):
    """Minus the distance in km to the current place; the current place comes first."""

    name = "nearest"
    terms = (Term("nearest", PLACES),)

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset)
        self.places = Places.from_dataset(dataset)

    def score(self, histories: Histories) -> Scores:
        return Scores({"nearest": -self.places.distance_km(histories.source_B)}, tie_break_P=self.popularity_P)


class VisitCountAtTime(_Counter):
    """Visits, each weighted exp(-age / `HALF_DAYS`) and by how close it is to the time given: around the clock, and of
    the same kind of day.
    """

    name = AT_TIME
    terms = (Term("visits", PAST),)
    reads_target_time = True

    def score(self, histories: Histories) -> Scores:
        checkins, (case_H, row_H) = histories.checkins, histories.past_rows()
        days_H = (histories.now_seconds_B[case_H] - checkins.seconds_T[row_H]).double() / SECONDS_PER_DAY
        hour_H = 24.0 * local_hour_fraction(histories.now_local_seconds_B)[case_H]
        close_H = same_hour(checkins.hour_T[row_H], hour_H, AT_TIME_HOURS)
        is_such_H = (checkins.weekday_T[row_H] >= 5) == (local_weekday(histories.now_local_seconds_B) >= 5)[case_H]
        weight_H = torch.exp(-days_H / AT_TIME_DAYS) * (AT_ANY_TIME + close_H * torch.where(is_such_H, 1.0, OTHER_DAYS))
        num_pois = len(self.popularity_P)
        key_C, slot_H = torch.unique(case_H * num_pois + checkins.poi_T[row_H], return_inverse=True)
        case_C = torch.div(key_C, num_pois, rounding_mode="floor")
        packed = {"visits": sum_within(weight_H, slot_H, len(key_C))}
        zeros_BP = torch.zeros(len(histories), num_pois, dtype=torch.float64)
        return Scores({"rest": zeros_BP}, packed, case_C, key_C - case_C * num_pois, tie_break_P=self.popularity_P)


def visits_including_now(histories: Histories) -> tuple[Tensor, Tensor, Tensor]:
    """History, POI and visit count of every POI in each history, packed."""
    case_C, q_C = histories.latest_visits()
    return case_C, histories.checkins.poi_T[q_C], histories.checkins.visit_number_T[q_C]
