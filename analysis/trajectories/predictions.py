"""A model's predictions for one case or moment."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from analysis.records.ablations import HOPS_ABLATIONS, feature_groups, slug
from analysis.trajectories.two_hop import two_hops_read
from analysis.workspace import Workspace
from recap import columns as c
from recap.arithmetic.geodesy import distance_km
from recap.evaluation.ranks import rank_targets, top_pois
from recap.history.moments import Moment
from recap.history.tensors import Histories
from recap.probabilities import log_probabilities
from recap.scores import Explainable, Scorer, Scores, contributions_by_group

HELD: Final = 0.9
TIME_ASKED: Final = "time_given"
_PATHS: Final = [c.POI, "middle", "count_in", "count_out", "product", "share"]


@dataclass(frozen=True, eq=False)
class CasePrediction:
    """The predictions for one case or moment.

    Attributes:
        moment: what it is for.
        case: its facts, see `Workspace.facts`.
        candidates: the best places and, if it is not among them, the truth as the last row; columns ``rank`` (mean over
            ties for the truth), ``poi, name, category, probability`` (NaN if the model has none), ``score,
            distance_km`` (from the source), ``visits`` (the user's before the source), ``revisit`` (in C_t),
            ``within_two_hops`` (in the candidate set C_2(s)), ``in_token`` (exactly two hops, (A^2)_sd > 0), ``truth``
            and ``time_given`` (local, if there is one), ``part_<group>`` (the contribution of a group of terms).
        target_rank: mean rank of the truth over ties; NaN if it is not known yet, an imported list has it not, or only
            new places are ranked and it is none.
        paths: the strongest two-hop paths to the listed places: ``poi, middle, count_in, count_out, product, share``;
            empty if the model reads none. A curve of paths reads only other users' transitions.
        num_best: number of best places in ``candidates``.
        reads: what the model reads, see `feature_groups`; empty for imported lists.
        held_by: how many places hold `HELD` of the probability; None without probabilities.
        only_new: only places where the user has not been are ranked.
    """

    moment: Moment
    case: pd.Series
    candidates: pd.DataFrame
    target_rank: float
    paths: pd.DataFrame
    num_best: int
    reads: frozenset[str] = frozenset()
    held_by: int | None = None
    only_new: bool = False

    @property
    def has_truth(self) -> bool:
        """Whether it shows the true next place."""
        return c.TARGET in self.case

    @property
    def reads_visits(self) -> bool:
        """Whether the user's past visits act on the scores."""
        return "past_visits" in self.reads

    @property
    def reads_paths(self) -> bool:
        """Whether two-hop paths act on the scores."""
        return bool(self.reads & {*HOPS_ABLATIONS})

    def without_truth(self) -> "CasePrediction":
        """The prediction for a guesser: nothing depends on the true next place, whose rank is NaN."""
        best = self.candidates.head(self.num_best).assign(truth=False)
        known = self.case[[c.CASE, c.ROW, c.USER, c.TRAJECTORY, c.SOURCE]]
        paths = self.paths[self.paths[c.POI].isin(best[c.POI])]
        return replace(self, case=known, candidates=best, target_rank=math.nan, paths=paths.reset_index(drop=True))


def predict_case(
    opened: Workspace,
    case_or_moment: int | Moment,
    *,
    top: int = 10,
    paths_per_place: int = 2,
    only_new: bool = False,
    counts_now: bool = False,
) -> CasePrediction:
    """Score all places for one test case or moment by the opened model and list the best ones.

    Args:
        only_new: rank only places where the user has not been; probabilities stay those among all places.
        counts_now: the current check-in counts as a visit, as in `recap predict`.

    Raises:
        CaseError: no such case, or a model that reads the next check-in's time where it is not known yet.
        ScoreError: the model returned NaN.
        VocabularyError: the model knows only the dataset's users, and this is a new one.
    """
    moment, ranker = opened.moment(case_or_moment), opened.any_ranker
    histories = ranker.histories_at(moment)
    case = _facts(opened, moment, histories)
    target = case.get(c.TARGET)
    with torch.inference_mode():
        scores = ranked = ranker.score(histories)
        candidate_P = torch.arange(opened.dataset.num_pois) < ranker.num_candidates
        if only_new or not candidate_P.all():
            hides_BP = ~candidate_P | (histories.known_places(opened.dataset.num_pois) & only_new)
            hidden = scores.total.masked_fill(hides_BP, -torch.inf)
            ranked = Scores({"total": hidden}, tie_break_P=scores.tie_break_P)
        best, values = top_pois(ranked, top)
        best_K = best[0][torch.isfinite(values[0])].tolist()
        rank, truth = math.nan, [] if target is None else [int(target)]
        if truth and torch.isfinite(ranked.total[0, truth[0]]):
            rank = float(rank_targets(ranked.total, torch.tensor(truth), ranked.tie_break_P).mean_B[0])
        listed = list(dict.fromkeys([*best_K, *truth]))
        total_P = scores.total[0].double()
        held_by, probability = None, np.full(len(listed), np.nan)
        if ranker.temperature is not None:
            candidates_P = total_P.masked_fill(~candidate_P, -torch.inf)[None]
            probability_P = log_probabilities(candidates_P, ranker.temperature)[0].exp().numpy()
            held_by, probability = places_holding(probability_P, HELD), probability_P[listed]
        # Separately: the last digit depends on the number of places, and must not reveal the truth.
        pieces = [_parts(ranker.scorer, histories, some) for some in (best_K, listed[len(best_K) :]) if some]
    rows = slice(int(histories.first_B[0]), int(histories.row_B[0]) + counts_now)
    facts: dict[str, Any] = {"probability": probability, c.SCORE: total_P[listed].numpy()}
    if histories.next_local_seconds_B is not None:
        facts[TIME_ASKED] = pd.Timestamp(int(histories.next_local_seconds_B[0]), unit="s")
    candidates = _describe(opened, case, histories.checkins.poi_T[rows], listed, len(best_K), rank, facts)
    parts = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]} if pieces else {}
    candidates = candidates.assign(**parts)
    reads = feature_groups(opened.scorer)
    paths = _paths(opened, case, reads, listed, paths_per_place)
    return CasePrediction(moment, case, candidates, rank, paths, len(best_K), reads, held_by, only_new)


def _facts(opened: Workspace, moment: Moment, histories: Histories) -> pd.Series:
    if not moment.is_changed:
        return opened.facts(moment)
    row = histories.row_B[0]
    numbers = {c.USER: histories.user_B[0], c.TRAJECTORY: histories.checkins.trajectory_T[row]}
    facts = {name: int(number) for name, number in (numbers | {c.SOURCE: histories.source_B[0]}).items()}
    return pd.Series({c.CASE: -1, c.ROW: moment.row} | facts)


def places_holding(probability_P: np.ndarray, share: float) -> int:
    """How many of the best places it takes to hold a share of the probability.

    >>> places_holding(np.array([0.2, 0.5, 0.3]), 0.8), places_holding(np.array([1.0, 0.0]), 0.9)
    (2, 1)
    """
    held_P = np.cumsum(np.sort(probability_P)[::-1])
    return min(int(np.searchsorted(held_P, share - 1e-12)) + 1, len(held_P))


def standing_out(prediction: CasePrediction) -> list[str]:
    """For each listed place, the group of terms that is most above its mean over the best ones; no group, no list."""
    parts = c.part_columns(prediction.candidates.columns)
    if not parts:
        return []
    part_CG = prediction.candidates[list(parts.values())].to_numpy(float)
    above_CG = part_CG - part_CG[: prediction.num_best].mean(0)
    return [list(parts)[column] for column in above_CG.argmax(1)]


def _parts(scorer: Scorer, histories: Histories, pois: list[int]) -> dict[str, np.ndarray]:
    """What each group of terms adds to the score of each place, by column; empty for a published model."""
    if not hasattr(scorer, "contributions"):
        return {}
    groups = contributions_by_group(cast(Explainable, scorer), histories, torch.tensor([pois]))
    return {c.part_column(slug(name)): values[0].numpy() for name, values in groups.items()}


def recorded_prediction(opened: Workspace, records: pd.DataFrame, number: int, *, top: int = 10) -> CasePrediction:
    """Predictions for one case from records, without probabilities, parts or paths.

    Args:
        records: evaluation records of all test cases. A truth beyond its list is the last row; its rank is NaN if an
            imported list does not contain it.

    Raises:
        CaseError: no such case.
    """
    case, row = opened.case(number), records.iloc[number]
    target, in_list = int(case[c.TARGET]), bool(row.get(c.IN_LIST, True))
    rank = float(row[c.RANK]) if in_list else math.nan
    scores = dict(zip(np.asarray(row[c.TOP_POIS])[:top].tolist(), row[c.TOP_SCORES], strict=False))
    num_best = len(scores)
    scores.setdefault(target, row[c.SCORE])
    rows = slice(int(opened.visits.first_T[int(case[c.ROW])]), int(case[c.ROW]))
    facts = {"probability": np.nan, c.SCORE: np.array(list(scores.values()), dtype=np.float64)}
    candidates = _describe(opened, case, opened.visits.poi_T[rows], list(scores), num_best, rank, facts)
    return CasePrediction(opened.moment(number), case, candidates, rank, pd.DataFrame(columns=_PATHS), num_best)


def _describe(
    opened: Workspace,
    case: pd.Series,
    visited: np.ndarray | Tensor,
    listed: list[int],
    num_best: int,
    rank: float,
    facts: dict[str, Any],
) -> pd.DataFrame:
    """The listed places, see `CasePrediction.candidates`, without parts.

    Args:
        visited: the place of each of the user's visits.
        rank: of the truth beyond the best places.
        facts: further columns.
    """
    poi_C, source = np.array(listed, dtype=np.int64), int(case[c.SOURCE])
    sources, axes = np.full_like(poi_C, source), (opened.latitude, opened.longitude)
    visits_C = np.bincount(visited, minlength=opened.dataset.num_pois)[poi_C]
    in_token_C = opened.graph.two_step_probability(sources, poi_C) > 0
    return pd.DataFrame(
        {
            c.RANK: [*np.arange(1.0, num_best + 1), *[rank] * (len(listed) - num_best)],
            c.POI: poi_C,
            "name": [opened.labels[poi] for poi in listed],
            c.CATEGORY: opened.dataset.pois[c.CATEGORY].to_numpy()[poi_C],
            **facts,
            "distance_km": distance_km(*(degrees[source] for degrees in axes), *(degrees[poi_C] for degrees in axes)),
            "visits": visits_C,
            "revisit": visits_C > 0,
            c.WITHIN_TWO_HOPS: (opened.graph.count(sources, poi_C) > 0) | in_token_C,
            "in_token": in_token_C,
            "truth": poi_C == case.get(c.TARGET, -1),
        }
    )


def _paths(opened: Workspace, case: pd.Series, reads: Collection[str], pois: list[int], limit: int) -> pd.DataFrame:
    """The strongest two-hop paths to each place."""
    hops = next((name for name in HOPS_ABLATIONS if name in reads), None)
    if hops is None or not limit:
        return pd.DataFrame(columns=_PATHS)
    paths_to = two_hops_read(opened, case, pois, hops)
    listed = [paths.head(limit).assign(**{c.POI: poi}) for poi, paths in zip(pois, paths_to, strict=True)]
    return pd.concat(listed, ignore_index=True)[_PATHS]
