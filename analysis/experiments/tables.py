"""Results as tables for people: Markdown from result files alone.

The same files always give the same text, so a page of results can be generated, and tested to be up to date.
"""

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from analysis.experiments.beside_paper import twelve_columns
from analysis.experiments.references import differences, paper_columns, paper_sentence
from analysis.experiments.results import ArmComparison, ArmResult, ExperimentResult, mean_at, value_at
from analysis.experiments.reweighting import PAPER_HEAD_SHARE
from analysis.experiments.spec import Column
from analysis.experiments.templating import fill_template
from analysis.records.accuracy import METRIC_LABELS

_MISSING: Final = "–"


def result_table(result: ExperimentResult) -> pd.DataFrame:
    """One row per arm: means over seeds by column key, ``paper:<key>`` beside them, average ranks by label.

    Returns:
        Columns ``arm, label, seeds``, then the numbers (NaN where an arm has none).
    """
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(arm.arm for arm in result.arms):
        runs = result.runs_of(name)
        label = f"{runs[0].label}{_what_was_run(runs, [run for run in result.arms if run.arm == name])}"
        row: dict[str, Any] = {"arm": name, "label": label, "seeds": len(runs)}
        keys = {column.key for column in (*result.columns, *paper_columns(result))}
        keys = keys.union(*result.average_rank.values(), runs[0].paper)
        for key in sorted(keys):
            values = [value for run in runs if (value := value_at(run.values, key)) is not None]
            row[key] = float(np.mean(values)) if values else np.nan
            row[f"spread:{key}"] = float(np.std(values, ddof=1)) if len(values) > 1 else np.nan
            row[f"paper:{key}"] = runs[0].paper.get(key, np.nan)
        rows.append(row)
    table = pd.DataFrame(rows)
    for label, ranked in result.average_rank.items():
        table[f"rank:{label}"] = table[list(ranked)].rank(ascending=False, method="min").mean(axis=1)
    return table


def _what_was_run(runs: list[ArmResult], wanted: list[ArmResult]) -> str:
    """Empty where every seed was run."""
    if runs[0].note:
        return f" ({runs[0].note})"
    if len(runs) < len(wanted):
        seeds = ", ".join(str(run.seed) for run in runs)
        missing = next(run for run in wanted if run.note)
        return f" (of {len(wanted)} seeds {seeds} alone; each further one {missing.note})"
    return ""


def markdown(result: ExperimentResult) -> str:
    """An experiment's section: what was asked, how it was run, the table, the comparisons."""
    return fill_template(
        "experiment.md.j2",
        result=result,
        how=_how(result),
        arms=_arms(result, result.columns, ranked=_ranks(result, beside=False)),
        beside_paper=_beside_paper(result),
        paper_cases=paper_sentence(result),
        twelve=twelve_columns(result),
        references=_references(result),
        has_public=any(arm.public for arm in result.arms),
        points=_points(result),
        compared=_compared(result),
        costs=_costs(result),
    )


def page(folder: Path) -> str:
    """The page of results from a folder of ``<nn>-<name>.json`` results and ``.md`` texts, in order of their names.

    A text stands where its name puts it, so measurements and readings lie beside the tables they belong to.
    """
    parts = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".json":
            parts.append(markdown(ExperimentResult.load(path)))
        elif path.suffix == ".md":
            parts.append(path.read_text(encoding="utf-8").strip() + "\n")
    return fill_template("results.md.j2", folder=folder.name, parts=parts).removesuffix("\n")


class Cells(NamedTuple):
    """A table in words: headings, and each row's label with its cells."""

    heads: list[str]
    rows: list[tuple[str, list[str]]]


def _how(result: ExperimentResult) -> list[str]:
    trained = [arm for arm in result.arms if arm.seed is not None and not arm.note]
    n = value_at(result.arms[0].values, "every_step.all.n") if result.arms else None
    tail = value_at(result.arms[0].values, "every_step.tail.n") if result.arms else None
    presets = ", ".join(f"`{name}`" for name in dict.fromkeys(arm.preset for arm in trained if arm.preset))
    epochs = sorted({arm.epochs for arm in trained if arm.epochs})
    # Columns of what the kept epoch reached while it trained are over validation cases, and those alone.
    split = "validation" if all(column.key.startswith("val.") for column in result.columns) else "test"
    if split == "validation":
        n = None
    kind = "a synthetic city" if result.synthetic else "real check-ins"
    return [
        f"{result.dataset_name} ({kind}, dataset `{result.dataset_hash[:12]}`), {split}",
        f"every_step n = {n:,.0f} (tail {tail:,.0f})" if n is not None and tail is not None else "",
        f"preset {presets}{''.join(f', `{change}`' for change in result.changes)}" if presets else "",
        f"{'/'.join(map(str, epochs))} epochs" if epochs else "",
        f"seed{'s' if len(result.seeds) > 1 else ''} {', '.join(map(str, result.seeds))}" if trained else "",
        f"{result.date}, {result.hardware}, torch {result.versions['torch']}",
        f"`{result.command}`",
        "" if result.finished else "**not finished**",
    ]


def _beside_paper(result: ExperimentResult) -> Cells:
    """Ours and the paper's over the paper's kind of cases, and ours again at the paper's share of head cases."""
    columns = paper_columns(result)
    if not columns:
        return Cells([], [])
    cells = _arms(result, tuple(columns), ranked=_ranks(result, beside=True))
    rows = []
    for name, row in zip(dict.fromkeys(arm.arm for arm in result.arms), cells.rows, strict=True):
        rows.append(row)
        again = [_reweighted(result, name, column) for column in columns]
        if any(value != _MISSING for value in again):
            filled = [cell for value in again for cell in (value, "")]
            filled += [""] * (len(cells.heads) - len(filled))
            rows.append((f"{row[0]}, at the paper's head share {PAPER_HEAD_SHARE:.4f}".replace(" 0.", " ."), filled))
    return Cells(cells.heads, rows)


def _reweighted(result: ExperimentResult, arm: str, column: Column) -> str:
    """An accuracy over all cases at the paper's head share, with its interval where every seed measured one."""
    protocol, group, metric = column.key.split(".")
    if group != "all":
        return _MISSING
    runs = result.runs_of(arm)
    head, tail = (mean_at(runs, f"{protocol}.{cases}.{metric}") for cases in ("head", "tail"))
    if head is None or tail is None:
        return _MISSING
    text = _number(PAPER_HEAD_SHARE * head + (1 - PAPER_HEAD_SHARE) * tail, column.digits)
    low, high = (mean_at(runs, f"reweighted.{metric}.{end}") for end in ("low", "high"))
    if low is None or high is None:
        return text
    return f"{text} [{_number(low, column.digits)}, {_number(high, column.digits)}]"


def _ranks(result: ExperimentResult, *, beside: bool) -> list[str]:
    """Average ranks over the paper's kind of cases stand beside its accuracies, the others in the first table."""
    if not paper_columns(result):
        return [] if beside else list(result.average_rank)
    return [
        label
        for label, keys in result.average_rank.items()
        if all(key.startswith("trajectory_last.") for key in keys) == beside
    ]


def _references(result: ExperimentResult) -> Cells:
    """How far arms lie from the paper and from their public code on the same split, in standard errors."""
    columns, found = paper_columns(result), differences(result)
    rows = [
        (f"{row.label}, to {row.other}", [*(_steps(row.steps.get(column.key)) for column in columns), row.reason])
        for row in found
    ]
    return Cells([*(column.label for column in columns), "why"] if rows else [], rows)


def _steps(value: float | None) -> str:
    if value is None:
        return _MISSING
    text = f"{value:+.1f}"
    return f"**{text}**" if abs(value) > 2 else text


def _arms(result: ExperimentResult, columns: tuple[Column, ...], *, ranked: list[str]) -> Cells:
    table = result_table(result)
    with_paper = [column.key for column in columns if table[f"paper:{column.key}"].notna().any()]
    heads = []
    for column in columns:
        heads.append(column.label)
        if column.key in with_paper:
            heads.append("paper")
    heads += ranked
    rows = []
    for _, row in table.iterrows():
        cells = []
        for column in columns:
            key, digits = column.key, column.digits
            spread = row[f"spread:{key}"]
            cells.append(_number(row[key], digits) + ("" if np.isnan(spread) else f" ± {_number(spread, digits)}"))
            if key in with_paper:
                cells.append(_number(row[f"paper:{key}"], digits))
        cells += [_number(row[f"rank:{label}"], 2) for label in ranked]
        rows.append((str(row["label"]), cells))
    return Cells(heads, rows)


def _costs(result: ExperimentResult) -> Cells:
    """Wall seconds and memory of each arm, all of one run, and what a whole training adds up to."""
    if result.costs is None:
        return Cells([], [])
    heads = ["learned numbers", "set-up, s", "s an epoch", "epochs", "all epochs, min", "and validations, min"]
    heads += ["test, s", "memory, GB"]
    rows = []
    for arm in result.costs.arms:
        steps = validated = None
        if arm.epochs is not None and arm.epoch_seconds is not None:
            steps = (arm.setup_seconds + arm.epochs * arm.epoch_seconds) / 60
            validated = steps + arm.epochs * arm.test_seconds / 60
        values = (
            (arm.parameters, 0),
            (arm.setup_seconds, 1),
            (arm.epoch_seconds, 1),
            (arm.epochs, 0),
            (steps, 1),
            (validated, 1),
            (arm.test_seconds, 1),
            (arm.peak_gb, 2),
        )
        rows.append((arm.label, [_MISSING if value is None else _number(value, digits) for value, digits in values]))
    return Cells(heads, rows)


def _points(result: ExperimentResult) -> list[list[str]]:
    return [
        [
            arm.label,
            f"{point['epoch']:.0f}",
            *(_number(point[f"{group}.hr1"], 4) for group in ("all", "head", "tail")),
        ]
        for arm in result.arms
        for point in arm.test_points
    ]


def _compared(result: ExperimentResult) -> Cells:
    labels = {arm.arm: arm.label for arm in result.arms}
    metrics = list(dict.fromkeys(row.metric for row in result.comparisons))
    rows = []
    for one, other in dict.fromkeys((row.arm, row.rival) for row in result.comparisons):
        for group in dict.fromkeys(row.group for row in result.comparisons):
            cells = [
                _difference(row)
                for metric in metrics
                for row in result.comparisons
                if (row.arm, row.rival, row.group, row.metric) == (one, other, group, metric)
            ]
            rows.append((f"{labels[one]} − {labels[other]}", [group, *cells]))
    return Cells([METRIC_LABELS[metric] for metric in metrics], rows)


def _difference(row: ArmComparison) -> str:
    if row.difference is None or row.low is None or row.high is None:
        return _MISSING
    return f"{row.difference:+.4f} [{row.low:+.4f}, {row.high:+.4f}]"


def _number(value: float, digits: int) -> str:
    if value is None or np.isnan(value):
        return _MISSING
    text = f"{value:,.{digits}f}"
    return text.removeprefix("0") if 0 <= value < 1 and digits else text
