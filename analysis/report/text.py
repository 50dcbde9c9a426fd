"""A full explanation as lines for a terminal: paths with their rows and cuts, visits, leave-one-out, contrast."""

from collections.abc import Iterator

from rich.markup import escape

from analysis.explain.explanation import FullExplanation
from analysis.explain.robustness import RowCheck, describe_checks
from analysis.formatting import rank_number, signed, times
from analysis.glossary import PART_NAMES

MOST_LINES = 8
"""Of a list; what is left out is counted."""


def describe_fully(explanation: FullExplanation) -> Iterator[str]:
    """What goes beyond `CaseExplanation`, line by line, in rich markup with all names escaped."""
    yield from _shortened("Paths cut", _path_lines(explanation))
    yield from _shortened("Earlier visits", _visit_lines(explanation))
    yield from _shortened("Left out alone, what supports it most first", _left_out_lines(explanation))
    yield from _contrast_lines(explanation)
    if explanation.checks is not None:
        yield from _check_lines(explanation.checks)
    yield " ".join(escape(sentence.text) for sentence in explanation.sentences)
    yield from _what_if_lines(explanation)


def _path_lines(explanation: FullExplanation) -> list[str]:
    lines = []
    for path in explanation.path_evidence:
        cuts = {
            "frozen": path.frozen,
            "first half recounted": path.recounted_in,
            "second half recounted": path.recounted_out,
        }
        ranks = ", ".join(
            f"{name} {rank_number(outcome.rank)}" for name, outcome in cuts.items() if outcome is not None
        )
        users = len({*path.rows_in.walkers, *path.rows_out.walkers})
        rows = len(path.rows_in.times) + len(path.rows_out.times)
        lines.append(
            f"via {escape(path.name)}: {rows} training rows of {users} walker{'s' * (users != 1)}"
            + (f"; rank {ranks}" if ranks else "")
        )
    return lines


def _visit_lines(explanation: FullExplanation) -> list[str]:
    lines = []
    for revisits in explanation.revisits:
        last = revisits.visits[-1] if revisits.visits else None
        when = (
            "never"
            if last is None
            else f"{times(revisits.count)}, last {last.local_time.replace('T', ' ')}, {last.steps_ago} check-ins ago"
        )
        gate = (
            ""
            if revisits.gate is None
            else f"; gate {signed(revisits.gate, 2)}, correction {signed(revisits.correction, 2)}"
        )
        lines.append(f"{escape(revisits.name)}: {when}{gate if last else ''}")
    return lines


def _left_out_lines(explanation: FullExplanation) -> list[str]:
    return [
        f"{escape(entry.item.label)}: rank {rank_number(entry.outcome.rank)}, "
        f"score {signed(entry.outcome.logit_change, 2)}"
        + (f" (its token alone masked: rank {rank_number(entry.masked.rank)})" if entry.masked is not None else "")
        for entry in explanation.leave_one_out or []
    ]


def _contrast_lines(explanation: FullExplanation) -> Iterator[str]:
    split = explanation.contrast
    parts = ", ".join(
        f"{PART_NAMES[name].lower()} {signed(value, 2)}" for name, value in split.parts.items() if abs(value) >= 0.005
    )
    margin = signed(split.margin, 2)
    yield f"{escape(split.a.name)} against {escape(split.b.name)}: {margin} = {parts or 'no difference'}"
    if split.flip is not None:
        yield f"  reversed by {escape(split.flip.text)} (then {signed(split.flip.margin, 2)})"
    elif split.tried is not None:
        yield f"  none of {split.tried:,} single edits reverses it"


def _what_if_lines(explanation: FullExplanation) -> Iterator[str]:
    after = explanation.what_if
    if after is not None:
        yield (
            f"Edits {escape(after.edits)}: rank {rank_number(after.target.rank_before)} → "
            f"{rank_number(after.target.rank)}, lead on "
            f"{escape(after.rival.name)} {signed(after.lead_before, 2)} → {signed(after.lead, 2)}"
        )


def _shortened(heading: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{heading}:"
        yield from (f"  {line}" for line in lines[:MOST_LINES])
        if len(lines) > MOST_LINES:
            yield f"  and {len(lines) - MOST_LINES} more; --json has them all"


def _check_lines(checks: list[RowCheck]) -> Iterator[str]:
    yield f"Is it stable? {describe_checks(checks)}"
    for check in checks:
        label, *cells = check.cells.items()
        yield f"  {label[1]}: " + "; ".join(f"{name.lower()} {cell}" for name, cell in cells if cell != "–")
