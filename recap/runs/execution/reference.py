"""What counting alone reaches on a run's validation cases: the lines its curves are read against."""

from recap import columns as c
from recap.baselines.counting import CountPlusMarkov, VisitCount
from recap.data.dataset import Dataset
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import metrics_by_group
from recap.evaluation.scoring import rank_cases
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.runs.store.files import write_json
from recap.runs.store.run_folder import REFERENCE, RunFolder


def write_reference(run: RunFolder, dataset: Dataset, most: int | None = None) -> None:
    """Rank the run's validation cases by both counters and keep their metrics by group, once for a run.

    Args:
        most: how many of them are drawn (`draw_cases`); None takes all.

    Raises:
        OSError: the disk refused.
    """
    if run.read_reference():
        return
    graph = TransitionGraph.from_dataset(dataset)
    cases = describe_cases(dataset, graph, c.VAL, most=most)
    if cases.empty:
        return
    checkins = CheckinTensors.from_dataset(dataset)
    counters = (VisitCount(dataset), CountPlusMarkov(dataset, graph))
    visits, both = (metrics_by_group(rank_cases(counter, cases, checkins)) for counter in counters)
    write_json(run.path / REFERENCE, {"model": CountPlusMarkov.name, "split": "val", **both, VisitCount.name: visits})
