"""The evidence ranker beside counters and the nearest place: what named evidence says, and how long it takes to fit.

    python benchmarks/evidence.py DATASET [--split val] [--protocol every_step] [--seed 0] [--threads 1]

Prints one JSON line for each scorer: metrics of all, head, tail and unseen cases, seconds and library versions; for the
ranker also its weights and how the fit went.
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path

import torch

from recap import columns as c
from recap.baselines import COUNTING_BASELINES
from recap.baselines.building import build_baseline
from recap.baselines.evidence import EvidenceRanker
from recap.baselines.evidence_config import EvidenceRankerConfig
from recap.checkpoint import library_versions
from recap.data.cases import PROTOCOLS
from recap.data.dataset import Dataset
from recap.evaluation.evaluate import evaluate
from recap.graph import TransitionGraph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--split", default="test", choices=c.SPLIT_NAMES)
    parser.add_argument("--protocol", default="every_step", choices=PROTOCOLS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", dest="assignments", action="append", default=[], metavar="FIELD=VALUE")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    dataset = Dataset.load(options.dataset)
    graph = TransitionGraph.from_dataset(dataset)
    config = EvidenceRankerConfig().override(options.assignments)

    started, cpu_started = time.perf_counter(), time.process_time()
    ranker = EvidenceRanker.fit(dataset, graph, config, seed=options.seed)
    fit = {
        "fit_seconds": time.perf_counter() - started,
        "fit_cpu_seconds": time.process_time() - cpu_started,
        "facts": ranker.facts,
        "config": config.model_dump(mode="json"),
        "weights": {**ranker.dense_weights, **ranker.packed_weights},
    }
    where = {
        "versions": library_versions(),
        "machine": platform.platform(),
        "cores": os.cpu_count(),
        "threads": options.threads,
    }
    scorers = [build_baseline(name, dataset, graph) for name in COUNTING_BASELINES]
    for scorer in (*scorers, ranker):
        evaluation = evaluate(
            scorer, dataset, graph, split=c.SPLIT_NAMES.index(options.split), protocol=options.protocol
        )
        line = {"split": options.split, **evaluation.summary(), **(fit if scorer is ranker else {}), **where}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
