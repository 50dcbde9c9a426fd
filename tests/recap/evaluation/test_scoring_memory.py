"""Scoring many cases takes no more memory than scoring few: what is kept does not lie between what is given back."""

import subprocess
import sys
import weakref

import pandas as pd
import pytest
import torch

from recap.evaluation import scoring
from recap.evaluation.scoring import rank_cases, score_cases
from recap.history import CheckinTensors, Histories
from recap.scores import Scores
from tests.checkins import small_dataset

PROGRAM = """
import resource
import pandas as pd, torch
from recap.evaluation.scoring import score_cases
from recap.history import CheckinTensors
from recap.probabilities import UNFITTED
from recap.scores import Scores
from tests.checkins import small_dataset

checkins = CheckinTensors.from_dataset(small_dataset([("u", "ab"[i % 2], float(i)) for i in range(9)]))


class Wide:
    name = "wide"
    reads_target_time = False

    def score(self, batch):
        base = torch.rand(len(batch), 7000, dtype=torch.float64)
        none = torch.zeros(0, dtype=torch.int64)
        return Scores({"core": base, "rest": base * 2}, {"prior": torch.zeros(0)}, none, none)


def peak(num_cases):
    score_cases(Wide(), pd.DataFrame({"row": [1] * num_cases}), checkins, temperature=UNFITTED)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


print(peak(512 * 4), peak(512 * 40))
"""


def test_the_scores_of_one_batch_are_gone_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ranks holds the parts and totals of one batch at a time."""
    checkins = CheckinTensors.from_dataset(small_dataset([("u", "ab"[i % 2], float(i)) for i in range(9)]))
    alive: list[int] = []
    made: list[weakref.ref[Scores]] = []

    class Watching:
        name = "watching"
        reads_target_time = False

        def score(self, batch: Histories) -> Scores:
            alive.append(sum(1 for reference in made if reference() is not None))
            scores = Scores({"core": torch.rand(len(batch), 2, dtype=torch.float64)})
            made.append(weakref.ref(scores))
            return scores

    monkeypatch.setattr(scoring, "_MOST_SCORES", 2 * (int(checkins.poi_T.max()) + 1))  # batches of two
    for rank in (score_cases, rank_cases):
        rank(Watching(), pd.DataFrame({"row": [1] * 6}), checkins)
    assert alive == [0] * 6


@pytest.mark.slow
def test_memory_does_not_grow_with_the_cases() -> None:
    """Forty batches after four, in a process of its own; the kept columns themselves take 8 MB."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    few, many = map(int, done.stdout.split())
    assert many - few < 500_000  # kilobytes; it was 2,600,000
