"""Where all users go next, with `recap.asking.prediction`: one row per user, and expected next visits of each place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Final, cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from analysis.workspace import Workspace
from recap import columns as c
from recap.asking.prediction import SEEN_DAYS, Chosen, choose, expected_visits, passes, predict
from recap.asking.predictor import CaseRanker
from recap.evaluation.ranks import top_pois
from recap.history.asked_times import NextTime
from recap.privacy import Generalisation
from recap.scores import Scores

FIRST: Final = "first"
EXPECTED: Final = "expected"
BEFORE: Final = "expected_before"
CHANGE: Final = "change"
EXPECTED_COUNTED: Final = "expected_counted"
COUNTED: Final = "counted"
KNOWN_BY: Final = "people"
LIKELY_PLACES: Final = 20
"""Places whose expected and counted visits one sentence compares."""


@dataclass(frozen=True, eq=False)
class Everyone:
    """The predictions of all users with a check-in up to a moment.

    Attributes:
        users: ``user, row, poi`` (the last place), ``local_time, first`` (place) and ``probability`` (of the
            first; NaN without probabilities), in the dataset's order.
        places: see `expected_visits`, with ``poi, name`` and ``people`` (users who have been there); empty without
            probabilities.
        notes: what the reader must know, one line each.
        closed: numbers of the places that are no candidates.
    """

    users: pd.DataFrame
    places: pd.DataFrame
    notes: tuple[str, ...]
    closed: tuple[int, ...] = ()

    @property
    def followed(self) -> int:
        """Users with a later check-in."""
        return int(self.places[COUNTED].sum()) if COUNTED in self.places else 0

    @property
    def changes(self) -> pd.DataFrame:
        """The places, those whose number changes most with the closed ones first."""
        return self.places.sort_values(CHANGE, key=abs, ascending=False, kind="stable", ignore_index=True)

    def calibration(self) -> tuple[float, int]:
        """Expected and counted next visits of the places with the most expected ones, over the same users."""
        best = self.places.nlargest(LIKELY_PLACES, EXPECTED_COUNTED)
        return float(best[EXPECTED_COUNTED].sum()), int(best[COUNTED].sum())


def predict_everyone(
    opened: Workspace, as_of: date | None = None, at: NextTime | None = None, closed: Sequence[int] = ()
) -> Everyone:
    """Predict from every user's last check-in.

    Args:
        as_of: leave out check-ins after this local day.
        at: ask where they are then, of a model that reads the time; users not seen for long are left out.
        closed: numbers of places that are no candidates.

    Raises:
        CaseError: nobody has a check-in that early.
        ConfigError: the model does not read the time, or must and gets none.
        ScoreError: the model returned NaN.
    """
    model, chosen = _chosen(opened, as_of, at, closed)
    best: list[Tensor] = []
    probability: list[Tensor] = []

    def note(candidates: Scores, probability_BP: Tensor | None = None) -> None:
        best.append(top_pois(candidates, 1)[0])
        if probability_BP is not None:
            probability.append(probability_BP.gather(1, best[-1])[:, 0])

    places = pd.DataFrame()
    with torch.inference_mode():
        if model.temperature is not None:
            places = _named(opened, model, chosen, expected_visits(model, chosen, note=note))
        else:
            for _, candidates, _ in passes(model, chosen):
                note(candidates)
    best_U1, checkins = torch.cat(best).numpy(), model.checkins
    users = {
        c.USER: checkins.user_T.numpy()[chosen.row_N],
        c.ROW: chosen.row_N,
        c.POI: checkins.poi_T.numpy()[chosen.row_N],
        "local_time": checkins.local_seconds_T.numpy()[chosen.row_N].astype("datetime64[s]"),
        FIRST: best_U1[:, 0],
        "probability": torch.cat(probability).numpy() if probability else np.nan,
    }
    return Everyone(pd.DataFrame(users), places, chosen.notes, chosen.closed)


def shown_names(places: pd.DataFrame) -> pd.Series:
    """Names of places where enough users have been to share them; others, such as homes, have none."""
    return places["name"].where(places[KNOWN_BY] >= Generalisation().min_users, "A place of few users")


def everyone_as_recorded(
    opened: Workspace, as_of: date | None = None, at: NextTime | None = None, closed: Sequence[int] = ()
) -> Iterator[pd.DataFrame]:
    """The rows of `recap predict`, one for each user and listed place."""
    return predict(*_chosen(opened, as_of, at, closed))


def last_day(opened: Workspace) -> date:
    """The last local day with a check-in."""
    return cast(date, opened.dataset.local_time.max().date())


def _chosen(
    opened: Workspace, as_of: date | None, at: NextTime | None, closed: Sequence[int]
) -> tuple[CaseRanker, Chosen]:
    model = opened.any_ranker
    ids = opened.dataset.pois[c.POI_ID].iloc[list(closed)].astype(str)
    moment = None if as_of is None else datetime.combine(as_of, time(23, 59, 59))
    return model, choose(model, None, moment, at, seen_days=None if at is None else SEEN_DAYS, without=ids)


def _named(opened: Workspace, model: CaseRanker, chosen: Chosen, visits: pd.DataFrame) -> pd.DataFrame:
    """With each place's number, its name, and how many of these users have been there by then."""
    poi_P = pd.Index(model.dataset.pois[c.POI_ID]).get_indexer(pd.Index(visits[c.POI_ID]))
    user_T, poi_T = model.checkins.user_T.numpy(), model.checkins.poi_T.numpy()
    until_U = np.full(model.dataset.num_users, -1)
    until_U[user_T[chosen.row_N]] = chosen.row_N
    known_T = np.arange(len(user_T)) <= until_U[user_T]
    pairs = np.unique(user_T[known_T] * model.dataset.num_pois + poi_T[known_T])
    people_P = np.bincount(pairs % model.dataset.num_pois, minlength=model.dataset.num_pois)
    return visits.assign(**{c.POI: poi_P, "name": [opened.labels[poi] for poi in poi_P], KNOWN_BY: people_P[poi_P]})
