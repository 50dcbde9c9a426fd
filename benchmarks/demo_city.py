"""How close the demo city comes to real check-ins: its statistics beside NYC in full and three user cuts of NYC.

    python benchmarks/demo_city.py [--seeds 23 101 102 103 104] [--nyc FILE_OR_FOLDER] [--json]

Prints one table with every targeted statistic (pass or miss under its tolerance) and the untargeted ones, the misses as
a list, and one JSON line with versions and hardware. NYC is read from --nyc, the environment variable RECAP_NYC or
data/raw; without it the demo stands alone against the recorded targets. A cut takes users in random order
(seeds 1, 2, 3) until 60,000 check-ins survive the minimum counts.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.long_tail.lift import two_hop_lift
from analysis.records.loaded_dataset import LoadedDataset
from recap import columns as c
from recap.data.cleaning import DataConfig, History
from recap.data.dataset import Dataset
from recap.data.preparation import prepare_dataset
from recap.data.reading import read_raw
from recap.data.synthetic import PINNED_SEED, build_demo_city, hash_checkins
from recap.dataset_statistics import evidence_shares, hop_statistics, tail_shares
from recap.geodesy import distance_km
from recap.graph import TransitionGraph

CUT_SEEDS = (1, 2, 3)
CUT_CHECKINS = 60_000
OTHER_SEEDS = (101, 102, 103, 104)


class Target(NamedTuple):
    """What a statistic should be: a value and a relative tolerance, or a range."""

    low: float
    high: float
    text: str


def _near(value: float, tolerance: float) -> Target:
    return Target(value * (1 - tolerance), value * (1 + tolerance), f"{value:g} ± {tolerance:.0%}")


TARGETS = {
    "kept check-ins": Target(55_000, 65_000, "55,000 to 65,000"),
    "users": Target(500, 600, "500 to 600"),
    "POIs": Target(2_000, 2_400, "2,000 to 2,400"),
    # NYC in full
    "test cases in history": _near(0.867, 0.2),
    "unique tail share": _near(0.759, 0.2),
    "unseen cases": _near(0.519, 0.2),
    "self-transitions": _near(0.074, 0.2),
    "user's top place": _near(0.275, 0.2),
    "user's 2nd place": _near(0.147, 0.2),
    "user's 3rd place": _near(0.090, 0.2),
    "user's 4th place": _near(0.061, 0.2),
    "user's 5th place": _near(0.046, 0.3),
    "Gini of POI visits": _near(0.435, 0.2),
    "mean length of trajectories of 2+": _near(5.55, 0.2),
    # Mean of three cuts of NYC with 60,000 kept check-ins
    "two-hop coverage": _near(0.437, 0.35),
    "tail within two hops": _near(0.591, 0.35),
    "tail in history": _near(0.875, 0.35),
    # NYC in full
    "median jump, km": _near(1.13, 0.5),
    "90th percentile jump, km": _near(12.29, 0.2),
    # 95 % interval of NYC in full: unseen steps to places never visited, given popularity and distance
    "two-hop lift of new places": Target(1.04, 1.35, "1.04 to 1.35"),
    # Busiest hours of the morning and of the second half of the day
    "morning peak, hour": Target(8, 9, "8 to 9"),
    "evening peak, hour": Target(17, 19, "17 to 19"),
}


def measure(dataset: Dataset) -> dict[str, float]:
    """The statistics of one dataset, targeted ones first; shares are fractions, over the final check-ins."""
    graph = TransitionGraph.from_dataset(dataset)
    checkins = dataset.checkins
    tails, evidence = tail_shares(dataset, graph), evidence_shares(dataset, graph)
    pair = _consecutive(checkins)
    poi, user = checkins[c.POI].to_numpy(), checkins[c.USER].to_numpy()
    jumps = _jumps_km(dataset, pair)
    lengths = checkins.groupby(c.TRAJECTORY).size().to_numpy()
    visits = np.sort(np.bincount(poi))
    users_of_poi = checkins.groupby(c.POI)[c.USER].nunique().to_numpy()
    hours = np.bincount(dataset.local_time.dt.hour.to_numpy(), minlength=24)
    seconds = checkins[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
    gaps_hours = np.diff(seconds)[pair] / 3600
    return {
        "kept check-ins": dataset.manifest.report.kept,
        "users": dataset.num_users,
        "POIs": dataset.num_pois,
        "test cases in history": evidence["in_history_share"],
        "unique tail share": tails["unique_tail_share"],
        "unseen cases": tails["case_unseen_share"],
        "self-transitions": float((poi[:-1] == poi[1:])[pair].mean()),
        **{
            f"user's {name} place": share
            for name, share in zip(("top", "2nd", "3rd", "4th", "5th"), _place_shares(user, poi), strict=True)
        },
        "Gini of POI visits": _gini(visits),
        "mean length of trajectories of 2+": float(lengths[lengths >= 2].mean()),
        "two-hop coverage": hop_statistics(dataset, graph, max_hops=2)[1]["coverage"],
        "tail within two hops": evidence["tail_within_two_hops"],
        "tail in history": evidence["tail_in_history"],
        "median jump, km": float(np.quantile(jumps, 0.5)),
        "90th percentile jump, km": float(np.quantile(jumps, 0.9)),
        "two-hop lift of new places": _lift_of_new_places(LoadedDataset(dataset, graph)),
        "morning peak, hour": int(hours[:12].argmax()),
        "evening peak, hour": 14 + int(hours[14:].argmax()),
        # Untargeted
        "final check-ins": len(checkins),
        "train cases": len(dataset.cases(c.TRAIN)),
        "validation cases": len(dataset.cases(c.VAL)),
        "test cases": len(dataset.cases(c.TEST)),
        "distinct train transitions": tails["transitions"],
        "tail share of test cases": tails["case_tail_share"],
        "single-user POIs": float((users_of_poi == 1).mean()),
        "median users of a POI": float(np.median(users_of_poi)),
        "single-check-in trajectories": float((lengths == 1).mean()),
        "check-ins of the top 5 POIs": float(visits[-5:].sum() / visits.sum()),
        **{f"gap {q:.0%} quantile, hours": float(np.quantile(gaps_hours, q)) for q in (0.1, 0.25, 0.5, 0.75, 0.9)},
        **{f"user's check-ins {q:.0%} quantile": float(np.quantile(np.bincount(user), q)) for q in (0.1, 0.5, 0.9)},
        "median places of a user": float(checkins.groupby(c.USER)[c.POI].nunique().median()),
        "weekend check-ins": float((dataset.local_time.dt.day_of_week >= 5).mean()),
        "check-ins from 0 to 5 h": float(hours[:6].sum() / hours.sum()),
    }


def cut_users(raw: pd.DataFrame, seed: int, checkins: int = CUT_CHECKINS) -> pd.DataFrame:
    """Rows of the fewest users, in the seed's random order, of whom at least so many check-ins are kept."""
    users = np.array(sorted(raw[c.USER_ID].astype(str).unique()))
    order = users[np.random.default_rng(seed).permutation(len(users))]
    low, high = 1, len(order)
    while low < high:
        middle = (low + high) // 2
        if _kept(raw[raw[c.USER_ID].isin(order[:middle])]) >= checkins:
            high = middle
        else:
            low = middle + 1
    return raw[raw[c.USER_ID].isin(order[:low])].reset_index(drop=True)


def prepare(raw: pd.DataFrame, name: str, history: History = "cases_only") -> Dataset:
    """The dataset of cases alone, as the bundle has it: the targets are statistics of these check-ins."""
    return prepare_dataset(raw, DataConfig(history=history), name=name, source_format="benchmark")


def misses(statistics: dict[str, float]) -> list[str]:
    """Targeted statistics outside their tolerance, in words."""
    return [
        f"{name}: {statistics[name]:.4g}, wanted {target.text}"
        for name, target in TARGETS.items()
        if not target.low <= statistics[name] <= target.high
    ]


def _lift_of_new_places(opened: LoadedDataset) -> float:
    """How many times as often two hops hold for the truth as for rivals, see `analysis.long_tail.lift`."""
    table = two_hop_lift(opened, samples=1)
    return float(table.loc[table["control"] == "unvisited", "lift"].iloc[0])


def _consecutive(checkins: pd.DataFrame) -> np.ndarray:
    """Whether each row and the next belong to one trajectory; one shorter than the table."""
    trajectory = checkins[c.TRAJECTORY].to_numpy()
    return trajectory[1:] == trajectory[:-1]


def _jumps_km(dataset: Dataset, pair: np.ndarray) -> np.ndarray:
    where = dataset.pois.iloc[dataset.checkins[c.POI]]
    latitude, longitude = where[c.LATITUDE].to_numpy(), where[c.LONGITUDE].to_numpy()
    return distance_km(latitude[:-1], longitude[:-1], latitude[1:], longitude[1:])[pair]


def _place_shares(user: np.ndarray, poi: np.ndarray, ranks: int = 5) -> list[float]:
    """Mean over users of the share of their check-ins at their most visited place, the second, and so on."""
    counts = pd.Series(1, index=pd.MultiIndex.from_arrays([user, poi])).groupby(level=[0, 1]).sum()
    share = counts / counts.groupby(level=0).transform("sum")
    rank = counts.groupby(level=0).rank(method="first", ascending=False)
    people = len(np.unique(user))
    return [float(share[rank == place].sum() / people) for place in range(1, ranks + 1)]


def _gini(sorted_counts: np.ndarray) -> float:
    size = len(sorted_counts)
    return float(((2 * np.arange(1, size + 1) - size - 1) * sorted_counts).sum() / (size * sorted_counts.sum()))


def _kept(raw: pd.DataFrame, config: DataConfig = DataConfig()) -> int:
    """Check-ins that survive the two minimum counts."""
    pois = raw[c.POI_ID].astype(str).value_counts()
    raw = raw[raw[c.POI_ID].astype(str).map(pois) >= config.min_poi_checkins]
    users = raw[c.USER_ID].astype(str).value_counts()
    return int(users[users >= config.min_user_checkins].sum())


def find_nyc(given: Path | None) -> Path | None:
    """The NYC file, from the argument, RECAP_NYC or data/raw; None if there is none."""
    place = given or Path(os.environ.get("RECAP_NYC", "data/raw"))
    if place.is_dir():
        place = place / "dataset_TSMC2014_NYC.txt.gz"
    return place if place.is_file() else None


def print_table(columns: dict[str, dict[str, float]], pinned: Sequence[str]) -> None:
    """All statistics side by side; a miss of a demo column is marked with *."""
    width = max(len(name) for name in next(iter(columns.values())))
    print(f"{'':{width}} {'target':>17} " + " ".join(f"{name:>10}" for name in columns))
    for row in next(iter(columns.values())):
        target = TARGETS.get(row)
        cells = []
        for name, statistics in columns.items():
            value = statistics[row]
            missed = target is not None and name in pinned and not target.low <= value <= target.high
            number = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.4f}"
            cells.append(f"{number + ('*' if missed else ''):>10}")
        print(f"{row:{width}} {target.text if target else '':>17} " + " ".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[PINNED_SEED, *OTHER_SEEDS])
    parser.add_argument("--nyc", type=Path)
    parser.add_argument("--json", action="store_true", help="only the JSON line")
    arguments = parser.parse_args()

    columns: dict[str, dict[str, float]] = {}
    facts: dict[str, Any] = {"seconds": {}, "hashes": {}}
    for seed in arguments.seeds:
        started = time.perf_counter()
        raw = build_demo_city(seed)
        facts["seconds"][seed] = round(time.perf_counter() - started, 2)
        facts["hashes"][seed] = hash_checkins(raw)
        columns[f"demo {seed}"] = measure(prepare(raw, f"demo {seed}"))
    demos = list(columns)
    nyc_file = find_nyc(arguments.nyc)
    if nyc_file is not None:
        nyc = read_raw(nyc_file, "foursquare")
        columns["NYC"] = measure(prepare(nyc, "NYC"))
        for seed in CUT_SEEDS:
            columns[f"cut {seed}"] = measure(prepare(cut_users(nyc, seed), f"cut {seed}"))
    missed = {name: misses(columns[name]) for name in demos}
    if not arguments.json:
        print_table(columns, demos)
        print()
        for name in demos:
            print(f"{name}: " + ("; ".join(missed[name]) or "every target met"))
    machine = {"python": platform.python_version(), "numpy": np.__version__, "pandas": pd.__version__}
    machine |= {"machine": platform.machine(), "cpus": str(os.cpu_count())}
    print(json.dumps({"benchmark": "demo_city", **facts, "misses": missed, "statistics": columns, "versions": machine}))


if __name__ == "__main__":
    main()
