"""Training steps of this version beside an earlier one, in turn, as a ratio.

    python benchmarks/train_versions.py DATASET [--base 99424c4] [--preset quick] [--set precision=bf16] [--rounds 5]

Checks the earlier commit out into a temporary folder and lets both versions run the last stage of a preset in processes
of their own, one after the other, round by round; so both meet the same busy minutes. ``--set`` changes this version's
configuration only. Prints one JSON line. On one thread processor time is measured, else wall time.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
FIRST = "99424c4"
"""The commit in which the training loop came."""

STEPS = """
import json, sys, tempfile, time
from pathlib import Path
import torch
from recap.data.dataset import Dataset
from recap.presets import train_preset
from recap.training.trainer import Trainer
dataset, preset, changes, threads, steps = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), *map(int, sys.argv[4:])
torch.set_num_threads(threads)
config = train_preset(preset)
config = config.override(changes) if changes else config
clock = time.process_time if threads == 1 else time.perf_counter
with tempfile.TemporaryDirectory() as folder:
    trainer = Trainer(Dataset.load(Path(dataset)), config, Path(folder), torch.device("cpu"))
    stage, order_N, seconds = config.curriculum.at(config.epochs), trainer._epoch_order(1), []
    for step in range(steps + 3):
        started = clock()
        trainer._step(order_N[step * config.batch_size : (step + 1) * config.batch_size], stage)
        seconds.append(clock() - started)
print(json.dumps(seconds[3:]))
"""


def run_steps(checkout: Path, options: argparse.Namespace, changes: list[str]) -> list[float]:
    """Seconds of every step of one version, without the first three."""
    arguments = [options.dataset.resolve(), options.preset, json.dumps(changes), options.threads, options.steps]
    finished = subprocess.run(  # noqa: S603
        [sys.executable, "-c", STEPS, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise SystemExit(f"steps of {checkout} failed:\n{finished.stderr}")
    return json.loads(finished.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--base", default=FIRST, help="commit to compare with")
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    before: list[float] = []
    now: list[float] = []
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "base.tar"
        subprocess.run(["git", "archive", "-o", archive, options.base], cwd=HERE, check=True)  # noqa: S603, S607
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
        for _ in range(options.rounds):
            before += (base := run_steps(Path(folder), options, []))
            now += (here := run_steps(HERE, options, options.set))
            ratios.append(statistics.median(base) / statistics.median(here))
    print(
        json.dumps(
            {
                "benchmark": "train_versions",
                "base": options.base,
                "preset": options.preset,
                "set": options.set,
                "threads": options.threads,
                "steps": len(now),
                "step_ms_base": 1000 * statistics.median(before),
                "step_ms_now": 1000 * statistics.median(now),
                "ratio_by_round": ratios,
                "ratio": statistics.median(ratios),
            }
        )
    )


if __name__ == "__main__":
    main()
