"""Commands around data: prepare, inspect, stats, import-predictions."""

import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text
from typer import Argument, Option

from app.cli.console import SetOption, console, pairs_table, print_next, progress_console, table_of
from app.cli.options import DataOption, DatasetArgument, answers, takes
from app.cli.reading import ReadingOptions, SkipOption, read_options
from app.headings import HOP_COLUMNS, STATISTICS

if TYPE_CHECKING:
    from recap.data.dataset import Dataset


@answers
@takes(reading=read_options)
def prepare(
    path: Annotated[Path, Argument(help="The raw check-in file, or the folder of a dataset in several files.")],
    out: Annotated[Path, Option("--out", help="Folder of the new dataset.")],
    reading: ReadingOptions,
    preset: Annotated[
        str | None,
        Option(help="Data protocol: default, every_place (your own table's) or nyc_paper.", show_default="default"),
    ] = None,
    assignments: SetOption = None,
    name: Annotated[str, Option(help="Name shown for the dataset; the folder's by default.")] = "",
    skip_bad_rows: SkipOption = False,
    engine: Annotated[
        str, Option(help="auto, memory, or disk, where texts of foursquare, csv, json and parquet files stay.")
    ] = "auto",
) -> Iterator[Any]:
    """Turn raw check-ins into a clean dataset, split by time."""
    from app.cli.inspection_text import print_problems
    from app.components.own_data.words import GETS_WORSE
    from recap.data.dataset import recorded_hash
    from recap.data.intake import prepare_input
    from recap.data.understanding import option_text
    from recap.machine.memory import trim_heap

    started = time.perf_counter()
    replaced = recorded_hash(out)
    with progress_console.status(f"Reading {path.name}") as status:
        understood, dataset = prepare_input(
            path,
            reading.source_format,
            reading.skipping(skip_bad_rows),
            out=out,
            name=name,
            preset=preset,
            changes=assignments or (),
            engine=engine,
            say=lambda line: status.update(Text(line)),
        )
    trim_heap()  # writing holds a copy of each column for a while, and the graph is still to come
    if replaced and replaced != dataset.hash:
        progress_console.print(
            f"{out} held another dataset ({replaced[:12]}), which was replaced; its checkpoints refuse the new one.",
            markup=False,
        )
    summary = _summary(dataset, understood.source_format) | {"seconds": time.perf_counter() - started}
    yield summary
    _print_dataset(out, dataset, summary)
    console.print(f"Read as {understood.source_format}, because {understood.why}.", markup=False)
    if understood.columns:
        console.print(f"Read with {option_text(understood.options)}", markup=False, highlight=False, soft_wrap=True)
    if dataset.manifest.preset == "every_place":
        console.print(f"Every user and place is kept. {GETS_WORSE}")
    if dataset.unseen_line:
        console.print(dataset.unseen_line)
    for note in summary["reading"]["notes"]:
        console.print(f"Note: {note}", markup=False, soft_wrap=True)
    print_problems(dataset.problems, console)
    data, model = (shlex.quote(str(path)) for path in (out, out.with_name(f"{out.name}-recap")))
    steps = {
        "Predict": f"recap predict pretrained --data {data}",
        "Explore it": f"recap app --data {data}",
        "Train RECAP": f"recap train {data} --out {model}",
    }
    print_next(steps, console)


def _summary(dataset: "Dataset", source_format: str) -> dict[str, Any]:
    """What was read, kept and left out, and what the dataset holds."""
    from recap import columns as c
    from recap.history.graph import TransitionGraph
    from recap.history.statistics import tail_shares

    account = dataset.manifest.reading
    assert account is not None
    report = dataset.manifest.report
    return {
        "format": source_format,
        "reading": {
            "rows_in": account.rows_in,
            "rows_kept": account.rows_kept,
            "reported": account.dropped(),
            "columns": account.columns,
            "notes": account.notes,
        },
        "problems": {problem.kind: problem.count for problem in dataset.problems},
        "raw": report.raw,
        "exact_duplicates": report.exact_duplicates,
        "kept": report.kept,
        "checkins": report.checkins,
        c.HISTORY_ONLY: report.history_only,
        "users": dataset.num_users,
        "pois": dataset.num_pois,
        "category_ids": dataset.num_categories,
        "category_names": int(dataset.pois[c.CATEGORY].nunique()),
        "cases": {name: len(dataset.cases(split)) for split, name in enumerate(c.SPLIT_NAMES)},
        **tail_shares(dataset, TransitionGraph.from_dataset(dataset)),
        "dropped": report.dropped,
        "only_predicted_from": 0 if dataset.unseen is None else len(dataset.unseen),
        "dataset_hash": dataset.hash,
    }


def _print_dataset(out: Path, dataset: "Dataset", summary: dict[str, Any]) -> None:
    """The numbers of a summary in one table."""
    from recap.data.parsing.read_report import REASONS

    account, report = dataset.manifest.reading, dataset.manifest.report
    assert account is not None
    flat: dict[str, Any] = {}
    if account.reported:
        flat["rows of the file"] = account.rows_in
        flat |= {f"not read: {REASONS.get(reason, reason)}": rows for reason, rows in account.dropped().items()}
    flat |= {key: value for key, value in summary.items() if not isinstance(value, dict)}
    unused = "left out" if dataset.unseen is not None else "dropped"
    flat |= {f"{unused}: {key}": value for key, value in report.dropped.items()}
    flat |= {f"cases: {key}": value for key, value in summary["cases"].items()}
    console.print(pairs_table(f"Dataset {out}", flat))


@answers
@takes(reading=read_options)
def inspect(
    path: Annotated[Path, Argument(help="The raw check-in file or folder.")], reading: ReadingOptions
) -> Iterator[Any]:
    """Preview a raw file: its format, first rows and problems; nothing is written."""
    from app.cli.inspection_text import next_commands, print_inspection, print_understanding
    from recap.data.inspection import describe_read, look_at
    from recap.data.intake import choose_protocol

    with progress_console.status(f"Inspecting {path.name}"):
        understood, read = look_at(path, *reading)
        inspection = None if read is None else describe_read(read, choose_protocol(understood.source_format)[1])
    yield understood.model_dump(mode="json") | (inspection.model_dump(mode="json") if inspection else {})
    print_understanding(understood, console)
    if inspection is not None:
        print_inspection(inspection, console)
    print_next(next_commands(understood, inspection), console)


@answers
def stats(data: DatasetArgument) -> Iterator[Any]:
    """Describe a dataset: rare transitions, the split, and what each further hop reaches."""
    from recap.data.dataset import Dataset
    from recap.history.statistics import dataset_statistics

    with progress_console.status("Following transitions"):
        statistics = dataset_statistics(Dataset.load(data))
    yield statistics
    hops, sample = statistics["hops"], statistics.get("hop_sample")
    shares = {name: value for name, value in statistics.items() if name not in ("hops", "hop_sample", "fingerprint")}
    console.print(pairs_table(f"Transitions of {data}", shares, STATISTICS))
    title = "Fingerprint of the split, from the last transition of each trajectory"
    console.print(pairs_table(title, {**statistics["fingerprint"]}, STATISTICS))
    table = table_of("Places within so many hops", *HOP_COLUMNS)
    for row in hops:
        table.add_row(
            str(row["n"]),
            f"{row['coverage']:.4f}",
            f"{row['avg_candidates']:,.1f}",
            f"{row['snr_x1000']:.3f}",
            f"{row['avg_candidates_all_pois']:,.1f}",
            f"{row['snr_x1000_all_pois']:.3f}",
        )
    console.print(table)
    if sample is not None:
        console.print(
            f"The graph is large: hops are estimated from {sample['pairs']:,} unseen test pairs and "
            f"{sample['sources']:,} POIs, sampled with a fixed seed."
        )


@answers
def import_predictions(
    file: Annotated[Path, Argument(metavar="FILE", help="CSV or Parquet: case, poi_id (or poi), score.")],
    data: DataOption,
    name: Annotated[str | None, Option(help="What to call them; the file's name by default.")] = None,
    missing_as_miss: Annotated[
        bool, Option("--missing-as-miss", help="A test case without a list counts as not found.")
    ] = False,
    drop_unknown: Annotated[
        bool, Option("--drop-unknown", help="Leave out rows with places the dataset does not know.")
    ] = False,
    given_time: Annotated[
        bool, Option("--given-time", help="The other program knew the time of each next check-in.")
    ] = False,
) -> Iterator[Any]:
    """Import ranked places from another program, to compare them with your models."""
    from analysis.compare.importing import import_predictions as check_and_rank
    from analysis.records.imported import keep_predictions, shown_name
    from analysis.workspace import Workspace
    from recap.baselines import baselines_of

    called = shown_name(file.stem if name is None else name)
    with progress_console.status("Checking the predictions"):
        opened = Workspace.open(data)
        records, report, digest = check_and_rank(
            file, opened, missing_as_miss=missing_as_miss, drop_unknown=drop_unknown
        )
        kept = keep_predictions(records, opened.dataset.hash, called, digest, given_time=given_time)
    yield {
        "name": kept.name,
        "key": kept.key,
        "dataset_hash": kept.dataset_hash,
        "records": str(kept.path),
        "rows": report.rows,
        "cases": report.cases,
        "of": len(opened.cases),
        "shortest_list": report.shortest,
        "longest_list": report.longest,
        "findings": {
            key: {"count": item.count, "examples": list(item.examples)} for key, item in report.findings.items()
        },
    }
    console.print(
        f"{kept.name}: {report.cases:,} of {len(opened.cases):,} test cases, {report.rows:,} rows", markup=False
    )
    console.print(f"Lists of {report.shortest:,} to {report.longest:,} places: metrics up to K = {report.shortest:,}")
    for sentence in report.sentences():
        console.print(f"  {sentence}", markup=False)
    if report.findings["not_in_list"].count:
        console.print("A true place outside its list ranks last, so MRR is a lower bound.")
    other = baselines_of(given_time)[0]
    console.print(f"Compare it: recap compare {kept.key} {other} --data {data}", markup=False)
