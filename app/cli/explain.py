"""`recap explain`: single predictions, of cases or of a user at a moment."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from rich.markup import escape
from rich.table import Table
from typer import Option

from analysis.formatting import moved_rank, ordinal, percent, points, rank_number, signed, signed_points, user_name
from app.cli.console import console, progress_console, rich_table, say_what_is_new, steps_progress
from app.cli.options import CheckpointArgument, DataOption, GivenTimeOption, SplitOption, answers, parse_split
from recap.errors import CaseError, ConfigError

if TYPE_CHECKING:
    from analysis.explain.explanation import CaseExplanation
    from analysis.explain.ranks_only import RanksOnly
    from analysis.workspace import Workspace
    from recap.asking.predictor import Predictor
    from recap.history.moments import Moment

_MOST_ROWS = 10


@answers
def explain(
    checkpoint: CheckpointArgument,
    data: DataOption,
    case: Annotated[
        str | None, Option("--case", metavar="N[,N...]", help="Numbers of cases, such as 5 or 5,17.")
    ] = None,
    user: Annotated[str | None, Option(help="A user instead of a case: the id of the raw table.")] = None,
    as_of: Annotated[
        str | None,
        Option(help="Time of the last known check-in, such as 2012-10-20T12:47 (local) or with a zone; or the last."),
    ] = None,
    at: Annotated[
        str | None, Option(metavar="TIME", help="With --user, where at this time: 2012-10-22T18:00, or 'mon 18:00'.")
    ] = None,
    given_time: GivenTimeOption = False,
    top: Annotated[int, Option(min=1, help="How many of the best places to list.")] = 10,
    split: SplitOption = "test",
    edit: Annotated[
        list[str] | None,
        Option("--edit", help="A what-if edit, such as remove:3 or off:past_visits; repeatable, applied in order."),
    ] = None,
    about: Annotated[int | None, Option(help="The place to explain; the true one by default.")] = None,
    against: Annotated[int | None, Option(help="The place to compare it with.")] = None,
    link: Annotated[str | None, Option(help="A link from the Explain view: case, runner-up and edits.")] = None,
    search: Annotated[
        bool, Option("--search", help="Also find the smallest edit that reverses the two places.")
    ] = False,
    checks: Annotated[bool, Option("--checks", help="Also run robustness checks of each contribution.")] = False,
    seeds: Annotated[
        int | None, Option(min=2, help="Train until this many seeds exist, including the original.")
    ] = None,
    html: Annotated[
        Path | None, Option(help="Write one page to share; it opens offline and blurs people, places and times.")
    ] = None,
    exact: Annotated[bool, Option("--exact", help="Write everything as recorded; the file says so.")] = False,
    hide_places: Annotated[bool, Option("--hide-places", help="Also blur the user's own places.")] = False,
) -> Iterator[Any]:
    """Explain single predictions as exact sums, and with what-if edits."""
    from analysis.explain.edits import parse_edit, parse_edits
    from analysis.explain.explain_case import explain_case
    from analysis.explain.links import CaseLink
    from analysis.explain.ranks_only import explain_ranks
    from analysis.workspace import Workspace
    from recap.asking.prediction import next_local_seconds
    from recap.history.asked_times import parse_next_time, parse_time
    from recap.history.moments import find_moment
    from recap.probabilities import NOT_FITTED

    _check_named(case, user, as_of, at)
    _check_page(html, exact=exact, hide_places=hide_places)
    next_time = parse_next_time(at)
    edits = tuple(parse_edit(text) for text in edit or [])
    cases: Sequence[int | Moment] = [] if case is None else _parse_cases(case)
    opened = Workspace.open(data, checkpoint, given_time=given_time or at is not None)
    match = opened.match
    if user is not None:
        opened = opened.known
        moment = find_moment(opened.dataset, user, parse_time(as_of))
        if next_time is not None:
            at_N = next_local_seconds(opened.checkins, np.array([moment.row]), next_time, parse_time(as_of))
            moment = replace(moment, at=int(at_N[0]))
        cases = [moment]
    number = parse_split(split)
    if not opened.has_parts and (link is not None or html is not None):
        raise ConfigError(f"{opened.label} has no contributions; --case, --user, --about and --edit work")
    if link is not None:
        if cases or edits:
            raise CaseError("--link already has a case or user and edits; leave out --case, --user and --edit")
        meant = CaseLink.from_query(link)
        meant.check(opened.predictor)
        opened = opened if meant.names_case else opened.known
        cases = [meant.case if meant.names_case else meant.moment(opened.predictor)]
        about, against, edits, number = meant.about, meant.against, parse_edits(meant.edits), meant.split
    if not cases:
        raise CaseError("no case given: use --case N, --user ID or --link")
    if not opened.has_parts:
        ranked = [explain_ranks(opened.ranker, n, about=about, edits=edits, top=top, split=number) for n in cases]
        say_what_is_new(match, notes=opened.notes)
        yield _plain(ranked)
        for shown, name in zip(ranked, cases, strict=True):
            _print_ranks(shown, _title(opened, name, user))
        return
    predictor = opened.predictor
    if seeds is not None:
        _train_seeds(predictor, seeds)
    options: dict[str, Any] = {"top": top, "against": against, "search": search, "checks": checks}
    options["seeds"] = opened.seeds() if checks else None
    explanations = [
        explain_case(predictor, named, about=about, edits=edits, split=number, **options) for named in cases
    ]
    written = [] if html is None else _write_page(html, explanations, opened, exact=exact, hide_places=hide_places)
    say_what_is_new(match, notes=opened.notes)
    yield _plain(explanations)
    for explanation, name in zip(explanations, cases, strict=True):
        _print_explanation(explanation, _title(opened, name, user))
    for line in [*([NOT_FITTED] if predictor.checkpoint.is_unfitted else []), *written]:
        console.print(line, markup=False)


def _check_named(case: str | None, user: str | None, as_of: str | None, at: str | None) -> None:
    """Refuse options that do not name one thing to explain."""
    if user is not None and case is not None:
        raise CaseError("--user and --case name two different things to explain; leave out one")
    if as_of is not None and user is None:
        raise CaseError("--as-of needs --user ID")
    if at is not None and user is None:
        raise CaseError("--at needs --user ID; the time of a case is known: use --given-time")


def _check_page(html: Path | None, *, exact: bool, hide_places: bool) -> None:
    """Refuse options of a page that contradict each other or mean nothing."""
    if (exact or hide_places) and html is None:
        raise ConfigError("--exact and --hide-places need --html FILE")
    if exact and hide_places:
        raise ConfigError("use either --exact or --hide-places, not both")


def _write_page(
    path: Path, explanations: "Sequence[CaseExplanation]", opened: "Workspace", **hidden: bool
) -> list[str]:
    """Write the page to share; returns lines on the file and its content."""
    from analysis.basemap.stored import find_basemap
    from analysis.sharing.page import write_html
    from analysis.sharing.share import share_cases

    city = (opened.dataset.hash, opened.bundle, opened.latitude, opened.longitude)
    basemap = find_basemap(*city, synthetic=opened.dataset.manifest.synthetic)
    page = share_cases(explanations, opened, basemap=basemap, **hidden)
    write_html(page, path)
    content = page.note if page.estimate is None else page.estimate.sentence
    return [f"Wrote {path}: open it in any browser, also offline.", content]


def _plain(cases: "Sequence[CaseExplanation | RanksOnly]") -> Any:
    """For JSON: one object, or a list of several."""
    plain = [case.model_dump(mode="json") for case in cases]
    return plain if len(plain) > 1 else plain[0]


def _title(opened: "Workspace", case: "int | Moment", user: str | None) -> str:
    """``Case 5``, or ``User w0041, from the last check-in``, by the id that was asked for."""
    from analysis.trajectories.case_names import moment_words
    from recap.history.moments import Moment

    if isinstance(case, Moment):
        return f"{user_name(case.user) if user is None else f'User {user}'}, {moment_words(opened.dataset, case)}"
    return f"Case {case}"


def _print_ranks(case: "RanksOnly", name: str) -> None:
    from analysis.explain.sentences import NEXT_NOT_KNOWN
    from analysis.explain.types import NOT_KNOWN_YET

    unknown = f" {NEXT_NOT_KNOWN}" if case.truth_name == NOT_KNOWN_YET else ""
    console.print(
        f"{name}: {case.model} ranks {case.about.name} {ordinal(case.about.rank)} of {case.num_places:,}, "
        f"from {case.source}.{unknown} Its scores have no contributions.",
        markup=False,
    )
    if case.what_if is not None:
        change = case.what_if.target
        console.print(f"With the edits: {ordinal(change.rank_before)} → {ordinal(change.rank)}.", markup=False)
    best = Table("rank", "place", "score", title="Best places", title_justify="left")
    for place in case.best:
        best.add_row(rank_number(place.rank), escape(place.name), f"{place.score:.3f}")
    console.print(best)
    if not case.removed:
        return
    title = f"Rank of {case.about.name} without one visit"
    without = Table("visit", "place", "when", "rank", title=escape(title), title_justify="left")
    for entry in case.removed:
        moment = entry.local_time.replace("T", " ")[:16]
        without.add_row(str(entry.visit), escape(entry.name), moment, rank_number(entry.rank_without))
    console.print(without)


def _train_seeds(predictor: "Predictor", seeds: int) -> None:
    """Train the missing seeds and keep the tables of the checks."""
    from analysis.explain.seed_replicates import measure_replicates, train_replicates
    from recap.machine.device import choose_device

    train_replicates(predictor.checkpoint, predictor.dataset, seeds, choose_device("auto"), progress_console.print)
    with steps_progress("Ranking with other seeds") as report:
        measure_replicates(predictor.checkpoint, predictor.dataset, report)


def _parse_cases(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise CaseError(f"--case expects numbers such as 5 or 5,17, got {text!r}") from None


def _print_explanation(explanation: "CaseExplanation", title: str) -> None:
    console.print(f"{title}: {explanation.headline.text}", style="bold", markup=False)
    for sentence in explanation.sentences:
        console.print(sentence.text, markup=False)
    if explanation.inactive:
        console.print(f"Inactive at this epoch: {', '.join(explanation.inactive)}".replace("_", " "))
    if explanation.what_if is not None:
        target, change = explanation.what_if.target, explanation.what_if
        console.print(
            f"With {explanation.edits}: {ordinal(target.rank_before)} → {ordinal(target.rank)}, lead over "
            f"{change.runner_up.name} {signed_points(change.lead_before)} → {signed_points(change.lead)}",
            markup=False,
        )
    console.print(_contributions(explanation))
    console.print(_best_places(explanation))
    if explanation.paths:
        console.print(_paths(explanation))
    for place in explanation.visits:
        if place.visits:
            console.print(f"Past visits to {place.name}: {len(place.visits):,}", markup=False)
        for visit in place.visits[::-1][:_MOST_ROWS]:
            moment = visit.local_time.replace("T", " ")[:16]
            lost = "" if visit.points is None else f", {signed_points(visit.points)}"
            rank = moved_rank(visit.rank_without, explanation.target_rank)
            console.print(f"  {moment}, visit {visit.visit}{lost}; without it {rank}", highlight=False)
    if explanation.tried is not None:
        flip, line = explanation.flip, f"None of {explanation.tried} single edits reverses the two places."
        if flip is not None:
            line = f"Of {explanation.tried} edits tried, the smallest: {flip.text}, lead {signed_points(flip.lead)}"
        console.print(line, markup=False)
    if explanation.checks:
        table = _table("Is it stable?", *explanation.checks[0].cells)
        for check in explanation.checks:
            table.add_row(*map(escape, check.cells.values()))
        console.print(table)


def _contributions(explanation: "CaseExplanation") -> Table:
    from analysis.explain.model_words import curve_label
    from analysis.records.ablations import part_label

    a, b = explanation.a, explanation.b
    ranks = {entry.name: moved_rank(entry.rank, explanation.target_rank) for entry in explanation.without}
    table = _table("What adds up to the score", "", a.name, b.name, "difference", "rank without")

    def add(label: str, mine: float, theirs: float, rank: str = "", style: str = "") -> None:
        values = (signed_points(mine), signed_points(theirs), signed_points(mine - theirs))
        table.add_row(escape(label), *values, rank, style=style)

    for group, terms in explanation.groups.items():
        add(part_label(group), a.groups[group], b.groups[group], ranks.get(group, ""))
        for term in terms if terms != [group] else []:
            if a.terms[term] or b.terms[term]:
                add(f"  {curve_label(term)}", a.terms[term], b.terms[term], style="dim")
    table.add_row("Score", points(a.score), points(b.score), signed_points(a.score - b.score), "", style="bold")
    for name, rank in ranks.items():
        if name not in explanation.groups:
            table.add_row(part_label(name), "", "", "", rank)
    if a.gate is not None or b.gate is not None:
        gates = ["–" if entry.gate is None else signed(entry.gate, 2) for entry in (a, b)]
        table.add_row("Gate of the correction", *gates, "", "")
    return table


def _best_places(explanation: "CaseExplanation") -> Table:
    table = _table("Best places", "rank", "place", "probability", "score")
    for entry in explanation.candidates:
        marker = "◎ " if entry.poi == explanation.truth else ""
        chance = percent(entry.probability, 1)
        table.add_row(rank_number(entry.rank), marker + escape(entry.name), chance, points(entry.score))
    return table


def _paths(explanation: "CaseExplanation") -> Table:
    table = _table(
        f"Two-hop paths to {escape(explanation.target_name)}", "through", "in", "out", "points", "rank without"
    )
    for path in explanation.paths[:_MOST_ROWS]:
        table.add_row(
            escape(path.name),
            f"{path.count_in:,} of {path.total_in:,}",
            f"{path.count_out:,} of {path.total_out:,}",
            "–" if path.points is None else signed(path.points, 3),
            moved_rank(path.rank_without, explanation.target_rank),
        )
    return table


def _table(title: str, *names: str) -> Table:
    table = rich_table(title, *map(escape, names), left=(names[0], "place"))
    table.columns[0].no_wrap = True
    return table
