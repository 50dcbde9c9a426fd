"""The honest table: checkpoints beside counters, the nearest place and the evidence ranker.

    python benchmarks/table.py DATASET [CHECKPOINT ...] [--protocol every_step] [--no-evidence]

Prints a Markdown table over all and tail cases, then one JSON line with seconds and versions. With ``--protocol
trajectory_last``, the paper's kind of cases, every scorer has a second row at the paper's share of head cases with its
95 % interval over users, and on NYC the paper's row stands beside them, over its own n.
"""

import argparse
import json
import time
from pathlib import Path

import pandas as pd

from analysis.experiments.references import PAPER_CASES
from analysis.experiments.reweighting import PAPER_HEAD_SHARE, reweight
from analysis.experiments.spec import load_spec
from recap.baselines import BASELINES, COUNTING_BASELINES
from recap.baselines.building import build_baseline
from recap.checkpoint import Checkpoint, library_versions
from recap.data.cases import PROTOCOLS
from recap.data.dataset import Dataset
from recap.evaluation.evaluate import evaluate
from recap.graph import TransitionGraph
from recap.presets import DATA_PRESETS

METRICS = ("hr1", "hr20", "ndcg20", "mrr")
COLUMNS = tuple((group, metric) for group in ("all", "tail") for metric in METRICS)
PAPER_KIND = "trajectory_last"
NEW_YORK = tuple(name for name in DATA_PRESETS if name.startswith("nyc"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("checkpoints", type=Path, nargs="*")
    parser.add_argument("--protocol", default="every_step", choices=PROTOCOLS)
    parser.add_argument(
        "--no-evidence", action="store_true", help="leave out the evidence ranker, which must be fitted"
    )
    options = parser.parse_args()
    dataset = Dataset.load(options.dataset)
    graph = TransitionGraph.from_dataset(dataset)
    names = COUNTING_BASELINES if options.no_evidence else BASELINES
    scorers = [(name, build_baseline(name, dataset, graph)) for name in names]
    for folder in options.checkpoints:
        checkpoint = Checkpoint.load(folder)
        train = checkpoint.manifest.train
        label = (
            f"{checkpoint.manifest.model} `{train.preset}`, seed {train.seed}, epoch {checkpoint.manifest.best.epoch}"
        )
        scorers.append((label, checkpoint.scorer(dataset, graph)))
    seconds = {}
    lines = []
    sizes = ""
    for label, scorer in scorers:
        evaluation = evaluate(scorer, dataset, graph, protocol=options.protocol)
        seconds[label] = evaluation.seconds
        lines.append(row(label, [told(evaluation.metrics[group][metric]) for group, metric in COLUMNS]))
        if options.protocol == PAPER_KIND:
            lines.append(at_the_papers_share(label, evaluation.records))
        head, tail = (evaluation.metrics[group]["n"] for group in ("head", "tail"))
        sizes = f"n = {evaluation.metrics['all']['n']:,} (head {head:,}, tail {tail:,})"
    print(f"Test, protocol `{options.protocol}`, {sizes}, dataset `{dataset.hash[:12]}`\n")
    print("| | HR@1 | HR@20 | NDCG@20 | MRR | tail HR@1 | tail HR@20 | tail NDCG@20 | tail MRR |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    print("\n".join(lines))
    if options.protocol == PAPER_KIND and dataset.manifest.preset in NEW_YORK:
        print(papers_row())
    date = time.strftime("%Y-%m-%d")
    print(json.dumps({"benchmark": "table", "date": date, "evaluate_seconds": seconds, "versions": library_versions()}))


def papers_row() -> str:
    """The paper's RECAP on New York, over the cases of its own split."""
    arm = next(arm for arm in load_spec("paper").arms if arm.paper)
    n = f"n = {PAPER_CASES['all']} (head {PAPER_CASES['head']}, tail {PAPER_CASES['tail']})"
    cells = [told(arm.paper[f"{PAPER_KIND}.{group}.{metric}"]) for group, metric in COLUMNS]
    return row(f"the paper's RECAP, its own split, {n}", cells)


def at_the_papers_share(label: str, records: pd.DataFrame) -> str:
    found = [reweight(records, metric) for metric in METRICS]
    cells = [f"{told(one['value'])} [{told(one['low'])}, {told(one['high'])}]" for one in found]
    return row(f"{label}, at the paper's head share {told(PAPER_HEAD_SHARE)}", [*cells, *["–"] * len(METRICS)])


def row(label: str, cells: list[str]) -> str:
    return f"| {label} | " + " | ".join(cells) + " |"


def told(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}".removeprefix("0")


if __name__ == "__main__":
    main()
