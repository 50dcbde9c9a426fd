"""The clock jumps a day ahead and two back under a running training (Linux with a C compiler).

    python -m tests.chaos.clock_jump

A small library in front of the C library moves what runner and trainer read as the time of day, as `date -s` would.
Prints one JSON line: the state after each jump must be true, no epoch may be missing, and the weights must equal those
of a training whose clock was left alone.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from recap.runs.execution import control
from recap.runs.store.run_folder import RunFolder
from recap.runs.store.run_store import RunStore
from recap.storage.tensors import load_tensors
from tests.background import new_store, runner_process, tiny_spec, wait_for_epoch, wait_until_over, walking_dataset

EPOCHS = 150
DAY = 86_400
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long long jump(void) {
    long long seconds = 0;
    FILE *file = fopen(getenv("CLOCK_JUMP"), "r");
    if (file) {
        if (fscanf(file, "%lld", &seconds) != 1) seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, now);
    if (clock == CLOCK_REALTIME) now->tv_sec += jump();
    return code;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec moment;
    int code = clock_gettime(CLOCK_REALTIME, &moment);
    now->tv_sec = moment.tv_sec;
    now->tv_usec = moment.tv_nsec / 1000;
    return code;
}

time_t time(time_t *now) {
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    if (now) *now = moment.tv_sec;
    return moment.tv_sec;
}
"""


def train(folder: Path, data: Path) -> RunFolder:
    """Submit the training."""
    store = new_store(folder)
    (run,) = control.submit(store, [tiny_spec(data, epochs=EPOCHS, overrides=["validate_every=10"])])
    return run


def main() -> int:
    """Jump, look, compare."""
    with tempfile.TemporaryDirectory(prefix="recap-clock-") as name:
        folder = Path(name)
        (folder / "shim.c").write_text(SHIM, encoding="utf-8")
        shim, offset = folder / "shim.so", folder / "offset"
        command = ["cc", "-shared", "-fPIC", "-O2", "-o", str(shim), str(folder / "shim.c"), "-ldl"]
        subprocess.run(command, check=True)
        data = folder / "data"
        walking_dataset().save(data)

        plain = train(folder / "plain", data)
        assert wait_until_over(plain) == "finished"

        offset.write_text("0")
        os.environ |= {"LD_PRELOAD": str(shim), "CLOCK_JUMP": str(offset)}
        run = train(folder / "jumped", data)
        told, seen = [], []
        for epoch, seconds in ((5, DAY), (15, -2 * DAY), (25, 0)):
            wait_for_epoch(run, epoch)
            offset.write_text(str(seconds))
            wait_for_epoch(run, epoch + 5)
            state = run.read_state()
            runner = runner_process(RunStore(folder / "jumped" / "runs"))
            alive = state.process is not None and state.process.is_alive() and runner is not None and runner.is_alive()
            told.append(state.state == "running" and alive)
            seen.append(run.read_progress().get("time"))
        over = wait_until_over(run)
        epochs = [line["epoch"] for line in run.read_metrics()]
        weights = [load_tensors(one.checkpoint / "model.safetensors")[0] for one in (plain, run)]
        result = {
            "benchmark": "clock_jump",
            "true_states": told,
            "clock_seen": seen,
            "state": over,
            "no_epoch_lost": epochs == list(range(1, EPOCHS + 1)),
            "weights_equal": all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0]),
        }
    print(json.dumps(result))
    return 0 if all(told) and over == "finished" and result["no_epoch_lost"] and result["weights_equal"] else 1


if __name__ == "__main__":
    sys.exit(main())
