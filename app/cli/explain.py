"""Commands of the analysis layer: explain, misses, faithfulness."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from analysis.explain.types import CaseExplanation
from app.cli.console import JsonFlag, console, print_json
from app.cli.long_tail import commands as long_tail_commands
from recap import columns as c
from recap.errors import CaseError, ConfigError

if TYPE_CHECKING:
    from analysis.explain.edits import Edit
    from recap.predictor import Predictor

commands = typer.Typer()
commands.add_typer(long_tail_commands)

CheckpointArgument = Annotated[Path, typer.Argument(help="A checkpoint folder.")]
DataOption = Annotated[Path, typer.Option("--data", help="The dataset it was trained on.")]


@commands.command()
def explain(
    checkpoint: CheckpointArgument,
    data: DataOption,
    case: Annotated[
        str | None, typer.Option("--case", metavar="N[,N...]", help="Cases, from 0 in records order.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many of the best candidates to list.")] = 10,
    split: Annotated[str, typer.Option(help="train, val or test.")] = "test",
    edit: Annotated[
        list[str] | None,
        typer.Option("--edit", help="A what-if edit, such as remove:3 or hour:17; repeatable, applied in order."),
    ] = None,
    about: Annotated[
        int | None, typer.Option(help="With --full or --html: the place to explain, not the truth.")
    ] = None,
    against: Annotated[int | None, typer.Option(help="The place to hold it against.")] = None,
    link: Annotated[str | None, typer.Option(help="A link from the Explain view: case, rival and edits.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Also paths with rows and cuts, visits, leave-one-out, contrast, sentences.")
    ] = False,
    search: Annotated[
        bool, typer.Option("--search", help="With --full or --html: the smallest edit that turns it, faithfulness.")
    ] = False,
    sets: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="With --full or --html: minimal evidence sets for the top K.")
    ] = None,
    checks: Annotated[
        bool, typer.Option("--checks", help="With --full or --html: ranks without each source, and stamps.")
    ] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write one page that opens offline.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Explain single predictions: every score as an exact sum, questioned by edits, in words."""
    from analysis.explain.edits import parse_edit
    from analysis.explain.score_parts import explain_case
    from recap.predictor import Predictor

    edits = tuple(parse_edit(text) for text in edit or [])
    numbers = [] if case is None else _parse_cases(case)
    chosen = _parse_split(split)
    predictor = Predictor.load(checkpoint, data)
    if link is not None:
        numbers, about, against, edits, chosen = _follow(link, predictor, numbers, edits)
    if not numbers:
        raise CaseError("which case? give --case N, or --link")
    if full or html is not None:
        from analysis.explain.explanation import explain_fully
        from analysis.explain.siblings import seed_tables
        from analysis.report.html import write_page
        from analysis.report.text import describe_fully

        rows = len(predictor.cases)
        seeds = seed_tables(predictor.dataset.hash, predictor.checkpoint.hash, rows=rows) if checks else None
        whole = [
            explain_fully(
                predictor,
                number,
                top=top,
                about=about,
                against=against,
                edits=edits,
                split=chosen,
                search=search,
                sets_within=sets,
                checks=checks,
                seeds=seeds,
            )
            for number in numbers
        ]
        if html is not None:
            write_page(whole, html)
        explanations: list[CaseExplanation] = list(whole)
    else:
        extra = tuple(poi for poi in (about, against) if poi is not None)
        explanations = [
            explain_case(predictor, number, top=top, extra=extra, edits=edits, split=chosen) for number in numbers
        ]
    if as_json:
        plain = [explanation.model_dump(mode="json") for explanation in explanations]
        print_json(plain if len(plain) > 1 else plain[0])
        return
    for explanation in explanations:
        _print_explanation(explanation)
        if full:
            for line in describe_fully(explanation):  # type: ignore[arg-type]  # --full builds full explanations only
                console.print(line)
    if html is not None:
        console.print(f"Wrote {html}: open it in any browser, also offline.")


@commands.command()
def misses(
    checkpoint: CheckpointArgument,
    data: DataOption,
    k: Annotated[int, typer.Option("-k", min=1, help="A case is missed where the target ranks below K.")] = 20,
    out: Annotated[Path | None, typer.Option(help="Also write one row per test case as CSV.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Why test cases are missed: exactly one label for each, by the removal that would have found it."""
    from analysis.long_tail.misses import (
        MISS_LABELS,
        count_misses,
        describe_misses,
        label_misses,
        negative_gate_share,
    )
    from analysis.records.loaded_dataset import LoadedDataset
    from app.cli.causes import removals
    from recap.errors import RecapError

    table = removals(checkpoint, data)
    opened = LoadedDataset.load(data)
    described = describe_misses(opened.dataset, opened.cases, table)
    labels = label_misses(described, k)
    negative = negative_gate_share(table)
    counts = count_misses(labels)
    if out is not None:
        try:
            described.assign(miss=labels).to_csv(out, index=False)
        except OSError as error:
            raise RecapError(f"writing {out} failed: {error.strerror or error}") from error
    missed = int(counts["n"].sum())
    if as_json:
        rows = counts.to_dict(orient="records")
        print_json({"k": k, "n": len(labels), "missed": missed, "labels": rows, "negative_gate_share": negative})
        return
    shown = Table(title=f"{missed:,} of {len(labels):,} test cases missed at K = {k}", title_justify="left")
    shown.add_column("why")
    shown.add_column("cases", justify="right")
    shown.add_column("share", justify="right")
    for row in counts.itertuples():
        shown.add_row(MISS_LABELS[str(row.label)], f"{row.n:,}", f"{row.share:.3f}")
    console.print(shown)
    console.print("Outvoted by X: without X, for all places, it would be found.")
    if negative is not None:
        console.print(f"The gate is negative for {negative:.1%} of all candidates.")


@commands.command()
def faithfulness(
    checkpoint: CheckpointArgument,
    data: DataOption,
    cases: Annotated[int, typer.Option(min=1, help="How many random tail test cases.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the sample and of the random orders.")] = 0,
    as_json: JsonFlag = False,
) -> None:
    """How faithful leave-one-out is to the model, over tail test cases, against random removal."""
    from analysis.explain.faithfulness import describe_faithfulness, mean_faithfulness, sample_tail
    from recap.predictor import Predictor

    predictor = Predictor.load(checkpoint, data)
    measured = mean_faithfulness(predictor, sample_tail(predictor, cases, seed), seed=seed)
    if as_json:
        print_json(measured.model_dump())
        return
    console.print(f"Over {measured.n} tail cases: {describe_faithfulness(measured)}")


def _parse_split(name: str) -> int:
    if name not in c.SPLIT_NAMES:
        raise ConfigError(f"unknown split {name!r}; choose one of {', '.join(c.SPLIT_NAMES)}")
    return c.SPLIT_NAMES.index(name)


def _follow(
    link: str, predictor: "Predictor", numbers: list[int], edits: "tuple[Edit, ...]"
) -> "tuple[list[int], int | None, int | None, tuple[Edit, ...], int]":
    """What a link asks for; --case and --edit are not given beside it."""
    from analysis.explain.edits import parse_edits
    from analysis.explain.links import CaseLink

    if numbers or edits:
        raise CaseError("--link brings its own case and edits; leave --case and --edit out")
    meant = CaseLink.from_query(link)
    meant.check(predictor)
    return [meant.case], meant.about, meant.against, parse_edits(meant.edits), meant.split


def _parse_cases(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise CaseError(f"--case expects numbers such as 5 or 5,17, got {text!r}") from None


def _print_explanation(explanation: CaseExplanation) -> None:
    console.print(
        f"Case {explanation.case}: {escape(explanation.source_name)} → {escape(explanation.target_name)}, "
        f"rank {explanation.target_rank:g}, seen {explanation.transition_count} times in training",
        style="bold",
    )
    if explanation.inactive:
        console.print(f"Inactive at this epoch: {', '.join(explanation.inactive)}")
    clipped = any(entry.clip_loss for entry in explanation.candidates)
    has_evidence = any(entry.evidence_terms for entry in explanation.candidates)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True, min_width=3)
    table.add_column("place", no_wrap=True, overflow="ellipsis", max_width=max(12, console.width - 66))
    for heading in (
        "prob.",
        "core",
        "count",
        "recency",
        "window",
        *(["clip"] if clipped else []),
        "gate",
        "corr.",
        *(["evid."] if has_evidence else []),
    ):
        table.add_column(heading, justify="right", no_wrap=True, min_width=max(5, len(heading)))
    table.add_column("total", justify="right", no_wrap=True, min_width=5)
    for entry in explanation.candidates:
        marker = "◎ " if entry.poi == explanation.target else ""
        table.add_row(
            f"{entry.rank:g}",
            marker + escape(entry.name),
            f"{entry.probability:.1%}",
            *(f"{value:.2f}" for value in (entry.core, entry.count, entry.recency, entry.window)),
            *([f"{-entry.clip_loss:.2f}"] if clipped else []),
            "" if entry.gate is None else f"{entry.gate:+.2f}",
            f"{entry.correction:+.2f}",
            *([f"{entry.evidence:+.2f}"] if has_evidence else []),
            f"{entry.total:.2f}",
        )
    console.print(table)
    if explanation.paths:
        console.print(f"Two-hop paths to the truth, (A²) = {explanation.a2_source_target:.4f}")
        for path in explanation.paths[:10]:
            console.print(
                f"  via {escape(path.name)}: {path.count_in} × {path.count_out} transitions, share {path.share:.0%}"
            )
    else:
        console.print("No two-hop path leads to the truth.")
