"""Long-tail tables from evaluation records: accuracy by count, groups, cohorts of the tail, shares.

Accuracies are over cases; every table has n.
"""

import math
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.records.accuracy import is_known, is_lower_bound, metric_values
from analysis.records.bootstrap import SAMPLES, UserBootstrap, group_means, interval
from analysis.records.case_groups import COHORTS, PANELS, By, bin_of_cases, cohort_of_cases, count_bins, panel_of_cases
from analysis.records.evaluation_records import MODEL_LABELS
from recap import columns as c
from recap.baselines import AT_TIME
from recap.errors import ConfigError
from recap.history.graph import TAIL_MAX_COUNT

USER_METRICS: Final = ("hr1", "hr20", "mrr")
ENOUGH_CASES: Final = 20
"""Bins with fewer cases show no trend."""


def accuracy_by_count(
    records: pd.DataFrame, by: By, metric: str, *, reference: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Accuracy in bins of how often the transition or the target occurred in training (Figs. 2 and 10).

    Args:
        by: ``transition_count`` (0 to 9, 10+) or ``destination_count``.
        metric: one of `recap.evaluation.metrics.METRICS`.
        reference: another model's records of the same cases.

    Returns:
        One row per bin: ``bin, low, high`` (counts, both included, -1 for open), ``n, value, lower, upper`` (95 %
        interval over users) and ``reference``; values are NaN where n is 0.

    Raises:
        ConfigError: unknown metric or ``by``.
    """
    bins = count_bins(by)
    table = _grouped(records, bin_of_cases(records, by), len(bins), metric, reference)
    return pd.concat([bins, table], axis=1)


def accuracy_rises(records: pd.DataFrame, metric: str) -> pd.DataFrame:
    """How much accuracy rises from rarest to most frequent, over transitions and places, and the difference.

    The ends are the first and the last bin with at least `ENOUGH_CASES` cases. All three share bootstrap samples. The
    difference is the rise over transitions minus the size of the change over places.

    Returns:
        Rows ``transition, place, difference`` (column ``over``): ``first, last`` (accuracy at the ends; NaN for the
        difference), ``rise, lower, upper`` (95 % interval over users); NaN without two such bins.
    """
    values = metric_values(records, metric)
    bootstrap = UserBootstrap(records[c.USER].to_numpy())
    rises: dict[str, tuple[float, float, np.ndarray]] = {}
    for name, by in (("transition", c.TRANSITION_COUNT), ("place", c.DESTINATION_COUNT)):
        groups, bins = bin_of_cases(records, by), len(count_bins(by))
        count, mean = group_means(values, groups, bins)
        known = np.flatnonzero(count >= ENOUGH_CASES)
        if len(known) < 2:
            rises[name] = math.nan, math.nan, np.full(SAMPLES, math.nan)
            continue
        drawn = bootstrap.means(values, groups, bins)
        first, last = int(known[0]), int(known[-1])
        rises[name] = float(mean[first]), float(mean[last]), drawn[:, last] - drawn[:, first]
    (step_first, step_last, step_B), (place_first, place_last, place_B) = rises["transition"], rises["place"]
    turn = -1.0 if place_last < place_first else 1.0
    lower, upper = interval(np.column_stack([step_B, place_B, step_B - turn * place_B]))
    step, place = step_last - step_first, place_last - place_first
    return pd.DataFrame(
        {
            "over": ["transition", "place", "difference"],
            "first": [step_first, place_first, math.nan],
            "last": [step_last, place_last, math.nan],
            "rise": [step, place, step - turn * place],
            "lower": lower,
            "upper": upper,
        }
    )


def accuracy_by_group(models: Mapping[str, pd.DataFrame], metric: str) -> pd.DataFrame:
    """Every model over all cases and each of `PANELS`, and the first model's lead over the best other one.

    Args:
        models: label -> records of the same cases; the first is the model in question.

    Returns:
        One row per group (``all``, then `PANELS`) and model, the first model first, then the best over all cases:
        ``model, group, n, value, lower, upper`` (95 % interval over users), ``at_least`` (see `is_lower_bound`). The
        first model also has ``lead`` (over the
        best other model in that group), ``lead_lower, lead_upper`` (paired over users) and ``baseline``.
    """
    first, *others = models
    records = models[first]
    bootstrap, panel_N = UserBootstrap(records[c.USER].to_numpy()), panel_of_cases(records)
    found = {name: _measure(metric_values(own, metric), panel_N, bootstrap) for name, own in models.items()}
    others.sort(key=lambda name: -np.nan_to_num(found[name].value_G[0]))
    rows = []
    for at, group in enumerate(("all", *PANELS)):
        best = max(others, key=lambda name: np.nan_to_num(found[name].value_G[at], nan=-1.0), default=None)
        for name in (first, *others):
            measured = found[name]
            lower, upper = interval(measured.drawn_BG[:, [at]])
            row = {"model": name, "group": group, "n": int(measured.n_G[at]), "value": float(measured.value_G[at])}
            row |= {
                "lower": float(lower[0]),
                "upper": float(upper[0]),
                "at_least": is_lower_bound(models[name], metric),
            }
            if name == first and best is not None:
                low, high = interval((measured.drawn_BG - found[best].drawn_BG)[:, [at]])
                row |= {"baseline": best, "lead": float(measured.value_G[at] - found[best].value_G[at])}
                row |= {"lead_lower": float(low[0]), "lead_upper": float(high[0])}
            rows.append(row)
    return pd.DataFrame(rows)


MOST_SHOWN: Final = 6


def lead_models(groups: pd.DataFrame, published: Collection[str]) -> pd.DataFrame:
    """Rows of `accuracy_by_group` for a figure of at most `MOST_SHOWN` models.

    They are the model in question, the feature curves, the two counts of past visits, the best published model or
    imported predictions, and the better of popularity and distance.
    """
    first, *others = dict.fromkeys(groups["model"])
    counts = [MODEL_LABELS[name] for name in ("feature_curves", "visit_count", "count_plus_markov", AT_TIME)]
    chosen = {first, *counts}
    simplest = {MODEL_LABELS[name] for name in ("popularity", "nearest")}
    for wanted in (published, simplest):
        chosen |= set([name for name in others if name in wanted][:1])  # the best over all cases comes first
    shown = [name for name in (first, *others) if name in chosen][:MOST_SHOWN]
    return groups[groups["model"].isin(shown)]


class _Measured(NamedTuple):
    """Over all cases, then each of `PANELS`."""

    n_G: np.ndarray
    value_G: np.ndarray
    drawn_BG: np.ndarray


def _measure(value_N: np.ndarray, panel_N: np.ndarray, bootstrap: UserBootstrap) -> _Measured:
    groups = ((np.zeros_like(panel_N), 1), (panel_N, len(PANELS)))
    counts, means = zip(*(group_means(value_N, *group) for group in groups), strict=True)
    drawn = [bootstrap.means(value_N, *group) for group in groups]
    return _Measured(np.concatenate(counts), np.concatenate(means), np.concatenate(drawn, axis=1))


class Difference(NamedTuple):
    """Lead of one model over another over all cases, with its 95 % interval over users."""

    value: float
    lower: float
    upper: float


def paired_difference(a: pd.DataFrame, b: pd.DataFrame, metric: str) -> Difference:
    """Accuracy of a minus that of b over the same cases."""
    value_N, everyone_N = metric_values(a, metric) - metric_values(b, metric), np.zeros(len(a), dtype=np.int64)
    lower, upper = interval(UserBootstrap(a[c.USER].to_numpy()).means(value_N, everyone_N, 1))
    return Difference(float(value_N.mean()) if len(value_N) else math.nan, float(lower[0]), float(upper[0]))


class RareAccuracy(NamedTuple):
    """Accuracy on rare transitions to known and to new places; NaN without cases.

    Known places are behind frequent transitions, new places are behind known ones.
    """

    n_known: int
    n_new: int
    known: float
    new: float
    known_behind: Difference
    new_behind: Difference


def rare_accuracy(records: pd.DataFrame, metric: str, eta: int = TAIL_MAX_COUNT) -> RareAccuracy:
    """A model's accuracy in each of `PANELS`, and their differences with 95 % intervals over users."""
    value_N, panel_N = metric_values(records, metric), panel_of_cases(records, eta)
    n, (known, new, frequent) = group_means(value_N, panel_N, len(PANELS))
    drawn_known, drawn_new, drawn_frequent = (
        UserBootstrap(records[c.USER].to_numpy()).means(value_N, panel_N, len(PANELS)).T
    )
    lower, upper = interval(np.column_stack([drawn_frequent - drawn_known, drawn_known - drawn_new]))
    behind = [
        Difference(float(value), float(low), float(high))
        for value, low, high in zip((frequent - known, known - new), lower, upper, strict=True)
    ]
    return RareAccuracy(int(n[0]), int(n[1]), float(known), float(new), *behind)


def table_of_models(groups: pd.DataFrame) -> pd.DataFrame:
    """`accuracy_by_group` with one row per model: ``model``, then ``<group>, <group>_lower, <group>_upper``."""
    names = list(dict.fromkeys(groups["model"]))
    table = pd.DataFrame({"model": names})
    for group in ("all", *PANELS):
        rows = groups[groups["group"] == group].set_index("model").loc[names]
        for column, suffix in (("value", ""), ("lower", "_lower"), ("upper", "_upper")):
            table[f"{group}{suffix}"] = rows[column].to_numpy()
    return table


def accuracy_by_cohort(
    records: pd.DataFrame, metric: str, *, eta: int = TAIL_MAX_COUNT, reference: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Tail accuracy by the target's kind: known or new, within two hops or not (Fig. 7).

    Four rows in the order of `COHORTS`: ``is_known, within_two_hops, n, value, lower, upper, reference``.
    """
    cohorts = cohort_of_cases(records, eta)
    table = _grouped(records, cohorts, len(COHORTS), metric, reference)
    flags = pd.DataFrame(list(COHORTS), columns=[c.IS_KNOWN, c.WITHIN_TWO_HOPS])
    return pd.concat([flags, table], axis=1)


def accuracy_by_user(records: pd.DataFrame, num_users: int) -> pd.DataFrame:
    """Accuracy of each user (``user, n`` and `USER_METRICS`), those with most cases first.

    A user of the dataset without cases has n = 0 and no accuracy.
    """
    known = [metric for metric in USER_METRICS if is_known(records, metric)]
    values = pd.DataFrame({metric: metric_values(records, metric) for metric in known}, index=records[c.USER])
    grouped = values.groupby(level=0)
    table = grouped.mean().assign(n=grouped.size()).reindex(range(num_users)).rename_axis(c.USER).reset_index()
    table["n"] = table["n"].fillna(0).astype(np.int64)
    return table[[c.USER, "n", *known]].sort_values(["n", c.USER], ascending=[False, True], ignore_index=True)


def transition_distribution(cases: pd.DataFrame) -> pd.DataFrame:
    """Training counts of the distinct test transitions, most frequent first (Fig. 9).

    One row per occurring count: ``transition_count, pairs, share, from_share, to_share`` (cumulated shares of the
    distinct transitions) and ``cases, case_share``.
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
    """Share of the distinct transitions (or, with ``case_share``, of the cases) that occurred at most eta times."""
    return float(distribution.loc[distribution[c.TRANSITION_COUNT] <= eta, column].sum())


def _grouped(
    records: pd.DataFrame, groups: np.ndarray, num_groups: int, metric: str, reference: pd.DataFrame | None
) -> pd.DataFrame:
    values = metric_values(records, metric)
    count, mean = group_means(values, groups, num_groups)
    drawn = UserBootstrap(records[c.USER].to_numpy()).means(values, groups, num_groups)
    lower, upper = interval(drawn)
    table = pd.DataFrame({"n": count, "value": mean, "lower": lower, "upper": upper})
    if reference is not None:
        if not np.array_equal(reference[c.CASE].to_numpy(), records[c.CASE].to_numpy()):
            raise ConfigError("the reference's records are of other cases; evaluate both on the same dataset and split")
        table["reference"] = group_means(metric_values(reference, metric), groups, num_groups)[1]
    return table
