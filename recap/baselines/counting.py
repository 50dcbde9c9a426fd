"""The counting baselines, in float64. Ties are broken by popularity.

Shape suffixes: B cases, P POIs, C packed candidates.
"""

from typing import Final

import numpy as np
import torch
from torch import Tensor

from recap import columns as c
from recap.data.dataset import Dataset
from recap.features.catalogue import PAST, PLACES, TRANSITIONS
from recap.features.places import Places
from recap.history.graph import TransitionGraph
from recap.history.tensors import Histories
from recap.scores import PartTerms, Scores, Term

MARKOV_WEIGHT: Final = 6.0
"""Weight of A_sd relative to log(1 + visits) in `CountPlusMarkov`."""


class CountingBaseline(PartTerms):
    """A counter of one dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self.popularity_P = torch.from_numpy(dataset.pois[c.TRAIN_CHECKINS].to_numpy(np.float64).copy())


class _GraphCounter(CountingBaseline):
    """A counter that reads transitions."""

    def __init__(self, dataset: Dataset, graph: TransitionGraph) -> None:
        super().__init__(dataset)
        self.graph = graph


class Popularity(CountingBaseline):
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


class VisitCount(CountingBaseline):
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


class Nearest(CountingBaseline):
    """Minus the distance in km to the current place; the current place comes first."""

    name = "nearest"
    terms = (Term("nearest", PLACES),)

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset)
        self.places = Places.from_dataset(dataset)

    def score(self, histories: Histories) -> Scores:
        return Scores({"nearest": -self.places.distance_km(histories.source_B)}, tie_break_P=self.popularity_P)


def visits_including_now(histories: Histories) -> tuple[Tensor, Tensor, Tensor]:
    """History, POI and visit count of every POI in each history, packed."""
    case_C, q_C = histories.latest_visits()
    return case_C, histories.checkins.poi_T[q_C], histories.checkins.visit_number_T[q_C]
