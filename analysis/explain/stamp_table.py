"""Stamps as a table: for each row its points, the rank without it, and whether it holds, in glyphs and words."""

from typing import Final

from analysis.explain.checks import CaseChecks
from analysis.explain.stamps import PathPeople, RowStamp, Verdict
from analysis.formatting import ordinal, signed_points
from analysis.records.score_rows import ROW_WORDS
from recap.config import Config

GLYPHS: Final[dict[Verdict, str]] = {
    "holds": "●",
    "partly": "◐",
    "fails": "○",
    "not_explained": "○",
    "no_points": "–",
}
"""Shapes, never hues: filled, half, open; a dash where there is nothing to hold."""
MOST_PATHS: Final = 5


class StampLine(Config):
    """One line of the table; texts as they are shown."""

    label: str
    points: str
    rank: str
    chips: list[str]


def stamp_lines(checks: CaseChecks, rank: float, path_names: list[str]) -> list[StampLine]:
    """One line for each row that the model has, then one for each of the strongest paths.

    Args:
        rank: of the place that is explained.
        path_names: middle places in the order of `CaseChecks.path_people`.
    """
    lines = [
        StampLine(
            label=stamp.label,
            points="–" if stamp.verdict == "not_explained" and not stamp.points else signed_points(stamp.points),
            rank=_moved(rank, (checks.without or {}).get(ROW_WORDS[stamp.row].source)),
            chips=_chips(stamp),
        )
        for stamp in checks.stamps
    ]
    for name, path in list(zip(path_names, checks.path_people, strict=True))[:MOST_PATHS]:
        chip = (
            f"○ {path.stamp}" if path.stamp else f"{path.people:,} people's trips" if path.people else "own trips only"
        )
        lines.append(StampLine(label=f"Path through {name}", points="", rank="", chips=[chip]))
    return lines


def path_lines(checks: CaseChecks, row: str, path_names: list[str]) -> list[tuple[str, str]]:
    """Middle place, and whose trips, of the strongest paths behind a row; none behind a row that is no two-hop row."""
    if row not in ("two_hop_addends", "graph_token"):
        return []
    return [(name, _whose(path)) for name, path in list(zip(path_names, checks.path_people, strict=True))[:MOST_PATHS]]


def _whose(path: PathPeople) -> str:
    if not path.people:
        return "own trips only"
    people = "1 person" if path.people == 1 else f"{path.people:,} people"
    return f"{people}, {path.trips:,} trip{'s' * (path.trips != 1)}"


def shown_first(checks: CaseChecks) -> str:
    """The row whose checks are shown unasked: what speaks most among the rows that hold, else among all with points."""
    told = [stamp for stamp in checks.stamps if stamp.verdict not in ("not_explained", "no_points")]
    measured = told or checks.stamps
    holding = [stamp for stamp in measured if stamp.verdict == "holds" and stamp.points > 0]
    return max(holding or measured, key=lambda stamp: stamp.points).row


def stamp_finding(checks: CaseChecks) -> str:
    """Which row speaks most for the place, claimed only where its stamp holds."""
    seeds = [stamp.seeds for stamp in checks.stamps if stamp.seeds is not None]
    if not seeds:
        return "Seeds not measured: placebos and trips alone do not show that a row holds."
    holding = [stamp for stamp in checks.stamps if stamp.verdict == "holds" and stamp.points > 0]
    if not holding:
        return f"No row that speaks for this place holds in {max(seeds)} seeds and beats its placebos."
    best = max(holding, key=lambda stamp: stamp.points)
    return (
        f"Most points among the rows that hold: {best.label}, {signed_points(best.points)}, in {best.seeds_same} of "
        f"{best.seeds} seeds."
    )


def _chips(stamp: RowStamp) -> list[str]:
    people = [f"{stamp.people:,} people"] if stamp.people is not None and stamp.people > 1 else []
    return [f"{GLYPHS[stamp.verdict]} {stamp.words[0]}", *stamp.words[1:], *people]


def _moved(rank: float, without: float | None) -> str:
    if without is None:
        return "–"
    return f"stays {ordinal(rank)}" if without == rank else f"{ordinal(rank)} → {ordinal(without)}"
