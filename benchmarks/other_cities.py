"""recap_weighed beside the evidence rankers on two synthetic cities of other seeds, shares of returns and routes.

    python -m benchmarks.other_cities OUT [--people 300] [--seeds 3407 3408 3409]

``homely``: a third of the usual exploration, and few shared routes are looked at; ``curious``: three times as much, and
twice as many. Prints one JSON line for each city: statistics, and test differences with
95 % intervals over users, each case's values averaged over the seeds.
"""

import argparse
import json
from pathlib import Path
from typing import Final

import torch

from analysis.compare.paired import compare_means, comparison_rows
from recap import columns as c
from recap.baselines.building import build_baseline
from recap.data.cleaning import DataConfig
from recap.data.preparation import prepare_dataset
from recap.data.synthetic import walk
from recap.data.synthetic.city import build_demo_city
from recap.evaluation.cases import describe_cases
from recap.evaluation.scoring import rank_cases
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.presets import train_preset
from recap.training.run import train

CITIES: Final = {"homely": (101, 200, 10), "curious": (202, 1_800, 80)}
"""Seed, per mille of the usual chance to explore, and how many shared routes are looked at."""
RIVALS: Final = ("evidence", "evidence_sessions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[3407, 3408, 3409])
    parser.add_argument("--preset", default="recap_weighed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name, (seed, explore, looks) in CITIES.items():
        vars(walk).update(_EXPLORE_PART=explore, _LOOKS=looks)
        raw = build_demo_city(seed, options.people)
        dataset = prepare_dataset(raw, DataConfig(), name=name, source_format="benchmark")
        graph, checkins = TransitionGraph.from_dataset(dataset), CheckinTensors.from_dataset(dataset)
        cases = describe_cases(dataset, graph)
        ours = []
        for seed in options.seeds:
            config = train_preset(options.preset).model_copy(update={"seed": seed})
            folder = options.out / f"{name}-{seed}"
            checkpoint = train(dataset, config, folder, device=torch.device("cpu"))
            if checkpoint is not None:
                ours.append(rank_cases(checkpoint.scorer(dataset, graph), cases, checkins))
        rivals = {rival: rank_cases(build_baseline(rival, dataset, graph), cases, checkins) for rival in RIVALS}
        metrics, groups = ("hr1", "hr20", "ndcg20", "mrr"), ("all", "head", "tail")
        line = {
            "city": name,
            "users": dataset.num_users,
            "pois": dataset.num_pois,
            "cases": len(cases),
            "target_in_history": float(cases[c.IN_HISTORY].mean()),
            "within_two_hops": float(cases[c.WITHIN_TWO_HOPS].mean()),
            "seeds": len(ours),
            "differences": {
                rival: comparison_rows(compare_means(ours, [records], metrics=metrics, groups=groups))
                for rival, records in rivals.items()
            },
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
