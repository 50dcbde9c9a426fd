"""What comes next: every user's next places after the last check-in, or as of a moment.

Shape suffixes: N users, B users of a pass, P places, K listed places, G groups of terms, T check-ins.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from recap import columns as c
from recap.baselines.counting import visits_including_now
from recap.errors import CaseError, ConfigError
from recap.evaluation.ranks import top_pois
from recap.evaluation.scoring import LIST_LENGTH, histories_per_pass
from recap.geodesy import distance_km
from recap.history import Histories, TimedHistories
from recap.moments import is_known_by, last_rows, whole_seconds
from recap.predictor import CaseRanker
from recap.probabilities import log_probabilities
from recap.ragged import found_in
from recap.scores import Explainable, Scores

CONTRIBUTION: Final = "contribution_"
"""Start of the columns of `predict` with ``why``; a group of terms follows."""
_PLACE: Final = (c.POI_ID, c.POI_NAME, c.CATEGORY, c.LATITUDE, c.LONGITUDE)


@dataclass(frozen=True, eq=False)
class Chosen:
    """Histories to predict from. ``row_N``: the last known check-in of each user; ``notes``: what the reader must know,
    one line each.
    """

    row_N: np.ndarray
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.row_N)

    def part(self, some: slice) -> "Chosen":
        return replace(self, row_N=self.row_N[some])


def choose(model: CaseRanker, users: Sequence[str] | None = None, as_of: datetime | None = None) -> Chosen:
    """The last check-in of every user, or of these users (ids of the raw table), up to a moment (`last_rows`). Raises
    CaseError: an unknown user, one of these users has no check-in by then, or nobody has.
    """
    dataset = model.dataset
    ids, row_U = dataset.users[c.USER_ID].astype(str), last_rows(dataset, as_of)
    number_U = np.arange(len(ids))
    notes: tuple[str, ...] = ()
    if as_of is not None:
        known_T = is_known_by(dataset, as_of)
        tested_T = dataset.checkins[c.SPLIT].to_numpy() == c.TEST
        if tested_T.any() and not (known_T & tested_T).any():
            begin = dataset.local_time[tested_T].min()
            notes = (f"The model has seen this time: the test weeks begin on {begin.day} {begin:%B %Y}.",)
    if users is not None:
        number_U = pd.Index(ids).get_indexer(pd.Index(dict.fromkeys(users)))
        if (number_U < 0).any():
            unknown = [user for user in dict.fromkeys(users) if user not in set(ids)]
            raise CaseError(f"the data set has no user {unknown[0]!r}; --user takes ids as in the raw table")
    left = number_U[row_U[number_U] < 0]
    if as_of is not None and len(left) and (users is not None or (row_U < 0).all()):
        who = f"user {ids[left[0]]!r}" if users is not None else "every user"
        raise CaseError(f"{who} has no check-in up to {as_of}: choose a later --as-of")
    if len(left):
        notes = (*notes, f"Users left out, without a check-in by then: {len(left):,}.")
    return Chosen(row_U[number_U[row_U[number_U] >= 0]], notes)


def predict(
    model: CaseRanker,
    chosen: Chosen,
    *,
    top: int = LIST_LENGTH,
    new_places: bool = False,
    why: bool = False,
    at: datetime | None = None,
) -> Iterator[pd.DataFrame]:
    """The next places of the chosen users, best first, some users at a time; memory does not grow with users.

    Args:
        new_places: list only places where the user has not been; probabilities stay those among all places.
        why: add ``contribution_<group>`` columns.
        at: time of the next check-in, for a model that reads it; ConfigError: it does not fit the model.

    Yields:
        ``user_id, as_of`` (UTC time of the last check-in), ``as_of_local, rank`` (from 1), ``poi_id, poi_name,
        category, latitude, longitude, km`` (from the last place), ``visited, visits`` (the user's, the last check-in
        included), ``score, probability`` (NaN if the model has none). At least one frame, which may be empty.
    """
    if why and not hasattr(model.scorer, "contributions"):
        raise ConfigError(f"{model.label} gives one score for each place and no terms: leave out --why")
    return _frames(model, chosen, _next_times(model, chosen, at), top, new_places=new_places, why=why)


def _frames(
    model: CaseRanker, chosen: Chosen, next_N: Tensor | None, top: int, *, new_places: bool, why: bool
) -> Iterator[pd.DataFrame]:
    for histories, candidates in passes(model, chosen, next_N):
        poi_BK, _ = top_pois(candidates, top)
        listed_BK = torch.ones_like(poi_BK, dtype=torch.bool)
        if new_places:
            known_BP = histories.known_places(model.dataset.num_pois)[:, : model.num_candidates]
            hidden = {"total": candidates.total.masked_fill(known_BP, -torch.inf)}
            poi_BK, _ = top_pois(Scores(hidden, tie_break_P=candidates.tie_break_P), top)
            listed_BK = ~known_BP.gather(1, poi_BK)
        yield _frame(model, histories, candidates, poi_BK, listed_BK, why=why)
    if not len(chosen):
        nobody = Histories(model.checkins, torch.from_numpy(chosen.row_N))
        nothing = torch.zeros(0, model.num_candidates, dtype=torch.float64)
        nowhere = torch.zeros(0, 1, dtype=torch.int64)
        yield _frame(model, nobody, Scores({"total": nothing}), nowhere, nowhere.bool(), why=why)


def expected_visits(
    model: CaseRanker,
    chosen: Chosen,
    *,
    at: datetime | None = None,
    note: Callable[[Scores, Tensor], None] | None = None,
) -> pd.DataFrame:
    """Expected next visits of every place: the sum of its probabilities over the chosen users. ``note`` receives the
    scores and probabilities (B, P) of each pass. Raises ConfigError: the model has no probabilities.

    Returns:
        ``poi_id, poi_name, category, latitude, longitude, expected``, most first, and if some chosen users have a later
        check-in, over these alone ``expected_counted`` and ``counted``: how many of them went there next.
    """
    temperature = model.temperature
    if temperature is None:
        raise ConfigError(f"{model.label} gives scores and no probabilities: --by-place needs a model that has them")
    expected_P = torch.zeros(model.num_candidates, dtype=torch.float64)
    counted_P, is_followed_N, done = expected_P.clone(), torch.from_numpy(is_followed(model, chosen)), 0
    for histories, candidates in passes(model, chosen, _next_times(model, chosen, at)):
        probability_BP = log_probabilities(candidates.total, temperature).exp_()
        expected_P += probability_BP.sum(0)
        counted_P += probability_BP[is_followed_N[done : done + len(histories)]].sum(0)
        done += len(histories)
        if note is not None:
            note(candidates, probability_BP)
    table = model.dataset.pois[: model.num_candidates][list(_PLACE)].assign(expected=expected_P.numpy())
    if is_followed_N.any():
        poi_N = model.checkins.poi_T.numpy()[chosen.row_N[is_followed_N.numpy()] + 1]
        counts_P = np.bincount(poi_N, minlength=model.dataset.num_pois)[: model.num_candidates]
        table = table.assign(expected_counted=counted_P.numpy(), counted=counts_P)
    return table.sort_values("expected", ascending=False, kind="stable", ignore_index=True)


def is_followed(model: CaseRanker, chosen: Chosen) -> np.ndarray:
    """Whether each chosen user has a later check-in in the data set, bool (N,)."""
    user_T, next_N = model.checkins.user_T.numpy(), chosen.row_N + 1
    is_own_N: np.ndarray = np.append(user_T, -1)[next_N] == user_T[chosen.row_N]
    return is_own_N


def passes(model: CaseRanker, chosen: Chosen, next_N: Tensor | None = None) -> Iterator[tuple[Histories, Scores]]:
    """Histories of some users, and the scores of the candidates."""
    size, most = histories_per_pass(model.dataset.num_pois), model.num_candidates
    every = Histories(model.checkins, torch.from_numpy(chosen.row_N))
    if next_N is not None:
        every = TimedHistories(model.checkins, every.row_B, next_N)
    for start in range(0, len(every), size):
        histories = every.select(slice(start, start + size))
        scores = model.score(histories)
        tie_break_P = None if scores.tie_break_P is None else scores.tie_break_P[:most]
        yield histories, Scores({"total": scores.total[:, :most]}, tie_break_P=tie_break_P)
        del scores  # free them before the next pass


def _next_times(model: CaseRanker, chosen: Chosen, at: datetime | None) -> Tensor | None:
    """Local seconds of the check-in to predict, for a model that reads them."""
    if not model.scorer.reads_target_time:
        if at is not None:
            raise ConfigError(f"{model.label}: this model does not read the time of the next check-in; leave out --at")
        return None
    if at is None:
        raise ConfigError(f"{model.label}: this model reads the time of the next check-in; give it with --at")
    row_N, checkins = torch.from_numpy(chosen.row_N), model.checkins
    local_N = checkins.local_seconds_T[row_N]
    last_N = local_N if at.tzinfo is None else checkins.seconds_T[row_N]
    next_second = whole_seconds(at)
    for row in row_N[last_N > next_second][:1]:
        user = model.dataset.users[c.USER_ID].iloc[int(checkins.user_T[row])]
        raise ConfigError(f"--at {at} is before the last check-in of user {user!r}: choose a later time")
    return next_second + local_N - last_N


def _frame(
    model: CaseRanker, histories: Histories, candidates: Scores, poi_BK: Tensor, listed_BK: Tensor, *, why: bool
) -> pd.DataFrame:
    """The rows of `predict` for some users; False in ``listed_BK`` leaves a place out."""
    dataset = model.dataset
    at_BK = listed_BK.nonzero()
    case_C, place_C = at_BK[:, 0], poi_BK[listed_BK]
    row_C, poi_C = histories.row_B[case_C].numpy(), place_C.numpy()
    places = dataset.pois.iloc[poi_C].reset_index(drop=True)
    source_C, user_C = histories.source_B[case_C].numpy(), histories.user_B[case_C].numpy()
    latitude, longitude = (dataset.pois[name].to_numpy(np.float64) for name in (c.LATITUDE, c.LONGITUDE))
    visits_C = _visits(histories, case_C, place_C, dataset.num_pois).numpy()
    probability_C = np.full(len(poi_C), np.nan)
    if model.temperature is not None:
        probability_C = log_probabilities(candidates.total, model.temperature)[case_C, place_C].exp().numpy()
    columns: dict[str, Any] = {
        c.USER_ID: dataset.users[c.USER_ID].iloc[user_C].reset_index(drop=True),
        "as_of": dataset.checkins[c.TIME].iloc[row_C].reset_index(drop=True),
        "as_of_local": model.checkins.local_seconds_T[row_C].numpy().astype("datetime64[s]"),
        c.RANK: at_BK[:, 1].numpy() + 1,
        **{name: places[name] for name in _PLACE},
        "km": distance_km(latitude[source_C], longitude[source_C], latitude[poi_C], longitude[poi_C]),
        "visited": visits_C > 0,
        "visits": visits_C,
        c.SCORE: candidates.total[case_C, place_C].double().numpy(),
        "probability": probability_C,
    }
    return pd.DataFrame(columns | (_contributions(model, histories, poi_BK, listed_BK) if why else {}))


def _visits(histories: Histories, case_C: Tensor, poi_C: Tensor, num_pois: int) -> Tensor:
    """How often each user has been to a place, the last check-in included, int64 (C,)."""
    case_V, poi_V, count_V = visits_including_now(histories)
    key_V, order_V = torch.sort(case_V * num_pois + poi_V)
    is_in_C, at_C = found_in(key_V, case_C * num_pois + poi_C)
    return torch.where(is_in_C, count_V[order_V][at_C], 0) if len(key_V) else torch.zeros_like(case_C)


def _contributions(model: CaseRanker, histories: Histories, poi_BK: Tensor, listed_BK: Tensor) -> dict[str, np.ndarray]:
    """What each group of terms adds to the score of the listed places, by column."""
    scorer = cast(Explainable, model.scorer)
    groups = list(dict.fromkeys(term.group for term in scorer.terms))
    of_group_TG = torch.tensor([[float(term.group == group) for group in groups] for term in scorer.terms]).double()
    if not len(histories):
        return {CONTRIBUTION + group: np.zeros(0) for group in groups}
    each = [scorer.contributions(histories, poi_B) @ of_group_TG for poi_B in poi_BK.unbind(1)]
    listed_CG = torch.stack(each, dim=1)[listed_BK].numpy()
    return {CONTRIBUTION + group: listed_CG[:, at] for at, group in enumerate(groups)}
