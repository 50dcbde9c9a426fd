"""Where a user goes next, from their check-ins as recorded or with changed stops.

Shape suffixes: C listed places, H check-ins of the history, P places.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import torch

from analysis.records.ablations import feature_groups
from analysis.trajectories.itinerary import Itinerary
from analysis.trajectories.predictions import CasePrediction, describe_places, parts_of
from analysis.trajectories.trajectory import Trajectory
from analysis.workspace import Workspace
from recap import columns as c
from recap.counterfactuals import History, pack_histories
from recap.errors import ConfigError, VocabularyError
from recap.evaluation.ranks import check_scores, rank_of, top_pois
from recap.history import Histories
from recap.model.scorer import RecapScorer
from recap.probabilities import log_probabilities
from recap.scores import Scorer, Scores

HELD: Final = 0.9
"""The second line says how many places hold this much probability."""
LIKELY: Final = 0.1
REASON: Final = "reason"
"""Column: the group of terms that makes a place stand out in the list."""


@dataclass(frozen=True, eq=False)
class NextPlace:
    """A prediction of the next place.

    Attributes:
        prediction: as for a case; ``candidates`` with a column ``reason`` (a slug, empty without terms), without paths.
        stops: see `Itinerary.stops`.
        held_by: how many places hold `HELD` of the probability; None without probabilities.
        truth: where the user went next, if the moment is as recorded and the data have it.
    """

    prediction: CasePrediction
    stops: pd.DataFrame
    held_by: int | None
    truth: int | None

    @property
    def listed(self) -> pd.DataFrame:
        return self.prediction.candidates

    @property
    def shows_truth(self) -> bool:
        return bool(self.listed["truth"].any())

    @property
    def in_sight(self) -> list[int]:
        """Places that the map always shows: the stops, the first choice, and others as likely as `LIKELY`."""
        is_likely = (self.listed["probability"] >= LIKELY) | (self.listed[c.RANK] == 1)
        return [*self.stops[c.POI], *self.listed[c.POI][is_likely]]

    @property
    def trajectory(self) -> Trajectory:
        """The stops, as the map of a case takes them."""
        case = self.prediction.case
        return Trajectory(int(case[c.USER]), int(case[c.TRAJECTORY]), 0, self.stops.assign(**{c.CASE: -1}))


def predict_next(
    opened: Workspace, itinerary: Itinerary, *, top: int = 10, only_new: bool = False, show_truth: bool = False
) -> NextPlace:
    """Score all places as the next one and list the best.

    Args:
        only_new: rank only places where the user has not been; probabilities stay those among all places.
        show_truth: list the true next place too, if it is known.

    Raises:
        ConfigError: no stop is left, or the model needs the time of the next check-in.
        VocabularyError: the model knows only the dataset's users, and this is a new one.
        ScoreError: the model returned NaN.
    """
    history = itinerary.history(opened)
    truth = _truth(opened, itinerary)
    histories = pack_histories([history])
    visits_P = np.bincount(history.poi_H, minlength=opened.dataset.num_pois)
    with torch.inference_mode():
        scores = _totals(opened, history, histories)
        allowed = scores.total
        if only_new:
            allowed = allowed.masked_fill(torch.from_numpy(visits_P > 0), -torch.inf)
        best, values = top_pois(Scores({"total": allowed}, tie_break_P=scores.tie_break_P), top)
        listed = best[0][torch.isfinite(values[0])].tolist()
        num_best = len(listed)
        ranks: list[float] = [float(rank) for rank in range(1, num_best + 1)]
        truth_rank = math.nan if truth is None else rank_of(allowed[0], truth)
        if show_truth and truth is not None and truth not in listed:
            listed.append(truth)
            ranks.append(truth_rank)
        parts = parts_of(scorer_for(opened, history.user), histories, listed) if listed else {}
        probability_P, temperature = None, opened.temperature
        if temperature is not None:
            probability_P = log_probabilities(scores.total, temperature)[0].exp().numpy()
    poi_C = np.array(listed, dtype=np.int64)
    probability_C = np.nan if probability_P is None else probability_P[poi_C]
    score_C = scores.total[0].double().numpy()[poi_C]
    candidates = describe_places(opened, history.source, visits_P, poi_C, ranks, probability_C, score_C)
    candidates = candidates.assign(
        truth=(poi_C == truth) & show_truth, **parts, **{REASON: _reasons(parts, poi_C, num_best)}
    )
    facts: dict[str, Any] = {c.CASE: -1, c.USER: history.user, c.TRAJECTORY: int(history.trajectory_H[-1])}
    stops = itinerary.stops(opened)
    facts |= {c.ROW: len(stops) - 1, c.SOURCE: history.source} | (
        {c.TARGET: truth} if show_truth and truth is not None else {}
    )
    nothing = pd.DataFrame(columns=[c.POI, "middle", "count_in", "count_out", "product", "share"])
    reads = feature_groups(opened.scorer)
    prediction = CasePrediction(pd.Series(facts), candidates, truth_rank, nothing, num_best, reads)
    return NextPlace(prediction, stops, None if probability_P is None else places_holding(probability_P, HELD), truth)


def places_holding(probability_P: np.ndarray, share: float) -> int:
    """How many of the best places it takes to hold a share of the probability.

    >>> places_holding(np.array([0.2, 0.5, 0.3]), 0.8), places_holding(np.array([1.0, 0.0]), 0.9)
    (2, 1)
    """
    held_P = np.cumsum(np.sort(probability_P)[::-1])
    return min(int(np.searchsorted(held_P, share - 1e-12)) + 1, len(held_P))


def has_truth(opened: Workspace, itinerary: Itinerary) -> bool:
    """Whether the data know where the user went next."""
    return _truth(opened, itinerary) is not None


def _truth(opened: Workspace, itinerary: Itinerary) -> int | None:
    """The place of the user's next check-in, if the moment is as recorded."""
    user_T, row = opened.checkins.user_T, itinerary.row
    if row is None or not itinerary.is_recorded or row + 1 >= len(user_T) or user_T[row + 1] != user_T[row]:
        return None
    return int(opened.checkins.poi_T[row + 1])


def scorer_for(opened: Workspace, user: int) -> Scorer:
    """The model's scorer, for a new user the one with a mean user."""
    if user < opened.dataset.num_users or not isinstance(opened.scorer, RecapScorer):
        return opened.scorer
    found: Scorer = opened._once("scorer for a new user", opened.scorer.for_new_user)
    return found


def _totals(opened: Workspace, history: History, histories: Histories) -> Scores:
    """Scores of one history."""
    if opened.scorer.reads_target_time:
        raise ConfigError(f"{opened.label} reads the time of the next check-in, which is not known yet")
    scorer = scorer_for(opened, history.user)
    try:
        scores = scorer.score(histories)
    except IndexError:
        if history.user < opened.dataset.num_users:
            raise
        raise VocabularyError(
            f"{opened.label} learned one vector for each user and does not know a new one: choose another model"
        ) from None
    check_scores(scores.total, opened.scorer.name)
    return scores


def _reasons(parts: dict[str, np.ndarray], poi_C: np.ndarray, num_best: int) -> list[str]:
    """For each listed place, the group that is most above its mean over the list."""
    if not parts:
        return [""] * len(poi_C)
    part_GC = np.stack(list(parts.values()))
    above_GC = part_GC - part_GC[:, :num_best].mean(1, keepdims=True)
    groups = [name.removeprefix(c.part_column("")) for name in parts]
    return [groups[at] for at in above_GC.argmax(0)]
