"""Commands around many cases: overview, long-tail. Their numbers are the app's, from the same functions."""

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
    from analysis.long_tail.notable_cases import describe_absent, notable_cases
    from analysis.records.causes import describe_carriers, find_carriers
    from analysis.records.evaluation_records import models_shown
    from recap.baselines import FEATURE_CURVES

    opened = open_model(data, checkpoint, baseline)
    label, records = opened.label, opened.records()
    names = [name for name in models_shown(opened.dataset.hash, opened.bundle) if name != baseline]
    baselines = [open_baseline(opened, name) for name in names]
    groups = accuracy_by_group({model.label: model.records() for model in (opened, *baselines)}, metric)
    distribution = transition_distribution(opened.cases)
    removed = opened.kept_ablations()
    notable = notable_cases(opened, records, opened.with_model("markov").records(), removed)
    over_pairs, over_cases = tail_share(distribution, 1), tail_share(distribution, 1, "case_share")
    curves = opened.with_model(FEATURE_CURVES).records() if opened.has_parts and FEATURE_CURVES in names else None
    payload = {
        "metric": metric,
        "finding": overview_finding(groups, metric),
        "curves_finding": "" if curves is None else curves_finding(label, records, curves),
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

    from analysis.long_tail.accuracy_tables import accuracy_by_cohort, accuracy_by_count, transition_distribution
    from analysis.long_tail.lift import kept_hops, kept_lift
    from analysis.long_tail.misses import count_misses, describe_misses, label_misses
    from analysis.records.causes import ablation_worth

    opened = open_model(data, checkpoint, baseline)
    other = open_baseline(opened, reference)
    label, records, beside = opened.label, opened.records(), other.records()
    tables = {
        "by_transition_count": accuracy_by_count(records, c.TRANSITION_COUNT, metric, reference=beside),
        "by_destination_count": accuracy_by_count(records, c.DESTINATION_COUNT, metric, reference=beside),
        "by_cohort": accuracy_by_cohort(records, metric, eta=eta, reference=beside),
        "distribution": transition_distribution(opened.cases),
        "hops": kept_hops(opened),
    }
    if full:
        tables["lift"] = kept_lift(opened)
    if full and opened.has_parts:
        table = run_ablations(opened)
        tables["worth"] = ablation_worth(table, opened.cases[c.USER].to_numpy(), _FOUND_AT)
        tables["misses"] = count_misses(label_misses(describe_misses(opened.dataset, opened.cases, table), _FOUND_AT))
    if as_json:
        facts = {"model": label, "reference": other.label, "metric": metric, "eta": eta}
        print_json(facts | {name: plain_rows(table) for name, table in tables.items()})
        return
    for name, table in tables.items():
        over = "" if not name.startswith("by_") else f", {metric} of {label} over cases"
        console.print(frame_table(name.replace("_", " ") + over, table))


def open_model(data: Path, checkpoint: Path | None, baseline: str | None) -> "Workspace":
    """The dataset with the model and its records, read from the bundle or the user's cache, else ranked.

    Raises:
        ConfigError: both a checkpoint and a baseline, or neither, or no such baseline.
        VocabularyError: a checkpoint of another dataset.
    """
    from analysis.workspace import Workspace

    if (checkpoint is None) == (baseline is None):
        raise ConfigError("name either a checkpoint folder or --baseline, not both and not neither")
    opened = Workspace.open(data)
    if baseline is not None:
        return open_baseline(opened, baseline)
    assert checkpoint is not None
    model = opened.with_model(checkpoint)
    model.checkpoint  # noqa: B018 # verified, even where its records are kept
    with progress_console.status("Ranking every case"):
        model.records()
    return model


def open_baseline(opened: "Workspace", name: str) -> "Workspace":
    """A baseline on an opened dataset, with its records.

    Raises:
        ConfigError: no such baseline.
    """
    from recap.baselines import BASELINES

    if name not in BASELINES:
        raise ConfigError(f"unknown baseline {name!r}; choose one of {', '.join(BASELINES)}")
    model = opened.with_model(name)
    with progress_console.status(f"Ranking every case by {name}"):
        model.records()
    return model


def run_ablations(model: "Workspace") -> "pd.DataFrame":
    """The ablation table of a checkpoint, made with a progress line where it is not kept yet."""
    with progress_line("Running the ablations") as report:
        return model.ablations(report)
