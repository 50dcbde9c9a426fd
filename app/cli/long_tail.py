"""Commands about many cases: overview, long-tail. They use the app's functions."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Option

from analysis.formatting import rank_number
from app.cli.console import console, frame_table, plain_rows, progress_console, say_what_is_new, steps_progress
from app.cli.options import DataOption, GivenTimeOption, MetricOption, ModelArgument, answers, takes
from app.headings import HEADINGS, HOP_HEADINGS, LIFT_HEADINGS, MISS_HEADINGS, TITLES, WORTH_HEADINGS, accuracy_headings
from recap import columns as c

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from analysis.workspace import Workspace


_FOUND_AT: Final = 20
EtaOption = Annotated[int, Option(min=0, help="A transition seen at most this often in training is rare.")]


def open_named(model: ModelArgument, data: DataOption, given_time: GivenTimeOption = False) -> "Workspace":
    """Open the dataset with the model and its records; rank if there are none.

    Raises VocabularyError: a checkpoint that does not open with the dataset.
    """
    from analysis.workspace import Workspace
    from recap.baselines import BASELINES

    opened = Workspace.open(data)
    if model in BASELINES:
        return open_other(opened, model, given_time=given_time)
    named = opened.with_model(model, given_time=given_time)
    named.checkpoint  # noqa: B018 # verified, even where its records are kept
    with progress_console.status("Ranking every case"):
        named.records()
    say_what_is_new(named.match)
    return named


@answers
@takes(opened=open_named)
def overview(opened: "Workspace", metric: MetricOption = None) -> Iterator[Any]:
    """Show how many rare transitions a model finds next to other models, and three cases worth opening."""
    from analysis.long_tail import overview_headlines as words
    from analysis.long_tail.accuracy_tables import (
        accuracy_by_group,
        paired_difference,
        table_of_models,
        tail_share,
        transition_distribution,
    )
    from analysis.long_tail.notable_cases import find_notable
    from analysis.records.accuracy import METRIC_LABELS, bounded, fitting_metric, is_known
    from analysis.records.case_groups import PANELS
    from analysis.records.evaluation_records import models_shown
    from analysis.records.imported import find_predictions
    from recap.baselines import FEATURE_CURVES

    known = opened.places_known
    metric = metric or fitting_metric(known)
    others = [opened.with_model(item.key) for item in find_predictions(opened.dataset.hash)]
    others = [other for other in others if other.reads_time == opened.reads_time and is_known(other.records(), metric)]
    shown = models_shown(opened.dataset.hash, opened.bundle, given_time=opened.reads_time)
    names = [name for name in shown if name != opened.key]
    others += [open_other(opened, name) for name in names]
    groups = accuracy_by_group({model.label: model.records() for model in (opened, *others)}, metric)
    distribution = transition_distribution(opened.cases)
    over_pairs, over_cases = tail_share(distribution, 1), tail_share(distribution, 1, "case_share")
    curves = {"headline": "", "line": ""}
    if opened.has_parts and FEATURE_CURVES in names:
        both = opened.records(), opened.with_model(FEATURE_CURVES).records()
        curves["headline"] = words.curves_headline(opened.label, *both)
        curves["line"] = words.fitted_curves_line(opened.label, paired_difference(*both, metric), metric)
    cards = find_notable(opened)
    payload = {
        "metric": metric,
        "places_known": known,
        "headline": words.overview_headline(groups, metric),
        "sentence": f"{words.overview_sentence(groups, metric, over_cases, known)} {curves['headline']}".strip(),
        "curves_line": curves["line"],
        "groups": plain_rows(groups),
        "tail_share_pairs": over_pairs,
        "tail_share_cases": over_cases,
        "cards": [card._asdict() | {"sentence": words.card_sentence(card)} for card in cards],
    }
    yield payload
    for name in ("headline", "sentence", "curves_line"):
        if payload[name]:
            console.print(payload[name], markup=False, soft_wrap=True)
    named = {model.label: bounded(model.label, model.records(), metric) for model in (opened, *others)}
    table = table_of_models(groups)[["model", "all", *PANELS]].replace({"model": named})
    console.print(frame_table(f"{METRIC_LABELS[metric]} over cases", table, HEADINGS))
    console.print(f"{words.distribution_title(distribution)}.")
    for card in cards:
        first = card.counter_rank if card.rank_without is None else card.rank_without
        ranks = f"rank {rank_number(card.rank)}, {words.card_label(card).lower()} {rank_number(first)}"
        console.print(f"Case {card.case}: {ranks}. {words.card_badge(card)}. {words.card_sentence(card)}")
    absent = words.absent_line(cards, ablated=opened.kept_ablations() is not None)
    if absent:
        console.print(absent)


@answers
@takes(opened=open_named)
def long_tail(
    opened: "Workspace",
    reference: Annotated[
        str | None,
        Option(help="The model to compare with, by default visit_count, or visit_count_at_time with the time given."),
    ] = None,
    metric: MetricOption = None,
    eta: EtaOption = 1,
    full: Annotated[
        bool, Option("--full", help="Also compare two hops with chance, and run a checkpoint's ablations.")
    ] = False,
) -> Iterator[Any]:
    """Show accuracy by how often a transition or a place was seen, and what each further hop adds."""

    from analysis.long_tail import headlines
    from analysis.long_tail.accuracy_tables import (
        accuracy_by_cohort,
        accuracy_by_count,
        accuracy_rises,
        rare_accuracy,
        transition_distribution,
    )
    from analysis.long_tail.lift import kept_hops, kept_lift
    from analysis.long_tail.misses import count_misses, describe_misses, label_misses
    from analysis.records.accuracy import METRIC_LABELS, bounded, fitting_metric
    from analysis.records.causes import ablation_worth
    from recap.baselines import visit_counter

    metric = metric or fitting_metric(opened.places_known)
    other = open_other(opened, reference or visit_counter(opened.reads_time), given_time=opened.reads_time)
    label, records, other_records = opened.label, opened.records(), other.records()
    tables = {
        "by_transition_count": accuracy_by_count(records, c.TRANSITION_COUNT, metric, reference=other_records),
        "by_destination_count": accuracy_by_count(records, c.DESTINATION_COUNT, metric, reference=other_records),
        "by_cohort": accuracy_by_cohort(records, metric, eta=eta, reference=other_records),
        "distribution": transition_distribution(opened.cases),
        "hops": kept_hops(opened),
    }
    if full:
        tables["lift"] = kept_lift(opened)
    if full and opened.has_parts:
        table = run_ablations(opened)
        tables["worth"] = ablation_worth(table, opened.cases[c.USER].to_numpy(), _FOUND_AT)
        tables["misses"] = count_misses(label_misses(describe_misses(opened.dataset, opened.cases, table), _FOUND_AT))
    rare = rare_accuracy(records, metric, eta)
    facts = {
        "headline": headlines.long_tail_headline(rare, accuracy_rises(records, metric)),
        "sentence": headlines.rare_sentence(label, metric, rare),
    }
    chosen = {"model": label, "reference": other.label, "metric": metric, "eta": eta}
    yield facts | chosen | {name: plain_rows(table) for name, table in tables.items()}
    for sentence in facts.values():
        console.print(sentence, markup=False, soft_wrap=True)
    own = f"{METRIC_LABELS[metric]}, {bounded(label, records, metric)}"
    for name, table in tables.items():
        console.print(_printed(name, table, own, bounded(other.label, other_records, metric)))


def _printed(name: str, table: "pd.DataFrame", value: str, reference: str) -> "Table":
    """A table for people; ``value`` and ``reference`` are headings of the two models' accuracies."""
    by_name = {"hops": HOP_HEADINGS, "lift": LIFT_HEADINGS, "worth": WORTH_HEADINGS, "misses": MISS_HEADINGS}
    headings = accuracy_headings(value, reference) if name.startswith("by_") else by_name.get(name, HEADINGS)
    return frame_table(TITLES[name], table, headings)


def open_other(opened: "Workspace", name: str, *, given_time: bool = False) -> "Workspace":
    """Another model on an opened dataset, with its records. Raises ConfigError: there is no such model."""
    model = opened.with_model(name, given_time=given_time)
    with progress_console.status(f"Ranking every case by {name}"):
        model.records()
    return model


def run_ablations(model: "Workspace") -> "pd.DataFrame":
    with steps_progress("Running the ablations") as report:
        return model.ablations(report)
