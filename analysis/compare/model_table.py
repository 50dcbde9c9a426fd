"""One table of all models and metrics for a paper: Markdown, LaTeX or CSV."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from analysis.compare.comparison import PairedCases, found_within
from analysis.compare.head_share import head_weights, is_tail, reweight
from analysis.compare.side import MeanSide, check_same_cases
from analysis.compare.words import as_points, p_value
from analysis.records.accuracy import METRIC_LABELS, is_known, is_lower_bound, metric_values
from analysis.records.bootstrap import UserBootstrap
from analysis.records.evaluation_records import PROTOCOL
from recap.errors import ConfigError
from recap.evaluation.cases import is_known_place
from recap.evaluation.metrics import METRICS
from recap.storage.frames import mark_formulas

FORMS: Final = ("markdown", "latex", "csv")
_GROUPS: Final = {"tail": "rare", "head": "frequent", "new": "new"}
"""Groups next to all cases, as columns; new: a place new to the user."""
_SPECIAL: Final = {char: f"\\{char}" for char in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
_SEED: Final = re.compile(r"[\s,_-]*\bseed[\s_=-]*\d+$", re.IGNORECASE)
_MARKS: Final = {"markdown": ("**{}**", "<u>{}</u>"), "latex": (r"\textbf{{{}}}", r"\underline{{{}}}")}
"""Of the best value and the second."""


def merge_seeds(models: Mapping[str, pd.DataFrame], imported: Collection[str]) -> dict[str, list[pd.DataFrame]]:
    """Records by model; imported ones that differ only in a seed at their name's end become one model.

    >>> tables = dict.fromkeys(["GRU seed 1", "GRU, seed=2", "RECAP seed 3"], pd.DataFrame())
    >>> {name: len(seeds) for name, seeds in merge_seeds(tables, ["GRU seed 1", "GRU, seed=2"]).items()}
    {'GRU': 2, 'RECAP seed 3': 1}
    """
    bases = [_SEED.sub("", label) for label in imported]
    merged: dict[str, list[pd.DataFrame]] = {}
    for label, records in models.items():
        base = _SEED.sub("", label)
        several = label in imported and bases.count(base) > 1 and base not in models
        merged.setdefault(base if several else label, []).append(records)
    return merged


def model_table(
    models: Mapping[str, Sequence[pd.DataFrame]],
    *,
    metric: str = "mrr",
    against: str | None = None,
    dataset: str = "",
    protocol: str = PROTOCOL,
    weighted: bool = False,
) -> pd.DataFrame:
    """Accuracy of each model by each metric, with 95 % intervals over users, and its test against one model.

    Args:
        models: records of each seed by label, at least one, all of the same cases.
        metric: of the groups and of the test.
        against: label of the model to test against; by default the first.
        weighted: over all cases, frequent ones count as in the paper.

    Returns:
        A row per model, group (``all, tail, head, new``) and metric (of groups, the one chosen): ``value, low, high``,
        ``sd`` over ``seeds``, ``at_least`` (see `is_lower_bound`) and ``n``; for ``metric`` over all cases
        ``difference, difference_low, difference_high, p`` against ``against``. NaN where short lists do not say.

    Raises:
        ConfigError: ``against`` is no model of the table.
    """
    against = next(iter(models)) if against is None else against
    if against not in models:
        raise ConfigError(f"--against names a model of the table, got {against!r}; there are: {', '.join(models)}")
    every = [table for tables in models.values() for table in tables]
    check_same_cases(*every)
    paired, tail_N = PairedCases(every[0], weighted=weighted), is_tail(every[0]).astype(bool)
    groups = {"all": np.ones(len(tail_N), bool), "tail": tail_N, "head": ~tail_N, "new": ~is_known_place(every[0])}
    rows = []
    for label, tables in models.items():
        for group, kept_N in groups.items():
            for name in METRICS if group == "all" else (metric,):
                row: dict[str, object] = {"model": label, "group": group, "metric": name, "n": int(kept_N.sum())}
                if kept_N.any() and all(is_known(table, name) for table in tables):
                    row |= _accuracy(tables, name, kept_N, paired.bootstrap, weighted=weighted and group == "all")
                if group == "all" and name == metric and label != against:
                    row |= _tested(models[against], tables, name, paired)
                rows.append(row | {"seeds": len(tables), "at_least": any(is_lower_bound(one, name) for one in tables)})
    facts = {"against": against, "protocol": protocol, "dataset": dataset}
    columns = ["model", "group", "metric", "value", "low", "high", "sd", "seeds", "at_least", *_TEST, "n"]
    return pd.DataFrame(rows, columns=columns).assign(**facts)


_TEST: Final = ("difference", "difference_low", "difference_high", "p")


def _accuracy(
    tables: Sequence[pd.DataFrame], metric: str, kept_N: np.ndarray, bootstrap: UserBootstrap, *, weighted: bool
) -> dict[str, float]:
    """Mean over cases and seeds, its interval over users, and the standard deviation of the seeds' means."""
    value_SN, tail_N = np.stack([metric_values(table, metric) for table in tables]), is_tail(tables[0])
    weight_N = head_weights(tail_N) if weighted else kept_N.astype(float)
    mean_S, mean_N = np.average(value_SN, axis=1, weights=weight_N), value_SN.mean(axis=0)
    if weighted:
        estimate = reweight(mean_N, tail_N, bootstrap)
    else:
        (estimate,) = bootstrap.measure(mean_N, np.where(kept_N, 0, -1)).intervals
    spread = float(mean_S.std(ddof=1)) if len(tables) > 1 else math.nan
    return {**estimate._asdict(), "value": float(mean_S.mean()), "sd": spread}


def _tested(
    against: Sequence[pd.DataFrame], tables: Sequence[pd.DataFrame], metric: str, paired: PairedCases
) -> dict[str, float]:
    """As Compare tests; means over seeds are no hits, so they have no McNemar test."""
    if not all(is_known(table, metric) for table in (*against, *tables)):
        return {}
    a, b = (MeanSide("", "", seeds[0], tuple(seeds[1:])) for seeds in (against, tables))
    row = paired.compare(a, b, metric, found_within(metric), None)[0].iloc[0]
    p = row["p"] if len(against) == len(tables) == 1 else row["sign_flip_p"]
    cells = zip(_TEST, (row["difference"], row["low"], row["high"], p), strict=True)
    return {name: float(value) for name, value in cells}


def write_table(table: pd.DataFrame, form: str, *, intervals: bool = False) -> str:
    """The table of `model_table` as text; in Markdown and LaTeX the best value is bold, the second underlined."""
    if form == "csv":
        return _csv(table, intervals=intervals)
    metric = str(table[table["group"] != "all"]["metric"].iloc[0])
    marks, escaped = _MARKS[form], _latex if form == "latex" else _markdown
    shown = [("all", name) for name in METRICS] + [(group, metric) for group in _GROUPS]
    labels = [METRIC_LABELS[name] for name in METRICS] + [word.capitalize() for word in _GROUPS.values()]
    lines = []
    for label in table["model"].unique():
        cells = [escaped(label)]
        for group, name in shown:
            column = table[(table["metric"] == name) & (table["group"] == group)]
            best = sorted(column["value"].dropna().round(4).unique(), reverse=True)[: len(marks)]
            cells.append(_cell(column[column["model"] == label].iloc[0], best, marks, intervals=intervals))
        tested = table[(table["model"] == label) & (table["group"] == "all") & (table["metric"] == metric)].iloc[0]
        facts = [f"{tested['n']:,}", escaped(tested["protocol"]), escaped(tested["dataset"])]
        lines.append([*cells, *_test_cells(tested), *facts])
    heads = ["Model", *labels, "Difference", "p", "n", "Protocol", "Dataset"]
    caption = _caption(table, metric)
    if form == "markdown":
        return "\n".join([markdown_table(heads, lines), "", caption, ""])
    body = [f"{' & '.join(map(_symbols, cells))} \\\\" for cells in (heads, *lines)]
    start = [f"\\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}", r"\toprule", body[0], r"\midrule"]
    return "\n".join([*start, *body[1:], r"\bottomrule", r"\end{tabular}", f"% {caption}", ""])


def markdown_table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; the first column is text, the others are numbers."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))


def _caption(table: pd.DataFrame, metric: str) -> str:
    """What the numbers of the groups and of the test are of."""
    counts = table.drop_duplicates("group").set_index("group")["n"]
    groups = ", ".join(f"{word} {counts[group]:,}" for group, word in _GROUPS.items())
    seeds = " ±: standard deviation over seeds." if (table["seeds"] > 1).any() else ""
    return (
        f"Of n: {groups}. Groups, difference and p: {METRIC_LABELS[metric]}, against {table['against'].iloc[0]}, "
        f"in points, 95 % interval over users.{seeds}"
    )


def _test_cells(row: pd.Series) -> list[str]:
    if math.isnan(row["difference"]):
        return ["--", "--"]
    low, high = as_points(row["difference_low"]), as_points(row["difference_high"])
    return [f"{as_points(row['difference'])} [{low}, {high}]", p_value(row["p"])]


def _csv(table: pd.DataFrame, *, intervals: bool) -> str:
    """A row per model, with every digit."""
    shown = {"value": "{}"} | ({"low": "{}_low", "high": "{}_high"} if intervals else {})
    shown |= {"sd": "{}_sd"} if (table["seeds"] > 1).any() else {}
    shown |= {"at_least": "{}_at_least"} if table["at_least"].any() else {}
    rows = []
    for label, mine in table.groupby("model", sort=False):
        row: dict[str, object] = {"model": label}
        for one in mine.to_dict("records"):
            name = one["metric"] if one["group"] == "all" else f"{one['metric']}_{_GROUPS[one['group']]}"
            row |= {form.format(name): one[key] for key, form in shown.items() if key != "at_least" or name == "mrr"}
        tested = mine[mine["difference"].notna()].head(1)
        row |= {name: tested[name].iloc[0] if len(tested) else math.nan for name in _TEST}
        rows.append(row | mine[["against", "seeds", "n", "protocol", "dataset"]].iloc[0].to_dict())
    return mark_formulas(pd.DataFrame(rows)).to_csv(index=False)


def _cell(row: pd.Series, best: list[float], marks: Sequence[str], *, intervals: bool) -> str:
    if math.isnan(row["value"]):
        return "--"
    value = round(float(row["value"]), 4)
    text = f"{value:.4f}"
    shown = ("≥ " if row["at_least"] else "") + (marks[best.index(value)].format(text) if value in best else text)
    shown += f" ± {row['sd']:.4f}" if row["seeds"] > 1 else ""
    return f"{shown} [{row['low']:.4f}, {row['high']:.4f}]" if intervals else shown


def _symbols(text: str) -> str:
    for sign, latex in {"≥": r"$\geq$", "≤": r"$\leq$", "±": r"$\pm$", "−": "$-$"}.items():
        text = text.replace(sign, latex)
    return text


def _markdown(text: str) -> str:
    return text.replace("|", r"\|")


def _latex(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in text)
