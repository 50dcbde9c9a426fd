"""`recap compare`: the numbers of the Compare view."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer
from rich.markup import escape
from rich.table import Table

from analysis.formatting import rank_word
from app.cli.console import console, plain_rows, progress_console, say_what_is_new, table_of
from app.cli.options import DataOption, GivenTimeOption, MetricOption, ProtocolOption, answers
from recap import columns as c

if TYPE_CHECKING:
    from analysis.compare.comparison import Comparison
    from recap.data.cases import Protocol


_SHOWN_CASES: Final = 20
_SEEN: Final = {"all": "all", "tail": "rare", "never": " never", "once": " once", "head": "frequent"}


@answers
def compare(
    data: DataOption,
    a: Annotated[
        str | None,
        typer.Argument(metavar="A", help="A checkpoint folder, pretrained, a baseline, or imported predictions."),
    ] = None,
    b: Annotated[str | None, typer.Argument(metavar="B", help="The other side; differences are B minus A.")] = None,
    metric: MetricOption = None,
    protocol: ProtocolOption = "every_step",
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Over all cases, use the paper's share of frequent ones.")
    ] = False,
    seeds: Annotated[
        list[Path] | None, typer.Option("--seeds", metavar="CHECKPOINT", help="Another seed of A or B; repeatable.")
    ] = None,
    cell: Annotated[str | None, typer.Option(help="List cases: both, only_a, only_b or neither.")] = None,
    all_models: Annotated[
        bool, typer.Option("--all", help="One table of all models: A, B, imported predictions, baselines.")
    ] = False,
    form: Annotated[str | None, typer.Option("--form", help="Of --all: markdown (the default), latex or csv.")] = None,
    intervals: Annotated[bool, typer.Option("--intervals", help="Of --all: with 95 % intervals over users.")] = False,
    against: Annotated[
        str | None, typer.Option(help="Of --all: test against this model; the first if missing.")
    ] = None,
    given_time: GivenTimeOption = False,
) -> Iterator[Any]:
    """Compare two models on the same cases, or one without and with the time, with intervals and tests."""
    from recap.errors import ConfigError

    chosen = cast("Protocol", protocol)  # refused where unknown
    if all_models:
        if seeds or cell is not None:
            raise ConfigError("--all is one table of all models; --seeds and --cell go with a pair A B")
        names = [name for name in (a, b) if name is not None]
        yield from _all(data, names, chosen, weighted, form, intervals, given_time, metric, against)
    elif a is None or b is None:
        raise ConfigError("recap compare expects two models, A and B, or --all")
    elif form is not None or intervals or against is not None:
        raise ConfigError(
            "--form, --intervals and --against go with --all; a pair is printed as one table, or with --json"
        )
    else:
        yield from _pair(data, a, b, metric, chosen, weighted, seeds or [], cell, given_time)


def _pair(
    data: Path,
    a: str,
    b: str,
    metric: str | None,
    protocol: "Protocol",
    weighted: bool,
    seeds: list[Path],
    cell: str | None,
    given_time: bool,
) -> Iterator[Any]:
    from analysis.cases.words import seen_words
    from analysis.compare import words
    from analysis.compare.cells import cell_label, cell_mask, listed_cases
    from analysis.compare.comparison import PairedCases, found_within
    from analysis.compare.comparison import compare as compare_sides
    from analysis.compare.side import check_same_question, sides_with_seeds
    from analysis.records.accuracy import fitting_metric
    from analysis.workspace import Workspace
    from recap.errors import ConfigError

    if cell is not None and protocol == "every_next":
        raise ConfigError("--cell lists numbered test cases, and --protocol every_next has others; leave one out")
    with progress_console.status("Ranking every case"):
        opened = Workspace.open(data)
        metric = metric or fitting_metric(opened.places_known)
        models = [opened.with_model(text, given_time=given_time and text != other) for text, other in ((a, b), (b, ""))]
        more = [opened.with_model(path, given_time=given_time) for path in seeds]
        check_same_question(*models)
        side_a, side_b = sides_with_seeds(models, more, protocol)
        result = compare_sides(PairedCases(side_a.cases, weighted=weighted), side_a, side_b, metric)
        k = found_within(metric)
        listed = None if cell is None else listed_cases(side_a, side_b, cell_mask(side_a, side_b, k, cell))
        say_what_is_new(*(model.match for model in (*models, *more)))
    sentences = [words.comparison_headline(result), *words.sentences(result)]
    payload: dict[str, Any] = {
        "a": {"label": result.a, "key": side_a.key, "seeds": 1 + len(side_a.replicates)},
        "b": {"label": result.b, "key": side_b.key, "seeds": 1 + len(side_b.replicates)},
        "metric": result.metric,
        "protocol": protocol,
        "weighted": weighted,
        "k": result.k,
        "n": result.n,
        "users": result.users,
        "headline": sentences[0],
        "sentences": sentences[1:],
        "groups": plain_rows(result.rows),
        "bins": plain_rows(result.bins),
        "seeds": None if result.seeds is None else plain_rows(result.seeds),
        "mrr_is_lower_bound": bool(result.at_least),
    }
    if listed is not None:
        payload["cell"] = {"name": cell, "cases": plain_rows(listed)}
    yield payload
    for sentence in sentences:
        console.print(sentence, markup=False)
    console.print(_comparison_table(result, protocol))
    if listed is not None and cell is not None:
        shortened = f"; the first {_SHOWN_CASES}, all with --json" if len(listed) > _SHOWN_CASES else ""
        title = cell_label(cell, result.a, result.b)
        console.print(f"{title}: {len(listed):,} cases, largest change of rank first{shortened}", markup=False)
        for row in listed.head(_SHOWN_CASES).to_dict(orient="records"):
            places = " → ".join(opened.labels[int(row[name])] for name in (c.SOURCE, c.TARGET))
            ranks = " → ".join(rank_word(row[name]) for name in ("rank_a", "rank_b"))
            seen = seen_words(int(row[c.TRANSITION_COUNT]))
            console.print(f"  {row[c.CASE]}: {places}, {seen}, {ranks}", markup=False)


def _all(
    data: Path,
    named: list[str],
    protocol: "Protocol",
    weighted: bool,
    form: str | None,
    intervals: bool,
    given_time: bool,
    metric: str | None,
    against: str | None,
) -> Iterator[Any]:
    """Accuracy of the named models, imported predictions and baselines on the cases of a protocol."""
    from analysis.compare.model_table import FORMS, merge_seeds, model_table, write_table
    from analysis.compare.side import workspace_labels
    from analysis.records.accuracy import fitting_metric
    from analysis.records.imported import find_predictions
    from analysis.workspace import Workspace
    from recap.baselines import baselines_of
    from recap.errors import ConfigError

    form = form or FORMS[0]
    if form not in FORMS:
        raise ConfigError(f"unknown --form {form!r}; choose one of {', '.join(FORMS)}")
    with progress_console.status("Ranking every case"):
        opened = Workspace.open(data)
        metric = metric or fitting_metric(opened.places_known)
        imported = [] if protocol == "every_next" else [item.key for item in find_predictions(opened.dataset.hash)]
        counters = baselines_of(given_time)
        models = [opened.with_model(key, given_time=given_time) for key in dict.fromkeys([*named, *counters])]
        further = [opened.with_model(key) for key in imported if key not in named]
        models[len(named) : len(named)] = [model for model in further if model.reads_time == given_time]
        records = [model.records_of(protocol) for model in models]
        say_what_is_new(*(model.match for model in models))
        labels = workspace_labels(models)
        named_imports = [label for label, model in zip(labels, models, strict=True) if model.key in imported]
        merged = merge_seeds(dict(zip(labels, records, strict=True)), named_imports)
        named_as = {model.key: label for label, model in zip(labels, models, strict=True)}
        facts: dict[str, Any] = {"dataset": opened.dataset.manifest.name, "protocol": protocol, "weighted": weighted}
        table = model_table(merged, metric=metric, against=named_as.get(against or "", against), **facts)
    yield {"protocol": protocol, "weighted": weighted, "models": plain_rows(table)}
    print(write_table(table, form, intervals=intervals), end="")


def _comparison_table(result: "Comparison", protocol: str) -> Table:
    from analysis.compare.words import row_cells
    from analysis.records.accuracy import METRIC_LABELS

    metric = METRIC_LABELS[result.metric]
    brackets = "; in brackets 95 % over users" if result.users > 1 else ""
    title = escape(f"{metric} in points, A: {result.a}, B: {result.b}, protocol {protocol}{brackets}")
    headings = ("seen", "n", "A", "B", "B − A", "only A", "only B", "p", "better")
    table = table_of(title, *headings, left=("seen", "better"))
    for row in result.rows.to_dict(orient="records"):
        cells = row_cells(row, result)
        interval = cells.pop("interval")
        cells["points"] += f" {interval}" if row["n"] and result.users > 1 else ""
        if row["n"] and row["verdict"] != "close":
            cells["better"] = row["verdict"].upper()
        table.add_row(_SEEN[row["group"]], *map(escape, cells.values()))
    return table
