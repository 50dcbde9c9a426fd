"""`recap explain`: single predictions."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from analysis.explain.types import CaseExplanation
from analysis.formatting import percent, points, rank_number, signed, times
from app.cli.console import JsonFlag, console, print_json, progress_console, progress_line
from app.cli.options import CheckpointArgument, DataOption, SplitOption
from app.cli.sharing import (
    ExactFlag,
    HidePlacesFlag,
    HtmlOption,
    check_manner,
    share,
    write_shared,
)
from recap import columns as c
from recap.errors import CaseError, ConfigError

if TYPE_CHECKING:
    from analysis.explain.edits import Edit
    from analysis.explain.explanation import FullExplanation
    from recap.predictor import Predictor


CaseOption = Annotated[str | None, typer.Option("--case", metavar="N[,N...]", help="Cases, from 0 in records order.")]
TopOption = Annotated[int, typer.Option(min=1, help="How many of the best candidates to list.")]
EditOption = Annotated[
    list[str] | None,
    typer.Option("--edit", help="A what-if edit, such as remove:3 or hour:17; repeatable, applied in order."),
]
AboutOption = Annotated[int | None, typer.Option(help="With --full or --html: the place to explain, not the truth.")]
AgainstOption = Annotated[int | None, typer.Option(help="The place to compare it with.")]
LinkOption = Annotated[str | None, typer.Option(help="A link from the Explain view: case, runner-up and edits.")]
FullFlag = Annotated[
    bool, typer.Option("--full", help="Also paths, visits, ablations, the comparison of two places, and sentences.")
]
SearchFlag = Annotated[
    bool, typer.Option("--search", help="With --full or --html: the smallest edit that reverses the two places.")
]
ChecksFlag = Annotated[
    bool, typer.Option("--checks", help="With --full or --html: robustness checks of each contribution.")
]
SeedsOption = Annotated[
    int | None,
    typer.Option(min=2, help="Train until this many seeds exist, including the original."),
]


@dataclass(frozen=True)
class _Asked:
    """Which cases, as edited, and which two places: what options or a link say."""

    numbers: list[int]
    about: int | None
    against: int | None
    edits: "tuple[Edit, ...]"
    split: int

    def named(self) -> list[int]:
        """The cases; raises CaseError where none is named."""
        if not self.numbers:
            raise CaseError("which case? give --case N, or --link")
        return self.numbers


def explain(
    checkpoint: CheckpointArgument,
    data: DataOption,
    case: CaseOption = None,
    top: TopOption = 10,
    split: SplitOption = "test",
    edit: EditOption = None,
    about: AboutOption = None,
    against: AgainstOption = None,
    link: LinkOption = None,
    full: FullFlag = False,
    search: SearchFlag = False,
    checks: ChecksFlag = False,
    seeds: SeedsOption = None,
    html: HtmlOption = None,
    exact: ExactFlag = False,
    hide_places: HidePlacesFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Explain single predictions as exact sums, and with what-if edits."""
    from analysis.explain.edits import parse_edit
    from app.cli.explain_ranks import explain_by_ranks
    from recap.checkpoint import Checkpoint
    from recap.data.dataset import Dataset
    from recap.predictor import Predictor, open_ranker

    edits = tuple(parse_edit(text) for text in edit or [])
    asked = _Asked([] if case is None else _parse_cases(case), about, against, edits, _parse_split(split))
    predictor = open_ranker(Checkpoint.load(checkpoint), Dataset.load(data))
    if not isinstance(predictor, Predictor):
        if link is not None or full or html is not None:
            raise ConfigError(
                f"{predictor.checkpoint.label} has no sum of parts to tell or share; --case, --about and --edit work"
            )
        explain_by_ranks(
            predictor, asked.named(), about=about, edits=edits, top=top, split=asked.split, as_json=as_json
        )
        return
    if link is not None:
        asked = _follow(link, predictor, asked)
    asked.named()
    writes = html is not None
    if (exact or hide_places) and not writes:
        raise ConfigError("--exact and --hide-places are about written files; give --html FILE")
    check_manner(exact=exact, hide_places=hide_places)
    if seeds is not None:
        _train_seeds(predictor, seeds)
    whole: list[FullExplanation] = []
    if full or writes:
        whole = _explain_fully(
            predictor,
            asked,
            top=top,
            search=search,
            checks=checks,
            bundle=data.parent,
        )
    written = []
    if writes:
        page = share(whole, predictor, data, exact=exact, hide_places=hide_places)
        written = write_shared(page, html)
    explanations: list[CaseExplanation] = [*whole] or _explain_briefly(predictor, asked, top)
    if as_json:
        plain = [explanation.model_dump(mode="json") for explanation in explanations]
        print_json(plain if len(plain) > 1 else plain[0])
        return
    for at, explanation in enumerate(explanations):
        _print_explanation(explanation)
        if full:
            _print_rest(whole[at])
    for line in written:
        console.print(line, markup=False)


def _train_seeds(predictor: "Predictor", seeds: int) -> None:
    """Train the missing seeds, and keep the tables that the checks read."""
    from analysis.explain.seed_replicates import measure_replicates, train_replicates
    from recap.device import choose_device

    train_replicates(predictor.checkpoint, predictor.dataset, seeds, choose_device("auto"), progress_console.print)
    with progress_line("Ranking with other seeds") as report:
        measure_replicates(predictor.checkpoint, predictor.dataset, report)


def _explain_fully(
    predictor: "Predictor",
    asked: _Asked,
    *,
    top: int,
    search: bool,
    checks: bool,
    bundle: Path,
) -> "list[FullExplanation]":
    from analysis.explain.check_tables import CheckTables
    from analysis.explain.explanation import explain_fully

    digests = predictor.dataset.hash, predictor.checkpoint.hash
    tables = CheckTables.kept(*digests, rows=len(predictor.cases), bundle=bundle) if checks else None
    explain_one = partial(
        explain_fully,
        predictor,
        top=top,
        about=asked.about,
        against=asked.against,
        edits=asked.edits,
        split=asked.split,
        search=search,
        checks=checks,
        tables=tables,
    )
    return [explain_one(number) for number in asked.numbers]


def _explain_briefly(predictor: "Predictor", asked: _Asked, top: int) -> list[CaseExplanation]:
    from analysis.explain.score_parts import explain_case

    extra = tuple(poi for poi in (asked.about, asked.against) if poi is not None)
    return [
        explain_case(predictor, number, top=top, extra=extra, edits=asked.edits, split=asked.split)
        for number in asked.numbers
    ]


def _parse_split(name: str) -> int:
    if name not in c.SPLIT_NAMES:
        raise ConfigError(f"unknown split {name!r}; choose one of {', '.join(c.SPLIT_NAMES)}")
    return c.SPLIT_NAMES.index(name)


def _follow(link: str, predictor: "Predictor", asked: _Asked) -> _Asked:
    """What a link asks for; --case and --edit are not given beside it."""
    from analysis.explain.edits import parse_edits
    from analysis.explain.links import CaseLink

    if asked.numbers or asked.edits:
        raise CaseError("--link brings its own case and edits; leave --case and --edit out")
    meant = CaseLink.from_query(link)
    meant.check(predictor)
    return _Asked([meant.case], meant.about, meant.against, parse_edits(meant.edits), meant.split)


def _parse_cases(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise CaseError(f"--case expects numbers such as 5 or 5,17, got {text!r}") from None


def _print_rest(explanation: "FullExplanation") -> None:
    from analysis.report.text import describe_fully

    for line in describe_fully(explanation):
        console.print(line)


def _print_explanation(explanation: CaseExplanation) -> None:
    console.print(
        f"Case {explanation.case}: {escape(explanation.source_name)} → {escape(explanation.target_name)}, "
        f"rank {rank_number(explanation.target_rank)}, seen {times(explanation.transition_count)} in training",
        style="bold",
    )
    if explanation.inactive:
        console.print(f"Inactive at this epoch: {', '.join(explanation.inactive)}")
    console.print(_candidate_table(explanation))
    if not explanation.paths:
        console.print("No two-hop path leads to the truth.")
        return
    console.print(f"Two-hop paths to the truth, (A²) = {explanation.a2_source_target:.4f}")
    for path in explanation.paths[:10]:
        counts = f"{path.count_in} × {path.count_out} transitions"
        addend = "" if path.addend is None else f", addend {signed(path.addend, 2)}"
        console.print(f"  via {escape(path.name)}: {counts}, share {percent(path.share)}{addend}")


def _candidate_table(explanation: CaseExplanation) -> Table:
    """One row per candidate; the clip and additive evidence have columns only where there is any."""
    clipped = any(entry.clip_loss for entry in explanation.candidates)
    has_evidence = any(entry.evidence_terms for entry in explanation.candidates)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True, min_width=3)
    table.add_column("place", no_wrap=True, overflow="ellipsis", max_width=max(12, console.width - 67))
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
            rank_number(entry.rank),
            marker + escape(entry.name),
            percent(entry.probability, 1),
            *map(points, (entry.core, entry.count, entry.recency, entry.window)),
            *([points(-entry.clip_loss)] if clipped else []),
            "" if entry.gate is None else signed(entry.gate, 2),
            signed(entry.correction, 2),
            *([signed(entry.evidence, 2)] if has_evidence else []),
            points(entry.total),
        )
    return table
