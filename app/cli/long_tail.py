"""Commands around many cases: overview, long-tail. Their numbers are the app's, from the same functions."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.markup import escape

from analysis.formatting import percent, rank_number
from app.cli.console import JsonFlag, console, print_json, progress_console, progress_line
from app.cli.frames import frame_table, plain_rows
from app.cli.options import BaselineOption, DataOption, MaybeCheckpoint, MetricOption
from recap import columns as c
from recap.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from analysis.workspace import Workspace
    from recap.checkpoint import Checkpoint


_FOUND_AT: Final = 20
"""K of hits and misses."""
EtaOption = Annotated[int, typer.Option(min=0, help="Tail: the transition occurred at most this often in training.")]


def overview(
    data: DataOption,
    checkpoint: MaybeCheckpoint = None,
    baseline: BaselineOption = None,
    metric: MetricOption = "hr20",
    as_json: JsonFlag = False,
) -> None:
    """Compare a model with the baselines, and name three cases worth opening."""
    from analysis.long_tail.accuracy_tables import accuracy_by_group, tail_share, transition_distribution
    from analysis.long_tail.headlines import curves_finding, overview_finding
    from analysis.records.causes import describe_carriers, find_carriers
    from analysis.records.evaluation_records import models_beside
    from analysis.long_tail.notable_cases import describe_absent, notable_cases
    from recap.baselines import FEATURE_CURVES

    read = open_records(data, checkpoint, baseline)
    opened = read.dataset
    published = [name for name in models_beside(opened.dataset.hash, read.bundle) if name != baseline]
    models = {read.label: read.records} | {_label(name): read.records_of(name) for name in published}
    groups = accuracy_by_group(models, metric)
    distribution = transition_distribution(opened.cases)
    removed = read.kept_ablations()
    notable = notable_cases(opened, read.records, read.records_of("markov"), removed)
    over_pairs, over_cases = tail_share(distribution, 1), tail_share(distribution, 1, "case_share")
    curves = read.records_of(FEATURE_CURVES) if read.has_parts and FEATURE_CURVES in published else None
    payload = {
        "metric": metric,
        "finding": overview_finding(groups, metric),
        "curves_finding": "" if curves is None else curves_finding(read.label, read.records, curves),
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
    for name in ("finding", "curves_finding"):
        if payload[name]:
            console.print(payload[name], markup=False, soft_wrap=True)
    console.print(frame_table(f"{metric} over cases, 95 % interval over users", groups))
    console.print(
        f"Tail (at most once in training): {percent(over_pairs, 1)} of distinct test transitions, "
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
        console.print("Why these cases are found is not measured yet: `recap long-tail ... --full` does.")


def long_tail(
    data: DataOption,
    checkpoint: MaybeCheckpoint = None,
    baseline: BaselineOption = None,
    reference: Annotated[str, typer.Option(help="The baseline beside it.")] = "markov",
    metric: MetricOption = "hr20",
    eta: EtaOption = 1,
    full: Annotated[
        bool, typer.Option("--full", help="Also what two hops tell beyond chance, and a checkpoint's ablations.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show accuracy by how often a transition or a place was seen, and what each further hop adds."""
    import pandas as pd

    from analysis.long_tail.accuracy_tables import accuracy_by_cohort, accuracy_by_count, transition_distribution
    from analysis.long_tail.lift import two_hop_lift
    from analysis.long_tail.misses import count_misses, describe_misses, label_misses
    from analysis.records.causes import ablation_worth
    from recap.dataset_statistics import hop_statistics

    read = open_records(data, checkpoint, baseline)
    opened, label, records, beside = read.dataset, read.label, read.records, read.records_of(reference)
    tables = {
        "by_transition_count": accuracy_by_count(records, c.TRANSITION_COUNT, metric, reference=beside),
        "by_destination_count": accuracy_by_count(records, c.DESTINATION_COUNT, metric, reference=beside),
        "by_cohort": accuracy_by_cohort(records, metric, eta=eta, reference=beside),
        "distribution": transition_distribution(opened.cases),
        "hops": pd.DataFrame(hop_statistics(opened.dataset, opened.graph)),
    }
    if full:
        tables["lift"] = two_hop_lift(opened)
    if full and read.checkpoint is not None and read.has_parts:
        table = ablations(read.checkpoint, opened, read.bundle)
        tables["worth"] = ablation_worth(table, opened.cases[c.USER].to_numpy(), _FOUND_AT)
        tables["misses"] = count_misses(label_misses(describe_misses(opened.dataset, opened.cases, table), _FOUND_AT))
    if as_json:
        facts = {"model": label, "reference": _label(reference), "metric": metric, "eta": eta}
        print_json(facts | {name: plain_rows(table) for name, table in tables.items()})
        return
    for name, table in tables.items():
        over = "" if not name.startswith("by_") else f", {metric} of {label} over cases"
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

    dataset: "Workspace"
    bundle: Path
    label: str
    records: "pd.DataFrame"
    checkpoint: "Checkpoint | None" = None

    def records_of(self, baseline: str) -> "pd.DataFrame":
        """A baseline's records by name."""
        return _records_of(baseline, self.dataset, self.bundle)

    @property
    def has_parts(self) -> bool:
        """Whether the model's score has parts that ablations leave out: RECAP's alone."""
        return self.checkpoint is not None and self.checkpoint.manifest.model == "recap"

    def kept_ablations(self) -> "pd.DataFrame | None":
        """A checkpoint's ablations where they were made or shipped, as the app shows them; None without."""
        from analysis.records.causes import kept_ablations

        if self.checkpoint is None:
            return None
        digests = self.dataset.dataset.hash, self.checkpoint.hash
        return kept_ablations(*digests, rows=len(self.records), bundle=self.bundle)


def ablations(checkpoint: "Checkpoint", opened: "Workspace", bundle: Path) -> "pd.DataFrame":
    """The ablation table of a checkpoint, made with a progress line where it is not kept yet.

    Args:
        bundle: the folder next to the dataset, which may have come with it.

    Raises:
        VocabularyError: another dataset.
    """
    from analysis.records.causes import case_ablations
    from recap.predictor import Predictor

    dataset = opened.dataset
    checkpoint.check_dataset(dataset)
    with progress_line("Running the ablations") as report:
        return case_ablations(
            dataset.hash,
            checkpoint.hash,
            lambda: Predictor(checkpoint, dataset),
            rows=len(dataset.cases(c.TEST)),
            bundle=bundle,
            progress=report,
        )


def open_records(data: Path, checkpoint: Path | None, baseline: str | None) -> OpenedRecords:
    """The dataset with the model's records, read from the bundle or the user's cache, else ranked.

    Raises:
        ConfigError: both a checkpoint and a baseline, or neither.
        VocabularyError: a checkpoint of another dataset.
    """
    from analysis.compare.scorers import of_checkpoint
    from analysis.workspace import Workspace
    from recap.checkpoint import Checkpoint

    if (checkpoint is None) == (baseline is None):
        raise ConfigError("name either a checkpoint folder or --baseline, not both and not neither")
    opened, bundle = Workspace.open(data), data.parent
    if baseline is not None:
        return OpenedRecords(opened, bundle, _label(baseline), _records_of(baseline, opened, bundle))
    assert checkpoint is not None
    loaded = Checkpoint.load(checkpoint)
    with progress_console.status("Ranking every case"):
        records = of_checkpoint(loaded, opened, bundle=bundle).records()
    return OpenedRecords(opened, bundle, loaded.label, records, loaded)


def _records_of(baseline: str, opened: "Workspace", bundle: Path) -> "pd.DataFrame":
    from analysis.records.evaluation_records import evaluation_records
    from analysis.records.named_scorer import NamedScorer

    with progress_console.status(f"Ranking every case by {baseline}"):
        return evaluation_records(opened, baseline, lambda: NamedScorer.of_baseline(baseline, opened), bundle=bundle)


def _label(name: str) -> str:
    from analysis.records.evaluation_records import MODEL_LABELS
    from recap.baselines import BASELINES

    if name not in MODEL_LABELS:
        raise ConfigError(f"unknown baseline {name!r}; choose one of {', '.join(BASELINES)}")
    return MODEL_LABELS[name]
