"""How cost grows with check-ins: prepare, the revisit history, the statistics, a training, an exact ranking.

    python benchmarks/scale.py 1_000_000 10_000_000 [--format foursquare|parquet] [--folder DIR] [--keep-all]
    python benchmarks/scale.py 340_000 3_328_000 33_278_683 --format parquet --steps prepare train rank predict
    python benchmarks/scale.py --predict MODEL DATA

Each step is a process of its own. `train` times steps of a preset with every part on and a sampled
softmax, and extrapolates an epoch; `rank` ranks some test cases exactly among all places in float64, by a model before
its first step (the cost is the same), and extrapolates to 10,000.

Draws that many synthetic check-ins (seeded; nothing about real people), writes them as a TSMC2014 text file or as
Parquet, and prints one JSON line for each step: wall and processor seconds, peak memory, results, versions, hardware.
The world follows the global Foursquare set of 2012-2013 in its proportions: 33 million check-ins of 267,000 users at
3.7 million places, visits of a user concentrated on a few favourites, places of very unequal popularity.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch
from pyarrow import csv

from recap import columns as c
from recap.asking.prediction import choose, predict
from recap.asking.predictor import CaseRanker
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.evaluation.scoring import rank_cases
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.presets import train_preset
from recap.storage.frames import write_frames
from recap.training.run import build_trainer
from recap.training_config import SampledSoftmax, TrainConfig

FAVOURITES = 60
EXPLORING = 0.2
CHUNK = 1_000_000
START = np.datetime64("2012-04-03T00:00:00", "s")
SECONDS = 533 * 86_400
EPOCH_CASES = 1_000_000
RANKED_CASES = 10_000
WARM_UP_STEPS = 10


def draw_checkins(count: int, seed: int = 0) -> Iterator[pa.Table]:
    """Synthetic check-ins in time order, in chunks.

    Yields:
        tables in the columns of `recap.columns`, times as ``timestamp[s, UTC]``.
    """
    rng = np.random.default_rng(seed)
    users, pois = max(50, round(count * 266_909 / 33_278_683)), max(200, round(count * 3_680_126 / 33_278_683))
    # Place numbers follow location: a user's places lie around an anchor.
    anchor = rng.integers(0, pois, users)
    reach = np.maximum(20, pois // 2_000)
    favourites = ((anchor[:, None] + _skewed(rng, (users, FAVOURITES), reach)) % pois).astype(np.int32)
    activity = np.cumsum(rng.lognormal(0, 1.2, users))
    latitude, longitude = np.sort(rng.uniform(-50, 60, pois)), rng.uniform(-170, 170, pois)
    categories = np.array([f"4bf58dd8d48988d{n:09d}" for n in range(400)])
    poi_names = pa.array([f"4b{poi:022x}" for poi in range(pois)])
    done = 0
    while done < count:
        size = min(CHUNK, count - done)
        user = np.searchsorted(activity, rng.uniform(0, activity[-1], size)).astype(np.int32)
        slot = np.minimum(rng.geometric(0.12, size) - 1, FAVOURITES - 1)
        poi = favourites[user, slot]
        exploring = rng.random(size) < EXPLORING
        poi[exploring] = (anchor[user[exploring]] + _skewed(rng, int(exploring.sum()), reach * 5)) % pois
        span = SECONDS * size // count
        first = SECONDS * done // count
        seconds = np.sort(rng.integers(first, first + max(span, 1), size))
        category = pa.array(categories[poi % 400])
        yield pa.table(
            {
                c.USER_ID: pa.array(user).cast(pa.string()),
                c.POI_ID: pc.take(poi_names, pa.array(poi)),
                c.CATEGORY_ID: category,
                c.CATEGORY: category,
                c.LATITUDE: pa.array(np.round(latitude[poi], 6)),
                c.LONGITUDE: pa.array(np.round(longitude[poi], 6)),
                c.TZ_OFFSET_MINUTES: pa.array(60 * np.round(longitude[poi] / 15).astype(np.int16)),
                c.TIME: pa.array(START + seconds.astype("timedelta64[s]")).cast(pa.timestamp("s", "UTC")),
            }
        )
        done += size


def _skewed(rng: np.random.Generator, size: Any, limit: int) -> np.ndarray:
    """Integers in [0, limit) with density falling as 1 / sqrt."""
    return (limit * rng.random(size) ** 2).astype(np.int64)


def write_checkins(path: Path, count: int, source_format: str) -> None:
    if source_format == "parquet":
        writer = None
        for table in draw_checkins(count):
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
        return
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with path.open("wb") as file:
        for table in draw_checkins(count):
            text = pc.strftime(table[c.TIME], format="%a %b %d %H:%M:%S +0000 %Y")
            csv.write_csv(table.set_column(table.column_names.index(c.TIME), c.TIME, text), file, options)


def measure(command: list[str]) -> dict[str, Any]:
    """Run a command; its wall and processor seconds, peak resident memory, and last line of output.

    Raises:
        RuntimeError: it failed, with its last lines.
    """
    started = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)  # noqa: S603 - our own command
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
    if process.returncode:
        raise RuntimeError(f"{command[1:4]} ended with {process.returncode}: {' '.join(lines[-5:])}")
    return {
        "seconds": round(time.perf_counter() - started, 2),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_gb": round(usage.ru_maxrss / (1 << 20), 3),
        "output": lines[-1] if lines else "",
    }


HISTORY = """\
import json, resource, sys, time
from pathlib import Path
from recap.data.dataset import Dataset
from recap.history.tensors import CheckinTensors
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
dataset = Dataset.load(Path(sys.argv[1]))
before, started, cpu = peak(), time.perf_counter(), time.process_time()
checkins = CheckinTensors.from_dataset(dataset)
print(json.dumps({"checkins": len(checkins.poi_T), "build_seconds": round(time.perf_counter() - started, 2),
                  "build_cpu_seconds": round(time.process_time() - cpu, 2),
                  "peak_before_gb": round(before, 3), "peak_after_gb": round(peak(), 3)}))
"""


def measure_training(dataset: Dataset, preset: str, seconds: float = 120.0) -> dict[str, Any]:
    """Seconds to build a trainer, of a step with every part on, and of an extrapolated epoch."""
    changes = {
        "label_smoothing": 0.0,
        "sampled_softmax": SampledSoftmax().model_dump(),
        "latest_share": min(1.0, EPOCH_CASES / len(dataset.cases(c.TRAIN))),
        "validation_cases": RANKED_CASES,
        "precision": "bf16",
    }
    config = TrainConfig.parse(train_preset(preset).model_dump() | changes)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        trainer = build_trainer(dataset, config, Path(folder), torch.device("cpu"))
        built = time.perf_counter() - started
        trainer.begin()
        trainer.begin_epoch(config.epochs)  # its last epoch: every part acts
        for step in range(WARM_UP_STEPS):
            trainer.take_step(step)
        started, steps = time.perf_counter(), 0
        while steps < trainer.steps_per_epoch and (steps < 2 or time.perf_counter() - started < seconds):
            trainer.take_step(WARM_UP_STEPS + steps)
            steps += 1
        a_step = (time.perf_counter() - started) / steps
    return {
        "build_seconds": round(built, 1),
        "transitions": trainer.graph.num_transitions,
        "steps": steps,
        "step_seconds": round(a_step, 3),
        "epoch_minutes_extrapolated": round(a_step * trainer.steps_per_epoch / 60, 1),
    }


def measure_ranking(dataset: Dataset, preset: str, of_cases: int = 500) -> dict[str, Any]:
    """Seconds of ranking test cases exactly in float64, without the propagation."""
    started = time.perf_counter()
    graph = TransitionGraph.from_dataset(dataset)
    scorer = RecapScorer(Recap(train_preset(preset).model, dataset, graph, torch.float64), Stage())
    checkins = CheckinTensors.from_dataset(dataset)
    drawn = describe_cases(dataset, graph, c.TEST, most=of_cases)
    built = time.perf_counter()
    ranked = rank_cases(scorer, drawn, checkins)
    seconds = time.perf_counter() - built
    return {
        "build_seconds": round(built - started, 1),
        "ranked": len(ranked),
        "rank_seconds": round(seconds, 2),
        "minutes_extrapolated": round(seconds * RANKED_CASES / len(ranked) / 60, 2),
    }


def measure_predicting(dataset: Dataset, preset: str, of_users: int = 1_000) -> dict[str, Any]:
    """Seconds to write the next places of some users, by a model before its first step."""
    started = time.perf_counter()
    graph = TransitionGraph.from_dataset(dataset)
    scorer = RecapScorer(Recap(train_preset(preset).model, dataset, graph, torch.float64), Stage())
    model = CaseRanker(None, dataset, scorer=scorer, graph=graph)
    chosen = choose(model).part(slice(of_users))
    built, processor = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        rows = write_frames(predict(model, chosen), Path(folder) / "next.parquet")
    processor = time.process_time() - processor
    return {
        "build_seconds": round(built - started, 1),
        "users": len(chosen),
        "rows": rows,
        "users_per_processor_second": round(len(chosen) / processor, 1),
    }


def measure_command(model: str, data: str) -> dict[str, Any]:
    """`recap predict` for every user of a dataset, from a cold start."""
    recap = str(Path(sys.executable).with_name("recap"))
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "next.parquet")
        result = measure([recap, "predict", model, "--data", data, "--out", out, "--json"])
    written = json.loads(result.pop("output"))
    rate = round(written["users"] / result["cpu_seconds"], 1)
    return result | {"users": written["users"], "rows": written["rows"], "users_per_processor_second": rate}


KEEP_ALL = [f"--set={field}=1" for field in ("min_poi_checkins", "min_user_checkins", "min_trajectory_length")]


def run_step(
    step: str, raw: Path, dataset: Path, source_format: str, keep_all: bool, engine: list[str], preset: str
) -> dict[str, Any]:
    """Run one step in another process; returns its main results."""
    recap = str(Path(sys.executable).with_name("recap"))
    if step == "prepare":
        command = [recap, "prepare", str(raw), "--format", source_format, "--out", str(dataset), "--json"]
        command += ["--preset", "default"]
        result = measure([*command, *engine, *(KEEP_ALL if keep_all else [])])
        summary = json.loads(result.pop("output"))
        keys = ("raw", "checkins", "users", "pois", "cases", "transitions", "dropped", "dataset_hash")
        return result | {key: summary[key] for key in keys}
    if step == "history":
        result = measure([sys.executable, "-c", HISTORY, str(dataset)])
        return result | json.loads(result.pop("output"))
    if step in ("train", "rank", "predict"):
        preset = "feature_curves" if step == "predict" else preset
        result = measure([sys.executable, __file__, "--only", step, str(dataset), preset])
        return result | json.loads(result.pop("output"))
    result = measure([recap, "stats", str(dataset), "--json"])
    statistics = json.loads(result.pop("output"))
    hops = [{key: row[key] for key in ("n", "coverage", "avg_candidates")} for row in statistics["hops"]]
    return result | {"hops": hops, "hop_sample": statistics.get("hop_sample")}


def main() -> None:
    if sys.argv[1:2] == ["--only"]:
        measured = {"train": measure_training, "rank": measure_ranking, "predict": measure_predicting}[sys.argv[2]]
        print(json.dumps(measured(Dataset.load(Path(sys.argv[3])), sys.argv[4])))
        return
    if sys.argv[1:2] == ["--predict"]:
        print(json.dumps({"benchmark": "scale", "step": "predict"} | measure_command(*sys.argv[2:4])))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="+", type=int)
    parser.add_argument("--format", dest="source_format", choices=("foursquare", "parquet"), default="foursquare")
    parser.add_argument("--folder", type=Path, help="where the files are written; a temporary folder by default")
    steps = ("prepare", "history", "stats", "train", "rank", "predict")
    parser.add_argument("--steps", nargs="+", choices=steps, default=["prepare", "history", "stats"])
    parser.add_argument("--engine", choices=("auto", "memory", "disk"), default="auto", help="of prepare")
    parser.add_argument("--keep-all", action="store_true", help="lower every minimum of the protocol to 1")
    parser.add_argument("--preset", default="recap", help="of train and rank")
    arguments = parser.parse_args()
    engine = ["--engine", arguments.engine]
    hardware = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="recap-scale-"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for count in arguments.counts:
            raw = folder / f"{count}.{arguments.source_format}"
            dataset = folder / f"{count}.dataset"
            if not raw.exists():
                write_checkins(raw, count, arguments.source_format)
            for step in arguments.steps:
                result = run_step(
                    step, raw, dataset, arguments.source_format, arguments.keep_all, engine, arguments.preset
                )
                line = {"benchmark": "scale", "step": step, "count": count, "format": arguments.source_format}
                line["keep_all"] = arguments.keep_all
                load = {
                    "load_at_end": round(os.getloadavg()[0], 1),
                    "file_gb": round(raw.stat().st_size / (1 << 30), 3),
                }
                print(json.dumps(line | result | load | hardware), flush=True)
    finally:
        if arguments.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
