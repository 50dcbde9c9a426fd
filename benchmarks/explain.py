"""How long explanations take on a real checkpoint: one JSON line per measure.

    python benchmarks/explain.py CHECKPOINT --data DATASET [--cases 200] [--seed 0]

Goals on two cores with the NYC check-ins: contributions, paths and sentences 80 ms; the full object with every
ablation and path cut 400 ms at the 95th percentile; a case with its robustness checks, read from tables, 300 ms at the
95th; the table of ablations 90 s; an edit ranked again 150 ms at the 95th percentile. One epoch with every part on is
enough, since accuracy plays no role:

    recap train DATASET --preset paper --epochs 1 --set curriculum.staged=false --out CHECKPOINT
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import AddVisit, Edit, RemoveVisit, SetEdge, SetHour, SetSource, SwitchOff
from analysis.explain.explain_case import explain_case
from analysis.explain.robustness import check_rows
from analysis.explain.what_if import what_if
from analysis.records.causes import ablations_key, pieces_of
from analysis.records.table_cache import table_in_pieces
from analysis.workspace import Workspace
from recap.asking.predictor import Predictor
from recap.checkpoint import library_versions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cases", type=int, default=200, help="random test cases per measure")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="torch threads; fewer than cores where others use the machine")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    predictor = Workspace.open(arguments.data, arguments.checkpoint).predictor
    generator = np.random.default_rng(arguments.seed)
    numbers = generator.choice(len(predictor.cases), min(arguments.cases, len(predictor.cases)), replace=False).tolist()
    explain_case(predictor, numbers[0])  # warm up
    report = Reporter(predictor)
    report.timed("contributions_paths_sentences", numbers, lambda n: explain_case(predictor, n, counterfactuals=False))
    report.timed("full_object", numbers, lambda n: explain_case(predictor, n))
    table = ablations_timed(report, predictor)
    seeds = dict.fromkeys(range(1, 5), table)  # any numbers will do
    report.timed("case_with_checks", numbers, lambda n: explain_case(predictor, n, checks=True, seeds=seeds))
    report.timed("checks_alone", numbers, lambda n: check_rows(build_edited_case(predictor, n), seeds))
    edits = {number: random_edit(predictor, number, generator) for number in numbers}

    def edit_and_rank(number: int) -> None:
        edited_case = build_edited_case(predictor, number, (edits[number],))
        what_if(edited_case, int(edited_case.total_P.argmax()))

    report.timed("one_edit_ranked_again", numbers, edit_and_rank)


def ablations_timed(report: "Reporter", predictor: Predictor) -> pd.DataFrame:
    """Time the whole table of ablations and count its progress reports."""
    done_so_far: list[int] = []
    started = time.perf_counter(), time.process_time()
    key, rows = ablations_key(predictor.dataset.hash, predictor.checkpoint.hash), len(predictor.cases)
    pieces = pieces_of(lambda: predictor)
    table = table_in_pieces(key, pieces, rows=rows, keep=False, progress=lambda done, _: done_so_far.append(done))
    seconds = {"seconds": time.perf_counter() - started[0], "cpu_seconds": time.process_time() - started[1]}
    report.line("table_of_ablations", n=len(table), pieces=len(done_so_far), **seconds)
    return table


class Reporter:
    """Prints JSON lines with load, versions and hardware."""

    def __init__(self, predictor: Predictor) -> None:
        self.common: dict[str, Any] = {
            "dataset": predictor.dataset.hash[:12],
            "checkpoint": predictor.checkpoint.hash[:12],
            "hidden_dim": predictor.model.config.hidden_dim,
            "pois": predictor.dataset.num_pois,
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "versions": library_versions(),
        }

    def line(self, measure: str, **values: Any) -> None:
        load = {"load_1min": round(os.getloadavg()[0], 2)}
        print(json.dumps({"measure": measure, **values, **load, **self.common}), flush=True)

    def timed(self, measure: str, numbers: list[int], work: Callable[[int], object]) -> None:
        """Wall and processor milliseconds of one piece of work over cases."""
        wall, processor = [], []
        for number in numbers:
            started = time.perf_counter(), time.process_time()
            work(number)
            wall.append(1000 * (time.perf_counter() - started[0]))
            processor.append(1000 * (time.process_time() - started[1]))
        quantiles = {f"p{q}_ms": round(float(np.percentile(wall, q)), 1) for q in (50, 95, 99)}
        cpu = {f"cpu_p{q}_ms": round(float(np.percentile(processor, q)), 1) for q in (50, 95)}
        self.line(measure, n=len(numbers), **quantiles, **cpu)


def random_edit(predictor: Predictor, number: int, generator: np.random.Generator) -> Edit:
    """Any single edit that fits the case."""
    edited_case = build_edited_case(predictor, number)
    history = edited_case.variant.history
    now = pd.Timestamp(int(history.local_seconds_H[-2]), unit="s")
    choices: list[Edit] = [
        AddVisit(poi=edited_case.target, local_time=now.floor("min").to_pydatetime()),
        SetHour(hour=int(generator.integers(0, 24))),
        SetSource(poi=int(generator.integers(0, predictor.dataset.num_pois))),
        SetEdge(source=edited_case.source, destination=edited_case.target, count=5),
        SwitchOff(name="graph_token"),
    ]
    if len(history) > 3:
        choices.append(RemoveVisit(visit=int(generator.integers(0, len(history) - 2))))
    fitting = [edit for edit in choices if not isinstance(edit, SwitchOff) or edited_case.has_token]
    return fitting[int(generator.integers(0, len(fitting)))]


if __name__ == "__main__":
    main()
