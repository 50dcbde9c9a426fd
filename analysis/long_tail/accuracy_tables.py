"""Long-tail tables from evaluation records: accuracy by count, groups, cohorts of the tail, shares.

Accuracies are over cases; every table has n.
"""

import math
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.records.accuracy import is_known, is_lower_bound, metric_values
from analysis.records.bootstrap import SAMPLES, GroupMeans, MeanInterval, UserBootstrap, group_means, mean_intervals
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
        interval over users) and ``reference``; values are NaN where n is 0. ``at_least`` and ``reference_at_least``
        only where these are lower bounds, see `is_lower_bound`.

    Raises:
        ConfigError: unknown metric or ``by``.
    """
    bins = count_bins(by)
    table = _grouped(records, bin_of_cases(records, by), len(bins), metric, reference)
    return pd.concat([bins, table], axis=1)


class Rises(NamedTuple):
    """How much accuracy rises from rarest to most frequent: over transitions, over places, and the difference."""

    transition: MeanInterval
    place: MeanInterval
    difference: MeanInterval


def accuracy_rises(records: pd.DataFrame, metric: str) -> Rises:
    """The rises between the first and the last bin with at least `ENOUGH_CASES` cases; NaN without two such bins.

    All three share bootstrap samples. The difference is the rise over transitions minus the size of the change over
    places.
    """
    values, bootstrap = metric_values(records, metric), UserBootstrap(records[c.USER].to_numpy())
    rises, drawn = [], []
    for by in (c.TRANSITION_COUNT, c.DESTINATION_COUNT):
        measured = bootstrap.measure(values, bin_of_cases(records, by), len(count_bins(by)))
        known = np.flatnonzero(measured.n_G >= ENOUGH_CASES)
        if len(known) < 2:
            rises.append(math.nan)
            drawn.append(np.full(SAMPLES, math.nan))
        else:
            rises.append(measured.value_G[known[-1]] - measured.value_G[known[0]])
            drawn.append(measured.drawn_BG[:, known[-1]] - measured.drawn_BG[:, known[0]])
    turn = -1.0 if rises[1] < 0 else 1.0
    both = [[step, place, step - turn * place] for step, place in (rises, drawn)]
    return Rises(*mean_intervals(np.array(both[0]), np.column_stack(both[1])))


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
    means = {name: _over_panels(metric_values(own, metric), panel_N, bootstrap) for name, own in models.items()}
    spans = {name: measured.intervals for name, measured in means.items()}
    others.sort(key=lambda name: -np.nan_to_num(means[name].value_G[0]))
    rows = []
    for number, group in enumerate(("all", *PANELS)):
        best = max(others, key=lambda name: np.nan_to_num(means[name].value_G[number], nan=-1.0), default=None)
        for name in (first, *others):
            row = {"model": name, "group": group, "n": int(means[name].n_G[number])}
            row |= dict(zip(("value", "lower", "upper"), spans[name][number], strict=True))
            row |= {"at_least": is_lower_bound(models[name], metric)}
            if name == first and best is not None:
                mine, theirs = means[name], means[best]
                lead = mean_intervals(mine.value_G - theirs.value_G, mine.drawn_BG - theirs.drawn_BG)[number]
                row |= {"baseline": best} | dict(zip(("lead", "lead_lower", "lead_upper"), lead, strict=True))
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


def _over_panels(value_N: np.ndarray, panel_N: np.ndarray, bootstrap: UserBootstrap) -> GroupMeans:
    """Over all cases, then each of `PANELS`."""
    whole, panels = bootstrap.measure(value_N), bootstrap.measure(value_N, panel_N, len(PANELS))
    return GroupMeans(*(np.concatenate(both, axis=-1) for both in zip(whole, panels, strict=True)))


def paired_difference(a: pd.DataFrame, b: pd.DataFrame, metric: str) -> MeanInterval:
    """Accuracy of a minus that of b over the same cases."""
    difference_N = metric_values(a, metric) - metric_values(b, metric)
    return UserBootstrap(a[c.USER].to_numpy()).measure(difference_N).intervals[0]


class RareAccuracy(NamedTuple):
    """Accuracy on rare transitions to known and to new places; NaN without cases.

    Known places are behind frequent transitions, new places are behind known ones.
    """

    n_known: int
    n_new: int
    known: float
    new: float
    known_behind: MeanInterval
    new_behind: MeanInterval


def rare_accuracy(records: pd.DataFrame, metric: str, eta: int = TAIL_MAX_COUNT) -> RareAccuracy:
    """A model's accuracy in each of `PANELS`, and their differences with 95 % intervals over users."""
    value_N, panel_N = metric_values(records, metric), panel_of_cases(records, eta)
    n_G, value_G, drawn_BG = UserBootstrap(records[c.USER].to_numpy()).measure(value_N, panel_N, len(PANELS))
    known, new, frequent = range(len(PANELS))
    ahead, behind = [frequent, known], [known, new]
    differences = mean_intervals(value_G[ahead] - value_G[behind], drawn_BG[:, ahead] - drawn_BG[:, behind])
    return RareAccuracy(*n_G[behind].tolist(), *value_G[behind].tolist(), *differences)


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
    measured = UserBootstrap(records[c.USER].to_numpy()).measure(metric_values(records, metric), groups, num_groups)
    table = pd.DataFrame(measured.intervals, columns=["value", "lower", "upper"])
    table.insert(0, "n", measured.n_G)
    if reference is not None:
        if not np.array_equal(reference[c.CASE].to_numpy(), records[c.CASE].to_numpy()):
            raise ConfigError("the reference's records are of other cases; evaluate both on the same dataset and split")
        table["reference"] = group_means(metric_values(reference, metric), groups, num_groups)[1]
    for name, model in (("at_least", records), ("reference_at_least", reference)):
        if model is not None and is_lower_bound(model, metric):
            table[name] = True
    return table
