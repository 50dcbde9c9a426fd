"""Evaluate a scorer over a split's cases."""

import time
from dataclasses import dataclass
from typing import Any

import pandas as pd

from recap import columns as c
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import MetricsByGroup, metrics_by_group
from recap.evaluation.reliability import summarise_probabilities
from recap.evaluation.scoring import score_cases
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors
from recap.probabilities import Temperature
from recap.scores import Scorer


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Records of one scorer and their metrics. ``probabilities``: see `summarise_probabilities`, None for a model
    without them; ``seconds``: wall time; ``drawn_from``: of how many cases the records are a sample, None for all.
    """

    model: str
    protocol: Protocol
    dataset_hash: str
    records: pd.DataFrame
    metrics: MetricsByGroup
    seconds: float
    probabilities: dict[str, Any] | None = None
    drawn_from: int | None = None

    def summary(self) -> dict[str, Any]:
        """The numbers, ready for JSON; ``drawn_from`` only for a sample."""
        drawn = {} if self.drawn_from is None else {"drawn_from": self.drawn_from}
        facts = {name: getattr(self, name) for name in ("protocol", "model", "dataset_hash", "seconds")}
        return {**facts, **self.metrics, "probabilities": self.probabilities, **drawn}


def evaluate(
    scorer: Scorer,
    dataset: Dataset,
    graph: TransitionGraph,
    *,
    split: int = c.TEST,
    protocol: Protocol = "every_step",
    checkins: CheckinTensors | None = None,
    most: int | None = None,
    temperature: Temperature | None = None,
) -> Evaluation:
    """Score the cases of a split and compute metrics. Raises ScoreError: the scorer returned NaN.

    Args:
        most: rank a sample of this many cases (`draw_cases`); None ranks all.
        checkins: the dataset's tensors on the scorer's device; None makes them on the CPU.
        temperature: turns scores into probabilities; None for a model without them.
    """
    started = time.perf_counter()
    cases = describe_cases(dataset, graph, split, protocol, most=most)
    num_cases = len(dataset.cases(split, protocol))
    checkins = CheckinTensors.from_dataset(dataset) if checkins is None else checkins
    records = score_cases(scorer, cases, checkins, temperature=temperature)
    return Evaluation(
        model=scorer.name,
        protocol=protocol,
        dataset_hash=dataset.hash,
        records=records,
        metrics=metrics_by_group(records),
        seconds=time.perf_counter() - started,
        probabilities=summarise_probabilities(records),
        drawn_from=num_cases if len(cases) < num_cases else None,
    )
