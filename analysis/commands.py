"""Commands of the analysis layer: explain."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from analysis.explanation import CaseExplanation
from recap.console import JsonFlag, console, print_json
from recap.errors import CaseError

commands = typer.Typer()


@commands.command()
def explain(
    checkpoint: Annotated[Path, typer.Argument(help="A checkpoint folder.")],
    data: Annotated[Path, typer.Option("--data", help="The dataset it was trained on.")],
    case: Annotated[str, typer.Option("--case", metavar="N[,N...]", help="Test cases, from 0 in records order.")],
    top: Annotated[int, typer.Option(min=1, help="How many of the best candidates to list.")] = 10,
    as_json: JsonFlag = False,
) -> None:
    """Explain single predictions: every score as an exact sum, and the two-hop paths to the truth."""
    from analysis.ledger import explain_case
    from recap.predictor import Predictor

    numbers = _parse_cases(case)
    predictor = Predictor.load(checkpoint, data)
    explanations = [explain_case(predictor, number, top=top) for number in numbers]
    if as_json:
        plain = [explanation.model_dump(mode="json") for explanation in explanations]
        print_json(plain if len(plain) > 1 else plain[0])
        return
    for explanation in explanations:
        _print_explanation(explanation)


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
    table = Table()
    for heading in ("rank", "place", "prob.", "core", "count", "recency", "window", "clip", "gate", "corr.", "total"):
        table.add_column(heading, justify="left" if heading == "place" else "right")
    for entry in explanation.candidates:
        marker = "◎ " if entry.poi == explanation.target else ""
        table.add_row(
            f"{entry.rank:g}",
            marker + escape(entry.name),
            f"{entry.probability:.1%}",
            *(f"{value:.2f}" for value in (entry.core, entry.count, entry.recency, entry.window, -entry.clip_loss)),
            "" if entry.gate is None else f"{entry.gate:+.2f}",
            f"{entry.correction:+.2f}",
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
