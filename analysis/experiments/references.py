"""Numbers from elsewhere beside an experiment's: the paper's, and those of a system's public code on the same split."""

from math import isnan, sqrt
from typing import Final, NamedTuple

import numpy as np

from analysis.experiments.results import ArmResult, ExperimentResult, value_at
from analysis.experiments.spec import Column

PAPER_CASES: Final = {"all": 958, "head": 313, "tail": 645}
"""The paper's New York cases, read from the digits of its tables (`grim`)."""


class Difference(NamedTuple):
    """One arm against one source of numbers: column key -> difference in standard errors, ours less theirs."""

    label: str
    other: str
    steps: dict[str, float]
    reason: str


def paper_columns(result: ExperimentResult) -> list[Column]:
    """The columns in which other numbers stand beside ours: over trajectory_last cases, as the paper's are."""
    printed = set().union(*(arm.paper for arm in result.arms))
    columns: dict[str, Column] = {}
    for column in result.columns:
        key = column.key.replace("every_step.", "trajectory_last.", 1)
        if key not in columns or column.key == key:  # the experiment's own column says best what it is
            columns[key] = column.model_copy(update={"key": key})
    return [column for key, column in columns.items() if key in printed and key.startswith("trajectory_last.")]


def paper_sentence(result: ExperimentResult) -> str:
    """How many cases stand on both sides; empty where the paper has no number."""
    if not paper_columns(result):
        return ""
    n = [value_at(result.arms[0].values, f"trajectory_last.{group}.n") or 0 for group in PAPER_CASES]
    ours = f"trajectory_last, n = {n[0]:,.0f} (head {n[1]:,.0f}, tail {n[2]:,.0f})"
    theirs = PAPER_CASES
    paper = f"n = {theirs['all']} (head {theirs['head']}, tail {theirs['tail']}) of its own split"
    return f"Beside the paper: {ours}; the paper's are over {paper}, see the digits of its tables."


def differences(result: ExperimentResult) -> list[Difference]:
    """Every arm with values against the paper and against its public code, where numbers of them are known."""
    rows = []
    for name in dict.fromkeys(arm.arm for arm in result.arms):
        runs = result.runs_of(name)
        for other, theirs, cases in (
            ("the paper", runs[0].paper, PAPER_CASES),
            ("its public code", runs[0].public, None),
        ):
            steps = {key: step for key, value in theirs.items() if (step := _step(runs, key, value, cases)) is not None}
            if steps:
                far = any(abs(step) > 2 for step in steps.values())
                rows.append(Difference(runs[0].label, other, steps, (runs[0].reason or "not known") if far else ""))
    return rows


def _step(runs: list[ArmResult], key: str, theirs: float, cases: dict[str, int] | None) -> float | None:
    """(ours - theirs) / (s sqrt(1 / n + 1 / n')), s from our cases; both sides' cases taken as independent."""
    protocol, _, rest = key.partition(".")
    group, _, metric = rest.partition(".")
    ours = [value for run in runs if (value := value_at(run.values, key)) is not None]
    spreads = [value for run in runs if (value := value_at(run.values, f"deviation.{group}.{metric}")) is not None]
    n = value_at(runs[0].values, f"{protocol}.{group}.n")
    if not ours or not spreads or not n or protocol != "trajectory_last":
        return None
    error = float(np.mean(spreads)) * sqrt(1 / n + 1 / (cases[group] if cases else n))
    step = (float(np.mean(ours)) - theirs) / error if error else float("nan")
    return None if isnan(step) else step
