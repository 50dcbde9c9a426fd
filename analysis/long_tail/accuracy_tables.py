"""Long-tail tables out of evaluation records: accuracy by count, groups against baselines, cohorts of the tail, shares.

Accuracies are over cases; every table carries n.
"""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd

from analysis.records.accuracy import metric_values
from analysis.records.bootstrap import SAMPLES, UserBootstrap, group_means, interval
from analysis.records.case_groups import COHORTS, By, bin_of_cases, cohort_of_cases, count_bins
from recap import columns as c
from recap.errors import ConfigError
from recap.evaluation.metrics import GROUPS, group_masks
from recap.graph import TAIL_MAX_COUNT

ENOUGH_CASES: Final = 20
"""Bins with fewer cases say nothing about a trend."""


def accuracy_by_count(
    records: pd.DataFrame,
    by: By,
    metric: str,
    *,
    reference: pd.DataFrame | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Accuracy in bins of how often the step, or the target, occurred in training (Figs. 2 and 10).

    Args:
        records: one model's evaluation records.
        by: ``transition_count`` (0 to 9, 10+) or ``destination_count``.
        metric: one of `recap.evaluation.metrics.METRICS`.
        reference: another model's records of the same cases.
        samples, seed: of the user bootstrap.

    Returns:
        One row per bin, empty ones too: ``bin, low, high`` (counts, both included, -1 for open), ``n, value, lower,
        upper`` (95 % interval over users) and ``reference``; values are NaN where n is 0.

    Raises:
        ConfigError: unknown metric or ``by``.
    """
    bins = count_bins(by)
    table = _grouped(records, bin_of_cases(records, by), len(bins), metric, reference, samples, seed)
    return pd.concat([bins, table], axis=1)


def accuracy_rises(records: pd.DataFrame, metric: str, *, samples: int = SAMPLES, seed: int = 0) -> pd.DataFrame:
    """How much accuracy rises from the rarest to the most frequent bin, over steps, over places, and the difference.

    The ends are the first and the last bin with at least `ENOUGH_CASES` cases. All three are drawn together, so that
    the difference is paired; it is the step's rise less the place's, the latter turned to its own direction.

    Returns:
        Rows ``step, place, difference`` (column ``over``): ``first, last`` (accuracy at the ends; NaN for the
        difference), ``rise, lower, upper`` (95 % interval over users); NaN where a panel has no two such bins.
    """
    values = metric_values(records, metric)
    bootstrap = UserBootstrap(records[c.USER].to_numpy(), samples, seed)
    rises: dict[str, tuple[float, float, np.ndarray]] = {}
    for name, by in (("step", c.TRANSITION_COUNT), ("place", c.DESTINATION_COUNT)):
        groups, bins = bin_of_cases(records, by), len(count_bins(by))
        count, mean = group_means(values, groups, bins)
        known = np.flatnonzero(count >= ENOUGH_CASES)
        if len(known) < 2:
            rises[name] = math.nan, math.nan, np.full(samples, math.nan)
            continue
        drawn = bootstrap.means(values, groups, bins)
        first, last = int(known[0]), int(known[-1])
        rises[name] = float(mean[first]), float(mean[last]), drawn[:, last] - drawn[:, first]
    (step_first, step_last, step_B), (place_first, place_last, place_B) = rises["step"], rises["place"]
    turn = -1.0 if place_last < place_first else 1.0
    lower, upper = interval(np.column_stack([step_B, place_B, step_B - turn * place_B]))
    step, place = step_last - step_first, place_last - place_first
    return pd.DataFrame(
        {
            "over": ["step", "place", "difference"],
            "first": [step_first, place_first, math.nan],
            "last": [step_last, place_last, math.nan],
            "rise": [step, place, step - turn * place],
            "lower": lower,
            "upper": upper,
        }
    )


def accuracy_by_group(
    models: Mapping[str, pd.DataFrame],
    metric: str,
    *,
    eta: int = TAIL_MAX_COUNT,
    samples: int = SAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Every model over all, head, tail and unseen cases, and the first one's lead over the best of the others.

    Args:
        models: label -> records of the same cases; the first is the model in question.
        eta: a step is tail when it occurred at most this often in training.

    Returns:
        One row per model and group: ``model, group, n, value, lower, upper``, and for the first model ``lead``
        (over the best other model in that group), ``lead_lower, lead_upper`` (paired over users) and ``baseline``.
    """
    names = list(models)
    first = models[names[0]]
    bootstrap = UserBootstrap(first[c.USER].to_numpy(), samples, seed)
    rows = []
    for group in GROUPS:
        inside = np.where(_in_group(first, group, eta), 0, -1)
        values = {name: metric_values(records, metric) for name, records in models.items()}
        means = {name: group_means(value, inside, 1) for name, value in values.items()}
        drawn = {name: bootstrap.means(value, inside, 1) for name, value in values.items()}
        baseline = max(names[1:], key=lambda name: np.nan_to_num(means[name][1][0], nan=-1.0), default=None)
        for name in names:
            lower, upper = interval(drawn[name])
            row = {
                "model": name,
                "group": group,
                "n": int(means[name][0][0]),
                "value": float(means[name][1][0]),
                "lower": float(lower[0]),
                "upper": float(upper[0]),
            }
            if name == names[0] and baseline is not None:
                lead_lower, lead_upper = interval(drawn[name] - drawn[baseline])
                row |= {
                    "baseline": baseline,
                    "lead": float(means[name][1][0] - means[baseline][1][0]),
                    "lead_lower": float(lead_lower[0]),
                    "lead_upper": float(lead_upper[0]),
                }
            rows.append(row)
    return pd.DataFrame(rows)


def accuracy_by_cohort(
    records: pd.DataFrame,
    metric: str,
    *,
    eta: int = TAIL_MAX_COUNT,
    reference: pd.DataFrame | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Tail accuracy by where the target lies: visited before or not, within two hops or not (Fig. 7).

    Returns:
        Four rows in the order of `COHORTS`: ``in_history, within_two_hops, n, value, lower, upper, reference``.
    """
    cohorts = cohort_of_cases(records, eta)
    table = _grouped(records, cohorts, len(COHORTS), metric, reference, samples, seed)
    flags = pd.DataFrame(list(COHORTS), columns=[c.IN_HISTORY, c.WITHIN_TWO_HOPS])
    return pd.concat([flags, table], axis=1)


def transition_distribution(cases: pd.DataFrame) -> pd.DataFrame:
    """Training counts of the distinct test steps, most frequent first (Fig. 9).

    Args:
        cases: the case table or any records; one row per case.

    Returns:
        One row per occurring count, descending: ``transition_count, pairs, share, from_share, to_share`` (cumulated
        shares of the distinct steps) and ``cases, case_share``.
    """
    pairs = cases.drop_duplicates([c.SOURCE, c.TARGET])[c.TRANSITION_COUNT]
    count = pairs.value_counts().sort_index(ascending=False)
    over_cases = cases[c.TRANSITION_COUNT].value_counts().reindex(count.index, fill_value=0)
    share = count.to_numpy() / max(len(pairs), 1)
    upto = np.cumsum(share)
    return pd.DataFrame(
        {
            c.TRANSITION_COUNT: count.index.to_numpy(np.int64),
            "pairs": count.to_numpy(np.int64),
            "share": share,
            "from_share": upto - share,
            "to_share": upto,
            "cases": over_cases.to_numpy(np.int64),
            "case_share": over_cases.to_numpy() / max(len(cases), 1),
        }
    )


def tail_share(distribution: pd.DataFrame, eta: int, column: str = "share") -> float:
    """Share of the distinct steps (or, with ``case_share``, of the cases) that occurred at most eta times."""
    return float(distribution.loc[distribution[c.TRANSITION_COUNT] <= eta, column].sum())


def _grouped(
    records: pd.DataFrame,
    groups: np.ndarray,
    num_groups: int,
    metric: str,
    reference: pd.DataFrame | None,
    samples: int,
    seed: int,
) -> pd.DataFrame:
    values = metric_values(records, metric)
    count, mean = group_means(values, groups, num_groups)
    drawn = UserBootstrap(records[c.USER].to_numpy(), samples, seed).means(values, groups, num_groups)
    lower, upper = interval(drawn)
    table = pd.DataFrame({"n": count, "value": mean, "lower": lower, "upper": upper})
    if reference is not None:
        if not np.array_equal(reference[c.CASE].to_numpy(), records[c.CASE].to_numpy()):
            raise ConfigError("the reference's records are of other cases; evaluate both on the same dataset and split")
        table["reference"] = group_means(metric_values(reference, metric), groups, num_groups)[1]
    return table


def _in_group(records: pd.DataFrame, group: str, eta: int) -> np.ndarray:
    return group_masks(records[c.TRANSITION_COUNT], eta)[group].to_numpy(bool)
