"""Where all users go next, with `recap.prediction`: one row per user, and expected next visits of each place.

Shape suffixes: U users, B users of a pass, P places.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final

import numpy as np
import pandas as pd
import torch

from analysis.workspace import Progress, Workspace
from recap import columns as c
from recap.errors import ConfigError
from recap.evaluation.ranks import top_pois
from recap.prediction import Chosen, choose, later_rows, passes, predict
from recap.predictor import CaseRanker
from recap.probabilities import log_probabilities

FIRST: Final = "first"
SECOND: Final = "second"
EXPECTED: Final = "expected"
COUNTED: Final = "counted"
PEOPLE: Final = "people"
LIKELY_PLACES: Final = 20
"""Places whose expected and counted visits one sentence compares."""


@dataclass(frozen=True, eq=False)
class Everyone:
    """The predictions of all users with a check-in up to a moment.

    Attributes:
        users: ``user, row, poi`` (the last place), ``local_time, first, second`` (places) and ``probability`` (of the
            first; NaN without probabilities), in the dataset's order.
        places: by place ``poi, name, expected`` (next visits over all users), ``people`` (users who have been there)
            and ``expected_later, counted`` (over users with a later check-in); empty without probabilities.
        followed: users with a later check-in.
        notes: what the reader must know, one line each.
    """

    users: pd.DataFrame
    places: pd.DataFrame
    followed: int
    notes: tuple[str, ...]

    def calibration(self) -> tuple[float, int]:
        """Expected and counted next visits of the places with the most expected ones."""
        best = self.places.nlargest(LIKELY_PLACES, "expected_later")
        return float(best["expected_later"].sum()), int(best[COUNTED].sum())


def predict_everyone(opened: Workspace, as_of: date | None = None, progress: Progress | None = None) -> Everyone:
    """Predict from every user's last check-in.

    Args:
        as_of: leave out check-ins after this local day.

    Raises:
        CaseError: nobody has a check-in that early.
        ConfigError: the model reads the time of the next check-in.
        ScoreError: the model returned NaN.
    """
    if opened.scorer.reads_target_time:
        raise ConfigError(f"{opened.label} reads the time of the next check-in, which is not known yet")
    model, chosen = _chosen(opened, as_of)
    is_followed = np.isin(chosen.row_N + 1, later_rows(model, chosen))
    expected_P, later_P = np.zeros(model.num_candidates), np.zeros(model.num_candidates)
    best, probability, done = [], [], 0
    with torch.inference_mode():
        for histories, candidates in passes(model, chosen):
            poi_BK = top_pois(candidates, 2)[0]
            best.append(poi_BK.numpy())
            if model.temperature is not None:
                probability_BP = log_probabilities(candidates.total, model.temperature).exp_()
                followed_B = torch.from_numpy(is_followed[done : done + len(histories)])
                expected_P += probability_BP.sum(0).numpy()
                later_P += probability_BP[followed_B].sum(0).numpy()
                probability.append(probability_BP.gather(1, poi_BK[:, :1])[:, 0].numpy())
            done += len(histories)
            if progress is not None:
                progress(done, len(chosen))
    best_U2 = np.concatenate(best)
    users = pd.DataFrame(
        {
            c.USER: model.checkins.user_T.numpy()[chosen.row_N],
            c.ROW: chosen.row_N,
            c.POI: model.checkins.poi_T.numpy()[chosen.row_N],
            "local_time": model.checkins.local_seconds_T.numpy()[chosen.row_N].astype("datetime64[s]"),
            FIRST: best_U2[:, 0],
            SECOND: best_U2[:, -1],
            "probability": np.concatenate(probability) if probability else np.nan,
        }
    )
    next_poi = model.checkins.poi_T.numpy()[chosen.row_N[is_followed] + 1]
    places = pd.DataFrame(
        {
            c.POI: np.arange(model.num_candidates),
            "name": opened.labels[: model.num_candidates],
            EXPECTED: expected_P,
            PEOPLE: _people(model, chosen)[: model.num_candidates],
            "expected_later": later_P,
            COUNTED: np.bincount(next_poi, minlength=opened.dataset.num_pois)[: model.num_candidates],
        }
    ).sort_values(EXPECTED, ascending=False, kind="stable", ignore_index=True)
    return Everyone(users, places if probability else places.head(0), int(is_followed.sum()), chosen.notes)


def everyone_as_recorded(opened: Workspace, as_of: date | None = None) -> Iterator[pd.DataFrame]:
    """The rows of `recap predict`, one for each user and listed place."""
    return predict(*_chosen(opened, as_of))


def last_day(opened: Workspace) -> date:
    """The last local day with a check-in."""
    day: date = opened.dataset.local_time.max().date()
    return day


def _chosen(opened: Workspace, as_of: date | None) -> tuple[CaseRanker, Chosen]:
    model = open_any(opened)
    return model, choose(model, as_of=None if as_of is None else datetime.combine(as_of, time(23, 59, 59)))


def open_any(opened: Workspace) -> CaseRanker:
    """The open model, also a baseline, as `recap predict` opens it."""
    if opened.checkpoint is not None:
        return opened.ranker
    return CaseRanker(None, opened.dataset, scorer=opened.scorer, graph=opened.graph, checkins=opened.checkins)


def _people(model: CaseRanker, chosen: Chosen) -> np.ndarray:
    """How many of these users have been to each place by then."""
    user_T, poi_T = model.checkins.user_T.numpy(), model.checkins.poi_T.numpy()
    until_U = np.full(model.dataset.num_users, -1)
    until_U[user_T[chosen.row_N]] = chosen.row_N
    known_T = np.arange(len(user_T)) <= until_U[user_T]
    pairs = np.unique(user_T[known_T] * model.dataset.num_pois + poi_T[known_T])
    return np.bincount(pairs % model.dataset.num_pois, minlength=model.dataset.num_pois)
