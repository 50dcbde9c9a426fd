"""What one training step, and one exact ranking, cost on a prepared dataset; `benchmarks/scale.py` runs it.

    python benchmarks/scale_model.py train DATASET [--steps 100] [--precision bf16] [--epoch-cases 1_000_000]
    python benchmarks/scale_model.py rank DATASET [--cases 10_000] [--of-cases 500]

`train` takes RECAP in the paper's sizes with every part on, a sampled softmax, batches of 512; after a warm-up it times
steps and extrapolates an epoch from their mean. `rank` ranks test cases among all places in float64, by a model as it
is before its first step (the cost is the same), and extrapolates to the cases asked for. Both print one JSON line.
"""

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from recap import columns as c
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.evaluation.scoring import rank_cases
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.model.config import Stage
from recap.model.recap import Recap, RecapScorer
from recap.presets import nyc_tuned
from recap.training.trainer import Trainer
from recap.training_config import SampledSoftmax, TrainConfig

WARM_UP_STEPS = 10


class Clock:
    """Wall and processor seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Wall and processor seconds."""
        return time.perf_counter() - self._wall, time.process_time() - self._processor


def measure_training(dataset: Dataset, steps: int, precision: str, epoch_cases: int) -> dict[str, Any]:
    """Seconds of building a trainer and of a step with everything on, and what an epoch of so many cases would take."""
    share = min(1.0, epoch_cases / len(dataset.cases(c.TRAIN)))
    changes = {
        "label_smoothing": 0.0,
        "sampled_softmax": SampledSoftmax().model_dump(),
        "latest_share": share,
        "validation_cases": 10_000,
        "test_cases": 10_000,
        "precision": precision,
    }
    config = TrainConfig.parse(nyc_tuned().model_dump() | changes)
    building = Clock()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(dataset, config, Path(folder), torch.device("cpu"))
        built, built_processor = building.read()
        trainer._begin_epoch(config.epochs)  # its last epoch: every part acts
        size = config.batch_size

        def take(first: int, count: int) -> None:
            for step in range(first, first + count):
                start = step * size % max(1, trainer.num_examples - size)
                trainer._learn(slice(start, start + size))

        take(0, WARM_UP_STEPS)
        clock = Clock()
        take(WARM_UP_STEPS, steps)
        wall, processor = (seconds / steps for seconds in clock.read())
    steps_per_epoch = -(-epoch_cases // size)
    return {
        "build_seconds": round(built, 1),
        "build_cpu_seconds": round(built_processor, 1),
        "train_cases": trainer.num_examples,
        "transitions": trainer.graph.num_transitions,
        "precision": precision,
        "steps": steps,
        "step_seconds": round(wall, 3),
        "step_cpu_seconds": round(processor, 3),
        "epoch_cases": epoch_cases,
        "epoch_minutes_extrapolated": round(wall * steps_per_epoch / 60, 1),
        "epoch_cpu_minutes_extrapolated": round(processor * steps_per_epoch / 60, 1),
    }


def measure_ranking(dataset: Dataset, cases: int, of_cases: int) -> dict[str, Any]:
    """Seconds of ranking test cases exactly in float64, after the scorer has propagated its embeddings."""
    building = Clock()
    graph = TransitionGraph.from_dataset(dataset)
    model = Recap.for_dataset(nyc_tuned().model, dataset, graph, torch.float64)
    scorer = RecapScorer(model, Stage())
    checkins = CheckinTensors.from_dataset(dataset)
    drawn = describe_cases(dataset, graph, c.TEST, most=of_cases)
    built, built_processor = building.read()
    clock = Clock()
    ranked = rank_cases(scorer, drawn, checkins)
    wall, processor = clock.read()
    return {
        "build_seconds": round(built, 1),
        "build_cpu_seconds": round(built_processor, 1),
        "ranked": len(ranked),
        "rank_seconds": round(wall, 2),
        "rank_cpu_seconds": round(processor, 2),
        "cases": cases,
        "minutes_extrapolated": round(wall * cases / len(ranked) / 60, 2),
        "cpu_minutes_extrapolated": round(processor * cases / len(ranked) / 60, 2),
    }


def main() -> None:
    """Measure one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "rank"))
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--precision", choices=("float32", "bf16"), default="bf16")
    parser.add_argument("--epoch-cases", type=int, default=1_000_000)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--of-cases", type=int, default=500, help="how many are ranked to extrapolate from")
    arguments = parser.parse_args()
    dataset = Dataset.load(arguments.dataset)
    if arguments.what == "train":
        found = measure_training(dataset, arguments.steps, arguments.precision, arguments.epoch_cases)
    else:
        found = measure_ranking(dataset, arguments.cases, arguments.of_cases)
    sizes = {"places": dataset.num_pois, "users": dataset.num_users, "checkins": len(dataset.checkins)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    print(json.dumps(sizes | found | {"peak_gb": round(peak, 2), "threads": torch.get_num_threads()}), flush=True)


if __name__ == "__main__":
    main()
