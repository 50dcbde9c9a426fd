"""Commands around many cases: overview, long-tail. Their numbers are the app's, from the same functions."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from analysis.formatting import percent, rank_number
from app.cli.console import JsonFlag, console, print_json, progress_console
from app.cli.frames import frame_table, plain_rows
from recap import columns as c
from recap.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.records.loaded_dataset import LoadedDataset
    from recap.checkpoint import Checkpoint

commands = typer.Typer()

DataOption = Annotated[Path, typer.Option("--data", help="A dataset folder.")]
CheckpointArgument = Annotated[Path | None, typer.Argument(help="A checkpoint folder.")]
BaselineOption = Annotated[str | None, typer.Option(help="A baseline instead of a checkpoint.")]
MetricOption = Annotated[str, typer.Option(help="hr1, hr5, hr10, hr20, ndcg20 or mrr.")]
EtaOption = Annotated[int, typer.Option(min=0, help="Tail: the step occurred at most this often in training.")]


@commands.command()
def overview(
    data: DataOption,
    checkpoint: CheckpointArgument = None,
    baseline: BaselineOption = None,
    metric: MetricOption = "hr20",
    eta: EtaOption = 1,
    as_json: JsonFlag = False,
) -> None:
    """Show a model beside the baselines, tail shares, and three cases worth opening."""
    from analysis.long_tail.accuracy_tables import accuracy_by_group, tail_share, transition_distribution
    from analysis.long_tail.headlines import overview_finding
    from analysis.records.carriers import describe_carriers, find_carriers
    from analysis.records.evaluation_records import models_beside
    from analysis.records.notable_cases import describe_absent, notable_cases

    read = open_records(data, checkpoint, baseline)
    opened = read.dataset
    rivals = [name for name in models_beside(opened.dataset.hash, read.bundle) if name != baseline]
    models = {read.label: read.records} | {_label(name): read.records_of(name) for name in rivals}
    groups = accuracy_by_group(models, metric, eta=eta)
    distribution = transition_distribution(opened.cases)
    removed = read.kept_removals()
    notable = notable_cases(opened, read.records, read.records_of("markov"), removed)
    over_pairs, over_cases = tail_share(distribution, eta), tail_share(distribution, eta, "case_share")
    payload = {
        "metric": metric,
        "eta": eta,
        "finding": overview_finding(groups, metric),
        "groups": plain_rows(groups),
        "tail_share_pairs": over_pairs,
        "tail_share_cases": over_cases,
        "notable": [case._asdict() for case in notable],
        "notable_are_causes": removed is not None,
        "carriers": None if removed is None else find_carriers(removed)._asdict(),
    }
    if as_json:
        print_json(payload)
        return
    console.print(payload["finding"], markup=False, soft_wrap=True)
    console.print(frame_table(f"{metric} over cases, 95 % interval over users", groups))
    console.print(
        f"Tail (at most {eta} in training): {percent(over_pairs, 1)} of distinct test steps, "
        f"{percent(over_cases, 1)} of cases"
    )
    if removed is not None:
        console.print(describe_carriers(find_carriers(removed)))
    for case in notable:
        ranks = f"rank {rank_number(case.rank)}, Markov {rank_number(case.markov_rank)}"
        console.print(f"Case {case.case}: {ranks}. {escape(case.reason)}")
    absent = describe_absent(notable, causes=removed is not None)
    if absent:
        console.print(absent)
    if checkpoint is not None and removed is None:
        console.print("These cases coincide with evidence; what finds them is not measured yet: `recap causes` does.")


@commands.command("long-tail")
def long_tail(
    data: DataOption,
    checkpoint: CheckpointArgument = None,
    baseline: BaselineOption = None,
    reference: Annotated[str, typer.Option(help="The baseline beside it.")] = "markov",
    metric: MetricOption = "hr20",
    eta: EtaOption = 1,
    lift: Annotated[bool, typer.Option("--lift", help="Also what two hops tell beyond chance; takes seconds.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show accuracy by how often a step or a place was seen, by evidence, and what each further hop buys."""
    import pandas as pd

    from analysis.long_tail.accuracy_tables import accuracy_by_count, accuracy_by_evidence, transition_distribution
    from analysis.long_tail.lift import two_hop_lift
    from recap.dataset_statistics import hop_statistics

    read = open_records(data, checkpoint, baseline)
    opened, label, records, beside = read.dataset, read.label, read.records, read.records_of(reference)
    tables = {
        "by_transition_count": accuracy_by_count(records, c.TRANSITION_COUNT, metric, reference=beside),
        "by_destination_count": accuracy_by_count(records, c.DESTINATION_COUNT, metric, reference=beside),
        "by_evidence": accuracy_by_evidence(records, metric, eta=eta, reference=beside),
        "distribution": transition_distribution(opened.cases),
        "hops": pd.DataFrame(hop_statistics(opened.dataset, opened.graph)),
    }
    if lift:
        tables["lift"] = two_hop_lift(opened)
    if as_json:
        facts = {"model": label, "reference": _label(reference), "metric": metric, "eta": eta}
        print_json(facts | {name: plain_rows(table) for name, table in tables.items()})
        return
    for name, table in tables.items():
        over = "" if name in ("distribution", "hops", "lift") else f", {metric} of {label} over cases"
        console.print(frame_table(name.replace("_", " ") + over, table))


@dataclass(frozen=True, eq=False)
class OpenedRecords:
    """A dataset folder with the records of one model, each read once.

    Attributes:
        dataset: the dataset.
        bundle: the folder beside it, which may have come with records.
        label: what people read of the model.
        records: the model's, one row per test case.
        checkpoint: of a trained model; None of a baseline.
    """

    dataset: "LoadedDataset"
    bundle: Path
    label: str
    records: "pd.DataFrame"
    checkpoint: "Checkpoint | None" = None

    def records_of(self, baseline: str) -> "pd.DataFrame":
        """A baseline's records by name."""
        return _records_of(baseline, self.dataset, self.bundle)

    def kept_removals(self) -> "pd.DataFrame | None":
        """A checkpoint's removals where they were made or shipped, as the app shows them; None without."""
        from analysis.records.causes import kept_removals

        if self.checkpoint is None:
            return None
        digests = self.dataset.dataset.hash, self.checkpoint.hash
        return kept_removals(*digests, rows=len(self.records), bundle=self.bundle)


def open_records(data: Path, checkpoint: Path | None, baseline: str | None) -> OpenedRecords:
    """The dataset with the model's records, read from the bundle or the user's cache, else ranked.

    Raises:
        ConfigError: both a checkpoint and a baseline, or neither.
        VocabularyError: a checkpoint of another dataset.
    """
    from analysis.compare.scorers import of_checkpoint
    from analysis.records.loaded_dataset import LoadedDataset
    from recap.checkpoint import Checkpoint

    if (checkpoint is None) == (baseline is None):
        raise ConfigError("name either a checkpoint folder or --baseline, not both and not neither")
    opened, bundle = LoadedDataset.load(data), data.parent
    if baseline is not None:
        return OpenedRecords(opened, bundle, _label(baseline), _records_of(baseline, opened, bundle))
    assert checkpoint is not None
    loaded = Checkpoint.load(checkpoint)
    with progress_console.status("Ranking every case"):
        records = of_checkpoint(loaded, opened, bundle=bundle).records()
    return OpenedRecords(opened, bundle, loaded.label, records, loaded)


def _records_of(baseline: str, opened: "LoadedDataset", bundle: Path) -> "pd.DataFrame":
    from analysis.records.evaluation_records import evaluation_records
    from analysis.records.named_scorer import NamedScorer

    with progress_console.status(f"Ranking every case by {baseline}"):
        return evaluation_records(opened, baseline, lambda: NamedScorer.of_baseline(baseline, opened), bundle=bundle)


def _label(name: str) -> str:
    from analysis.records.loaded_dataset import MODEL_LABELS
    from recap.baselines import BASELINES

    if name not in MODEL_LABELS:
        raise ConfigError(f"unknown baseline {name!r}; choose one of {', '.join(BASELINES)}")
    return MODEL_LABELS[name]
