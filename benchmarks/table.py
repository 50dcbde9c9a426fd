"""The honest table: checkpoints beside counters, the nearest place, the evidence ranker and the row of the paper.

    python benchmarks/table.py DATASET [CHECKPOINT ...] [--protocol every_step] [--no-evidence]

Prints a Markdown table over all, tail and unseen cases, then one JSON line with seconds and versions.
"""

import argparse
import json
import time
from pathlib import Path

from recap.baselines import BASELINES, COUNTING_BASELINES
from recap.baselines.building import build_baseline
from recap.checkpoint import Checkpoint, library_versions
from recap.data.cases import PROTOCOLS
from recap.data.dataset import Dataset
from recap.evaluation.evaluate import evaluate
from recap.graph import TransitionGraph

COLUMNS = (("all", "hr1"), ("all", "hr20"), ("all", "ndcg20"), ("all", "mrr"))
TAIL_COLUMNS = (("tail", "hr1"), ("tail", "hr20"), ("tail", "ndcg20"), ("tail", "mrr"))
PAPER_NYC = (
    "| the paper's RECAP, its split (n = 7,060) | .3166 | .7648 | .5322 | .4610 | .1958 | .6605 | .4078 | .3325 |"
)


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
        cells = [f"{evaluation.metrics[group][name]:.4f}".lstrip("0") for group, name in (*COLUMNS, *TAIL_COLUMNS)]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
        sizes = f"n = {evaluation.metrics['all']['n']:,} cases, {evaluation.metrics['tail']['n']:,} tail"
    print(f"Test, protocol `{options.protocol}`, {sizes}, dataset `{dataset.hash[:12]}`\n")
    print("| | HR@1 | HR@20 | NDCG@20 | MRR | tail HR@1 | tail HR@20 | tail NDCG@20 | tail MRR |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    print("\n".join(lines))
    if dataset.manifest.preset == "nyc":
        print(PAPER_NYC)
    date = time.strftime("%Y-%m-%d")
    print(json.dumps({"benchmark": "table", "date": date, "evaluate_seconds": seconds, "versions": library_versions()}))


if __name__ == "__main__":
    main()
