"""What comes next: every user's next places after the last check-in, or as of a moment.

Shape suffixes: N users, B users of a pass, P places, K listed places, G groups of terms, T check-ins.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, cast

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from recap import columns as c
from recap.arithmetic.geodesy import distance_km
from recap.asking.predictor import CaseRanker
from recap.baselines.counting import visits_including_now
from recap.errors import CaseError, ConfigError
from recap.evaluation.ranks import top_pois
from recap.evaluation.scoring import LIST_LENGTH, histories_per_pass
from recap.features.values import Pairs
from recap.history.asked_times import ClockTime, NextTime, whole_seconds
from recap.history.moments import is_known_by, last_rows
from recap.history.tensors import SECONDS_PER_DAY, CheckinTensors, Histories
from recap.probabilities import log_probabilities
from recap.scores import Explainable, Scores, contributions_by_group

CONTRIBUTION: Final = "contribution_"
"""Start of the columns of `predict` with ``why``; a group of terms follows."""
_LATEST_ZONE: Final = timedelta(hours=14)
_PLACE: Final = (c.POI_ID, c.POI_NAME, c.CATEGORY, c.LATITUDE, c.LONGITUDE)
SEEN_DAYS: Final = 30
"""Users who have not checked in for longer are left out where places are counted at a given time."""
COUNTED_MINUTES: Final = 30
"""A next check-in this close to the time given counts as one at that time."""
ASSUMED: Final = "People are assumed to choose as before among the other places."


@dataclass(frozen=True, eq=False)
class Chosen:
    """Histories to predict from.

    Attributes:
        row_N: the last known check-in of each user.
        next_N: local seconds of the time given, of each user; None to ask where next, whenever it comes.
        notes: what the reader must know, one line each.
        closed: numbers of the places that are not candidates; probabilities of the others are renormalised.
    """

    row_N: np.ndarray
    next_N: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    closed: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.row_N)

    def part(self, some: slice | np.ndarray) -> "Chosen":
        return replace(self, row_N=self.row_N[some], next_N=None if self.next_N is None else self.next_N[some])

    def histories(self, checkins: CheckinTensors) -> Histories:
        next_B = None if self.next_N is None else torch.from_numpy(self.next_N)
        return Histories(checkins, torch.from_numpy(self.row_N), next_B)


def choose(
    model: CaseRanker,
    users: Sequence[str] | None = None,
    as_of: datetime | None = None,
    at: NextTime | None = None,
    *,
    seen_days: int | None = None,
    without: Iterable[str] = (),
) -> Chosen:
    """The last check-in of every user, or of these users (ids of the raw table), up to a moment (`last_rows`).

    Args:
        at: the time asked for, of a model that reads it: without a zone in each user's local time. A weekday and clock
            is one date for all: the first after the last check-in of anyone chosen, or after ``as_of``.
        seen_days: leave out users who have not checked in for longer, counted back from the last check-in of anyone.
        without: ids of places that are closed: as candidates only, stops there stay.

    Raises CaseError: an unknown user or place, or none is left; ConfigError: the model does not read the time, or must.
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
        elif known_T.all() and at is None and as_of.replace(tzinfo=None) > dataset.local_time.max() + _LATEST_ZONE:
            notes = ("--as-of is after every check-in and changes nothing; --at asks about a later time.",)
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
    closed = _closed(model, without)
    notes = (*notes, *[ASSUMED] * bool(closed))
    chosen = Chosen(row_U[number_U[row_U[number_U] >= 0]], notes=notes, closed=closed)
    if seen_days is not None and len(chosen):
        seconds_N = model.checkins.seconds_T.numpy()[chosen.row_N]
        is_seen_N = seconds_N >= seconds_N.max() - seen_days * SECONDS_PER_DAY
        lines = (f"Users left out, not seen in the last {seen_days} days: {int((~is_seen_N).sum()):,}.",)
        chosen = replace(chosen.part(is_seen_N), notes=chosen.notes + lines * (not is_seen_N.all()))
    return _at(model, chosen, as_of, at)


def _closed(model: CaseRanker, ids: Iterable[str]) -> tuple[int, ...]:
    """Numbers of the candidates among these places, by their ids."""
    known, asked = model.dataset.pois[c.POI_ID].astype(str), list(dict.fromkeys(ids))
    number_C = pd.Index(known).get_indexer(pd.Index(asked, dtype=object))
    if (number_C < 0).any():
        unknown = asked[int(np.argmin(number_C))]
        raise CaseError(f"the data set has no place {unknown!r}; --without takes ids as in the raw table")
    closed = tuple(number_C[number_C < model.num_candidates].tolist())
    if len(closed) == model.num_candidates:
        raise CaseError("no place is left to predict: name fewer with --without")
    return closed


def _at(model: CaseRanker, chosen: Chosen, as_of: datetime | None, at: NextTime | None) -> Chosen:
    """With the time asked for; users whose last check-in is later are left out."""
    if not model.scorer.reads_target_time:
        if at is not None:
            raise ConfigError(f"{model.label}: this model was not asked for a time; open it with given_time=True")
        return chosen
    if at is None:
        raise ConfigError(f"{model.label}: this model reads the time of the next check-in; give it with --at")
    local_N = model.checkins.local_seconds_T.numpy()[chosen.row_N]
    next_N = next_local_seconds(model.checkins, chosen.row_N, at, as_of)
    is_later_N = next_N >= local_N
    if len(chosen) and not is_later_N.any():
        user = model.dataset.users[c.USER_ID].iloc[int(model.checkins.user_T[chosen.row_N[0]])]
        who = f"user {user!r}" if len(chosen) == 1 else "every user"
        raise CaseError(f"--at {at} is before the last check-in of {who}: choose a later time")
    timed = replace(chosen, next_N=next_N).part(is_later_N)
    lines = (f"Users left out, whose last check-in is after the time given: {int((~is_later_N).sum()):,}.",)
    return replace(timed, notes=chosen.notes + lines * (not is_later_N.all()))


def next_local_seconds(
    checkins: CheckinTensors, row_N: np.ndarray, at: NextTime, as_of: datetime | None = None
) -> np.ndarray:
    """The time asked for in local seconds of each user whose last check-in is ``row_N``, see `choose`."""
    local_N = checkins.local_seconds_T.numpy()[row_N]
    if isinstance(at, ClockTime):
        latest = int(local_N.max(initial=0))
        return np.full(len(row_N), at.after(latest if as_of is None else max(whole_seconds(as_of), latest)))
    zone_N = np.zeros_like(local_N) if at.tzinfo is None else local_N - checkins.seconds_T.numpy()[row_N]
    return np.asarray(whole_seconds(at) + zone_N)


def predict(
    model: CaseRanker,
    chosen: Chosen,
    *,
    top: int = LIST_LENGTH,
    new_places: bool = False,
    why: bool = False,
) -> Iterator[pd.DataFrame]:
    """The next places of the chosen users, best first, some users at a time; memory does not grow with users.

    Args:
        new_places: list only places where the user has not been; probabilities stay those among all places.
        why: add ``contribution_<group>`` columns.

    Yields:
        ``user_id, as_of`` (UTC time of the last check-in), ``as_of_local``, ``at_local`` (the time given, if there is
        one), ``rank`` (from 1), ``poi_id, poi_name,
        category, latitude, longitude, km`` (from the last place), ``visited, visits`` (the user's, the last check-in
        included), ``score, probability`` (NaN if the model has none). At least one frame, which may be empty.
    """
    if why and not hasattr(model.scorer, "contributions"):
        raise ConfigError(f"{model.label} gives one score for each place and no terms: leave out --why")
    is_open_P = torch.ones(model.num_candidates, dtype=torch.bool)
    is_open_P[list(chosen.closed)] = False
    for histories, candidates, log_BP in passes(model, chosen):
        poi_BK, _ = top_pois(candidates, top)
        listed_BK = is_open_P[poi_BK]
        if new_places:
            known_BP = histories.known_places(model.dataset.num_pois)[:, : model.num_candidates]
            hidden = {"total": candidates.total.masked_fill(known_BP, -torch.inf)}
            poi_BK, _ = top_pois(Scores(hidden, tie_break_P=candidates.tie_break_P), top)
            listed_BK = is_open_P[poi_BK] & ~known_BP.gather(1, poi_BK)
        open_BP = None if log_BP is None else _renormalised(log_BP, chosen)
        yield _frame(model, histories, candidates, open_BP, poi_BK, listed_BK, why=why)
    if not len(chosen):
        nobody = chosen.histories(model.checkins)
        nothing = torch.zeros(0, model.num_candidates, dtype=torch.float64)
        nowhere = torch.zeros(0, 1, dtype=torch.int64)
        yield _frame(model, nobody, Scores({"total": nothing}), None, nowhere, nowhere.bool(), why=why)


def expected_visits(
    model: CaseRanker,
    chosen: Chosen,
    *,
    note: Callable[[Scores, Tensor], None] | None = None,
) -> pd.DataFrame:
    """Expected next visits of every place, or users there at the time given if all check in then: the sum of its
    probabilities over the chosen users. ``note`` receives the scores and probabilities (B, P) of each pass. Raises
    ConfigError: the model has no probabilities.

    Returns:
        ``poi_id, poi_name, category, latitude, longitude, expected``, most first. With closed places
        ``expected_before``, with them open, and ``change``, which adds up to 0; else over users who can be counted
        (`is_counted`), if there are some, ``expected_counted`` and ``counted``: how many of them went there next.
    """
    if model.temperature is None:
        raise ConfigError(f"{model.label} gives scores and no probabilities: --by-place needs a model that has them")
    expected_P = torch.zeros(model.num_candidates, dtype=torch.float64)
    counted_P, before_P, done = expected_P.clone(), expected_P.clone(), 0
    is_counted_N = torch.from_numpy(is_counted(model, chosen) & (not chosen.closed))
    for histories, candidates, log_BP in passes(model, chosen):
        assert log_BP is not None
        if chosen.closed:
            before_P += log_BP.exp().sum(0)
        probability_BP = _renormalised(log_BP, chosen).exp_()
        expected_P += probability_BP.sum(0)
        counted_P += probability_BP[is_counted_N[done : done + len(histories)]].sum(0)
        done += len(histories)
        if note is not None:
            note(candidates, probability_BP)
    table = model.dataset.pois[: model.num_candidates][list(_PLACE)].assign(expected=expected_P.numpy())
    if chosen.closed:
        table = table.assign(expected_before=before_P.numpy(), change=(expected_P - before_P).numpy())
    elif is_counted_N.any():
        poi_N = model.checkins.poi_T.numpy()[chosen.row_N[is_counted_N.numpy()] + 1]
        counts_P = np.bincount(poi_N, minlength=model.dataset.num_pois)[: model.num_candidates]
        table = table.assign(expected_counted=counted_P.numpy(), counted=counts_P)
    return table.sort_values("expected", ascending=False, kind="stable", ignore_index=True)


def is_counted(model: CaseRanker, chosen: Chosen) -> np.ndarray:
    """Whether each chosen user has a later check-in in the data set, bool (N,); with a time given, within
    `COUNTED_MINUTES` of it.
    """
    user_T, after_N = model.checkins.user_T.numpy(), chosen.row_N + 1
    is_own_N: np.ndarray = np.append(user_T, -1)[after_N] == user_T[chosen.row_N]
    if chosen.next_N is None:
        return is_own_N
    local_N = np.append(model.checkins.local_seconds_T.numpy(), 0)[after_N]
    return is_own_N & (np.abs(local_N - chosen.next_N) <= 60 * COUNTED_MINUTES)


def _renormalised(log_BP: Tensor, chosen: Chosen) -> Tensor:
    """Log probabilities among the places that are not closed."""
    if not chosen.closed:
        return log_BP
    return torch.log_softmax(log_BP.index_fill(1, torch.tensor(chosen.closed), -torch.inf), 1)


def passes(model: CaseRanker, chosen: Chosen) -> Iterator[tuple[Histories, Scores, Tensor | None]]:
    """Histories of some users, the scores of the candidates, and their log probabilities, if the model has them, as if
    no place were closed; closed places score minus infinity.
    """
    size, most = histories_per_pass(model.dataset.num_pois), model.num_candidates
    every = chosen.histories(model.checkins)
    for start in range(0, len(every), size):
        histories = every.select(slice(start, start + size))
        scores = model.score(histories)
        tie_break_P = None if scores.tie_break_P is None else scores.tie_break_P[:most]
        total_BP, temperature = scores.total[:, :most], model.temperature
        del scores  # free them before the next pass
        log_BP = None if temperature is None else log_probabilities(total_BP, temperature)
        if chosen.closed:
            total_BP = total_BP.index_fill(1, torch.tensor(chosen.closed), -torch.inf)
        yield histories, Scores({"total": total_BP}, tie_break_P=tie_break_P), log_BP


def _frame(
    model: CaseRanker,
    histories: Histories,
    candidates: Scores,
    log_BP: Tensor | None,
    poi_BK: Tensor,
    listed_BK: Tensor,
    *,
    why: bool,
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
    next_B = histories.next_local_seconds_B
    probability_C = np.full(len(poi_C), np.nan) if log_BP is None else log_BP[case_C, place_C].exp().numpy()
    columns: dict[str, Any] = {
        c.USER_ID: dataset.users[c.USER_ID].iloc[user_C].reset_index(drop=True),
        "as_of": dataset.checkins[c.TIME].iloc[row_C].reset_index(drop=True),
        "as_of_local": model.checkins.local_seconds_T[row_C].numpy().astype("datetime64[s]"),
        **({} if next_B is None else {"at_local": next_B[case_C].numpy().astype("datetime64[s]")}),
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
    return Pairs(key_V, count_V[order_V][None]).at(case_C * num_pois + poi_C)[0]


def _contributions(model: CaseRanker, histories: Histories, poi_BK: Tensor, listed_BK: Tensor) -> dict[str, np.ndarray]:
    """What each group of terms adds to the score of the listed places, by column."""
    scorer = cast(Explainable, model.scorer)
    if not len(histories):
        return {CONTRIBUTION + term.group: np.zeros(0) for term in scorer.terms}
    pieces = [contributions_by_group(scorer, histories, some_BK) for some_BK in poi_BK.split(LIST_LENGTH, dim=1)]
    return {
        CONTRIBUTION + group: torch.cat([piece[group] for piece in pieces], dim=1)[listed_BK].numpy()
        for group in pieces[0]
    }
