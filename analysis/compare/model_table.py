"""One table of all models and metrics for a paper: Markdown, LaTeX or CSV."""

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import pandas as pd

from analysis.compare.head_share import reweight
from analysis.compare.side import check_same_cases
from analysis.records.accuracy import METRIC_LABELS, is_known, is_lower_bound, metric_values
from analysis.records.bootstrap import UserBootstrap, interval
from recap import columns as c
from recap.evaluation.metrics import METRICS
from recap.storage.frames import mark_formulas

FORMS: Final = ("markdown", "latex", "csv")
_SPECIAL: Final = {char: f"\\{char}" for char in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}


def model_table(models: Mapping[str, pd.DataFrame], *, weighted: bool = False) -> pd.DataFrame:
    """Accuracy of each model by each metric, with 95 % intervals over users; weighted, as `reweight` does.

    Args:
        models: records by label, at least one, all of the same cases.

    Returns:
        One row per model and metric: ``model, metric, value, low, high, at_least`` (see `is_lower_bound`); NaN where
        short imported lists do not say.
    """
    check_same_cases(*models.values())
    users_N = next(iter(models.values()))[c.USER].to_numpy()
    bootstrap, everyone_N = UserBootstrap(users_N), np.zeros(len(users_N), dtype=np.int64)
    rows = []
    for label, records in models.items():
        for metric in METRICS:
            row: dict[str, object] = {"model": label, "metric": metric, "value": math.nan, "low": math.nan}
            if is_known(records, metric) and weighted:
                row |= reweight(records, metric, bootstrap)
            elif is_known(records, metric):
                value_N = metric_values(records, metric)
                low, high = interval(bootstrap.means(value_N, everyone_N, 1))
                row |= {"value": float(value_N.mean()), "low": float(low[0]), "high": float(high[0])}
            rows.append(row | {"at_least": is_lower_bound(records, metric)})
    return pd.DataFrame(rows, columns=["model", "metric", "value", "low", "high", "at_least"])


def write_table(table: pd.DataFrame, form: str, *, intervals: bool = False) -> str:
    """The table of `model_table` as text; in Markdown and LaTeX the best value is bold, the second underlined."""
    if form == "csv":
        shown = {"value": "{}"} | ({"low": "{}_low", "high": "{}_high"} if intervals else {})
        shown |= {"at_least": "{}_at_least"} if table["at_least"].any() else {}
        rows = [
            {"model": label}
            | {
                name.format(row["metric"]): row[at]
                for row in rows.to_dict("records")
                for at, name in shown.items()
                if at != "at_least" or row["metric"] == "mrr"
            }
            for label, rows in table.groupby("model", sort=False)
        ]
        return mark_formulas(pd.DataFrame(rows)).to_csv(index=False)
    marks: tuple[Callable[[str], str], ...] = (
        (lambda text: f"**{text}**", lambda text: f"<u>{text}</u>")
        if form == "markdown"
        else (lambda text: rf"\textbf{{{text}}}", lambda text: rf"\underline{{{text}}}")
    )
    lines = []
    for label in table["model"].unique():
        cells = [_latex(str(label)) if form == "latex" else str(label).replace("|", r"\|")]
        for metric in METRICS:
            column = table[table["metric"] == metric]
            best = sorted(column["value"].dropna().round(4).unique(), reverse=True)[: len(marks)]
            row = column[column["model"] == label].iloc[0]
            text = _cell(row, best, marks, intervals=intervals)
            cells.append(text.replace("≥", r"$\geq$") if form == "latex" else text)
        lines.append(cells)
    heads = ["Model", *(METRIC_LABELS[metric] for metric in METRICS)]
    if form == "markdown":
        return markdown_table(heads, lines) + "\n"
    body = [f"{' & '.join(cells)} \\\\" for cells in (heads, *lines)]
    start = [f"\\begin{{tabular}}{{l{'r' * len(METRICS)}}}", r"\toprule", body[0], r"\midrule"]
    return "\n".join([*start, *body[1:], r"\bottomrule", r"\end{tabular}", ""])


def markdown_table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; the first column is text, the others are numbers."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))


def _cell(row: pd.Series, best: list[float], marks: tuple[Callable[[str], str], ...], *, intervals: bool) -> str:
    if math.isnan(row["value"]):
        return "--"
    value = round(float(row["value"]), 4)
    text = f"{value:.4f}"
    shown = ("≥ " if row["at_least"] else "") + (marks[best.index(value)](text) if value in best else text)
    return f"{shown} [{row['low']:.4f}, {row['high']:.4f}]" if intervals else shown


def _latex(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in text)
