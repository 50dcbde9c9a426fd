"""How long Compare takes: 25,000 invented test cases, ten scorers, every pair and metric.

    python benchmarks/compare.py [--cases 25000] [--users 3000] [--scorers 10]

Prints one JSON line: processor seconds to draw what all comparisons share (once for a dataset), the median
and longest of one comparison, and of listing a cell's cases. Set OMP_NUM_THREADS=1.
"""

import argparse
import itertools
import json
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis.compare.cells import CELLS, cell_mask, listed_cases
from analysis.compare.comparison import METRICS, PairedCases, compare
from analysis.compare.side import Side
from recap import columns as c


def invented_cases(num_cases: int, num_users: int, seed: int = 0) -> pd.DataFrame:
    """A case table of the size of the published datasets; most steps are rare, as in them."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            c.CASE: np.arange(num_cases),
            c.USER: rng.integers(0, num_users, num_cases),
            c.SOURCE: rng.integers(0, 10_000, num_cases),
            c.TARGET: rng.integers(0, 10_000, num_cases),
            c.TRANSITION_COUNT: np.minimum(rng.geometric(0.4, num_cases) - 1, 50),
            c.DESTINATION_COUNT: rng.integers(0, 500, num_cases),
            c.IN_HISTORY: rng.random(num_cases) < 0.8,
            c.WITHIN_TWO_HOPS: rng.random(num_cases) < 0.5,
        }
    )


def invented_side(cases: pd.DataFrame, number: int) -> Side:
    """A scorer whose ranks are drawn; two scorers agree on most cases."""
    rng = np.random.default_rng(number + 1)
    shared = np.random.default_rng(0).geometric(0.15, len(cases)) - 1
    better = np.where(rng.random(len(cases)) < 0.15, rng.geometric(0.15, len(cases)) - 1, shared)
    ranked = cases.copy()
    ranked[c.NUM_BETTER], ranked[c.NUM_TIED] = better, 1
    ranked[c.RANK], ranked[c.RECIPROCAL_RANK] = better + 1.0, 1.0 / (better + 1.0)
    return Side(f"scorer{number}", f"Scorer {number}", (ranked,))


def seconds(work: Callable[[], Any]) -> float:
    """Processor seconds of a call, on one thread: what other processes do does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("cases", 25_000), ("users", 3_000), ("scorers", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    cases = invented_cases(asked.cases, asked.users)
    sides = [invented_side(cases, number) for number in range(asked.scorers)]
    shared: list[PairedCases] = []
    once = seconds(lambda: shared.append(PairedCases(cases)))
    pairs = list(itertools.combinations(sides, 2))
    each = [
        seconds(lambda a=a, b=b, m=metric: compare(shared[0], a, b, m))  # type: ignore[misc]
        for (a, b), metric in zip(pairs, itertools.cycle(METRICS), strict=False)
    ]
    lists = [
        seconds(lambda a=a, b=b, cell=cell: listed_cases(a, b, cell_mask(a, b, 20, cell, np.ones(1))))  # type: ignore[misc]
        for (a, b), cell in zip(pairs, itertools.cycle(CELLS), strict=False)
    ]
    told = {
        "cases": asked.cases,
        "users": asked.users,
        "pairs": len(pairs),
        "once_s": round(once, 3),
        "compare_median_s": round(float(np.median(each)), 3),
        "compare_longest_s": round(max(each), 3),
        "list_median_s": round(float(np.median(lists)), 3),
        "list_longest_s": round(max(lists), 3),
        "python": platform.python_version(),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
