"""Where people go after a place closed: places that fell silent, and their former visitors' next check-ins.

A place counts if it had at least 30 visits by 8 users over 180 days and then none for 42 days; a single event, with
more than half of its visits on one day, does not. Cases are all check-ins of former visitors in the 42 days after its
last visit. The probability that the model gave the closed place is shared out in three ways: in proportion to that of
the others, which is the place left out as a candidate; by the user's visits to other places so far; in equal parts to
the five nearest places of its category. Prints one JSON line: for each way the log loss, and how much lower RECAP's
is, with its 95 % interval over users.

    python -m benchmarks.closed_places data/nyc [--learn data/phoenix --learn data/austin] [--model CHECKPOINT]

``--learn`` makes `pretrained` from these cities, because the package's curves were learned on New York too.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.records.bootstrap import UserBootstrap, interval
from recap import columns as c
from recap.arithmetic.geodesy import distance_km
from recap.asking.open_model import open_model
from recap.asking.predictor import CaseRanker
from recap.baselines.counting import visits_including_now
from recap.data.dataset import Dataset
from recap.evaluation.scoring import histories_per_pass
from recap.pretrained.checkpoint import PretrainedCheckpoint
from recap.probabilities import UNFITTED, log_probabilities
from recap.training.pretraining import pretrain

_VISITS, _USERS, _OPEN, _SILENT, _ON_ONE_DAY = 30, 8, pd.Timedelta(days=180), pd.Timedelta(days=42), 0.5
_NEAREST, _FROM = 5, 0.05


def silent_places(dataset: Dataset) -> pd.Series:
    """The last visit of each place that fell silent, by place."""
    table = dataset.checkins.assign(day=dataset.local_time.dt.date)
    by_place = table.groupby(c.POI)
    time, users = by_place[c.TIME].agg(["min", "max", "size"]), by_place[c.USER].nunique()
    busiest = table.groupby([c.POI, "day"]).size().groupby(level=0).max()
    is_used = (time["size"] >= _VISITS) & (users >= _USERS) & (busiest <= _ON_ONE_DAY * time["size"])
    is_silent = (time["max"] - time["min"] >= _OPEN) & (table[c.TIME].max() - time["max"] >= _SILENT)
    return time.loc[is_used & is_silent, "max"]


def former_visitors(dataset: Dataset, closed: pd.Series) -> pd.DataFrame:
    """The ``row`` before each check-in of a former visitor in the weeks after a ``place``'s last visit."""
    table, found = dataset.checkins, []
    for place, last in closed.items():
        visitors = table.loc[table[c.POI] == place, c.USER].unique()
        is_after = (table[c.TIME] > last) & (table[c.TIME] <= last + _SILENT) & table[c.USER].isin(visitors)
        found.append(pd.DataFrame({"row": np.flatnonzero(is_after) - 1, "place": place}))
    return pd.concat(found, ignore_index=True)


def losses(model: CaseRanker, cases: pd.DataFrame) -> pd.DataFrame:
    """What the closed place had in each case (``moved``), and the log loss of the true place in each way."""
    nearest = {place: _nearest(model.dataset, place) for place in cases["place"].unique()}
    size = histories_per_pass(model.dataset.num_pois)
    parts = [_losses(model, cases.iloc[at : at + size], nearest) for at in range(0, len(cases), size)]
    return pd.concat(parts, ignore_index=True)


def _losses(model: CaseRanker, cases: pd.DataFrame, nearest: dict[int, np.ndarray]) -> pd.DataFrame:
    histories = model.histories(cases["row"].tolist())
    probability_BP = log_probabilities(model.score(histories).total, model.temperature or UNFITTED).exp().numpy()
    at_B, place_B, target_row_B = np.arange(len(cases)), cases["place"].to_numpy(), cases["row"].to_numpy() + 1
    target_B = model.checkins.poi_T.numpy()[target_row_B]
    visits_BP = np.zeros_like(probability_BP)
    case_V, poi_V, count_V = (each.numpy() for each in visits_including_now(histories))
    visits_BP[case_V, poi_V] = count_V
    visits_BP[at_B, place_B] = 0
    before_B, moved_B = probability_BP[at_B, target_B], probability_BP[at_B, place_B]
    total_B, near_of_B = visits_BP.sum(1), [nearest[place] for place in place_B]
    is_near_B = np.array([target in near for target, near in zip(target_B, near_of_B, strict=True)])
    num_near_B, kept_B = np.array(list(map(len, near_of_B))), before_B / (1 - moved_B)
    own_B = before_B + moved_B * visits_BP[at_B, target_B] / np.maximum(total_B, 1)
    near_B = before_B + moved_B * is_near_B / np.maximum(num_near_B, 1)
    given = {  # with nothing to share among, as RECAP does
        "recap": kept_B,
        "own_visits": np.where(total_B > 0, own_B, kept_B),
        "nearest": np.where(num_near_B > 0, near_B, kept_B),
    }
    facts = {c.USER: histories.user_B.numpy(), "place": place_B, "moved": moved_B}
    facts |= {"is_test": model.dataset.checkins[c.SPLIT].to_numpy()[target_row_B] == c.TEST}
    return pd.DataFrame(facts | {name: -np.log(value_B) for name, value_B in given.items()})


def _nearest(dataset: Dataset, place: int) -> np.ndarray:
    """The nearest places of its category."""
    pois, own = dataset.pois, dataset.pois.iloc[place]
    others = np.flatnonzero((pois[c.CATEGORY] == own[c.CATEGORY]) & (np.arange(len(pois)) != place))
    latitude, longitude = (pois[name].to_numpy()[others] for name in (c.LATITUDE, c.LONGITUDE))
    km = distance_km(np.array(own[c.LATITUDE]), np.array(own[c.LONGITUDE]), latitude, longitude)
    return others[np.argsort(km, kind="stable")[:_NEAREST]]


def describe(table: pd.DataFrame) -> dict[str, Any]:
    """Mean log losses, and how much lower RECAP's is, with intervals over users."""
    said: dict[str, Any] = {"n": len(table), "users": table[c.USER].nunique(), "places": table["place"].nunique()}
    said |= {"moved": round(float(table["moved"].mean()), 4)}
    draws, together_N = UserBootstrap(table[c.USER].to_numpy()), np.zeros(len(table), np.int64)
    for name in ("recap", "own_visits", "nearest"):
        gain_N = (table[name] - table["recap"]).to_numpy()
        low, high = interval(draws.means(gain_N, together_N, 1))
        said[name] = [round(float(value), 4) for value in (table[name].mean(), gain_N.mean(), low[0], high[0])]
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--learn", type=Path, action="append", default=[])
    parser.add_argument("--model", default="pretrained")
    arguments = parser.parse_args()
    dataset = Dataset.load(arguments.data)
    if arguments.learn:
        curves = pretrain([Dataset.load(folder) for folder in arguments.learn])
        model = open_model(PretrainedCheckpoint.of(dataset, curves, keep=False), dataset)
    else:
        model = open_model(arguments.model, dataset)
    table = losses(model, former_visitors(dataset, silent_places(dataset)))
    is_moved = table["moved"] >= _FROM
    groups = {"all": table, f"from {_FROM:.0%}": table[is_moved], "of these, test": table[is_moved & table["is_test"]]}
    print(json.dumps({"model": model.label} | {name: describe(group) for name, group in groups.items()}))


if __name__ == "__main__":
    main()
