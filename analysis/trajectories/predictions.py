"""What a model predicts for one case: the best places with score, probability, distance and evidence, and the truth."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from recap import columns as c
from recap.evaluation.ranks import check_scores, rank_targets, top_pois
from recap.geodesy import distance_km
from recap.scores import CaseBatch


@dataclass(frozen=True, eq=False)
class CasePrediction:
    """The predictions for one case.

    Attributes:
        case: the case's row of the case table.
        candidates: the best places and, where it is not among them, the truth as the last row; columns ``rank`` (the
            truth's is the mean over ties), ``poi, name, category, probability`` (NaN where the model has none),
            ``score, distance_km`` (from the source), ``visits`` (the user's before the source), ``revisit`` (in C_t),
            ``within_two_hops`` (in the candidate set C_2(s)), ``in_token`` (exactly two steps, (A^2)_sd > 0), ``truth``
            and ``part_<name>``.
        num_best: how many rows are the best places; a row after them is there for the truth alone.
        target_rank: mean rank of the truth over ties.
        paths: the strongest two-hop paths to the listed places: ``poi, middle, count_in, count_out, product, share``.
    """

    case: pd.Series
    candidates: pd.DataFrame
    num_best: int
    target_rank: float
    paths: pd.DataFrame

    def listed(self, *, show_truth: bool) -> pd.DataFrame:
        """The places to show: while the truth is hidden, nothing that is there because it is the truth."""
        return self.candidates if show_truth else self.candidates.iloc[: self.num_best]


def predict_case(
    opened: LoadedDataset, model: NamedScorer, number: int, *, top: int = 10, paths_per_place: int = 2
) -> CasePrediction:
    """Score one case over the whole catalogue and list the best places.

    Raises:
        CaseError: no such case.
        ScoreError: the model returned NaN.
    """
    case = opened.case(number)
    row, source, target = int(case[c.ROW]), int(case[c.SOURCE]), int(case[c.TARGET])
    batch = CaseBatch(opened.checkins, torch.tensor([row]))
    with torch.inference_mode():
        scores = model.scorer.score(batch)
        check_scores(scores.total, model.scorer.name)
        best_K = top_pois(scores, top)[0][0].tolist()
        ranks = rank_targets(scores, batch.target_B)
        rank = float(ranks.mean_B[0])
        listed = list(dict.fromkeys([*best_K, target]))
        poi_C = torch.tensor(listed)
        total_P = scores.total[0].double()
        probability_C = torch.softmax(total_P, 0)[poi_C].numpy()
        parts = {c.part_column(name): part_BP[0, poi_C].numpy() for name, part_BP in scores.parts.items()}
    first = int(opened.visits.first_T[row])
    visits_P = np.bincount(opened.visits.poi_T[first:row], minlength=opened.dataset.num_pois)
    poi = np.array(listed, dtype=np.int64)
    sources = np.full_like(poi, source)
    candidates = pd.DataFrame(
        {
            c.RANK: [float(place) for place in range(1, len(best_K) + 1)] + [rank] * (len(listed) - len(best_K)),
            c.POI: poi,
            "name": [opened.labels[p] for p in listed],
            c.CATEGORY: opened.dataset.pois[c.CATEGORY].to_numpy()[poi],
            "probability": probability_C if model.probabilistic else np.nan,
            c.SCORE: total_P[poi_C].numpy(),
            "distance_km": distance_km(
                opened.latitude[source], opened.longitude[source], opened.latitude[poi], opened.longitude[poi]
            ),
            "visits": visits_P[poi],
            "revisit": visits_P[poi] > 0,
            c.WITHIN_TWO_HOPS: opened.graph.hops_of(sources, poi, 2) > 0,
            "in_token": opened.graph.two_step_probability(sources, poi) > 0,
            "truth": poi == target,
            **parts,
        }
    )
    return CasePrediction(case, candidates, len(best_K), rank, _paths(opened, source, listed, paths_per_place))


def _paths(opened: LoadedDataset, source: int, pois: list[int], limit: int) -> pd.DataFrame:
    found = [opened.graph.two_hop_paths(source, poi).head(limit).assign(**{c.POI: poi}) for poi in pois]
    return pd.concat(found, ignore_index=True)[[c.POI, "middle", "count_in", "count_out", "product", "share"]]
