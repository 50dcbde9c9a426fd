"""How one row of an explanation was checked, in words: its seeds, its placebos, whose trips it rests on.

Every rendering (page, command line, HTML, notebook) takes these texts, so that they say the same numbers.
"""

from typing import Final

from analysis.explain.placebo import PLACEBO_LEVEL
from analysis.explain.stamps import RowStamp
from analysis.formatting import ordinal, percent, signed_points
from analysis.records.score_rows import OPAQUE_ROWS

PLACEBOS_OF: Final = {
    "own_visits": "other walkers' visits, for the same place",
    "popularity": "other places' popularity",
    "graph_token": "the token filled from other places",
}
"""What is drawn at random for a row; the others: `ELSEWHERE`."""
ELSEWHERE: Final = "the same walker standing elsewhere, at another time of the week"
_WHOSE: Final = {
    "own_visits": "This walker's own check-ins.",
    "hour_and_weekday": "This walker's own check-ins.",
    "own_transitions": "This walker's own steps.",
    "popularity": "Training check-ins of all people; a model may leave this walker's own out.",
    "distance": "No trips: where places lie.",
}


def describe_checks(stamp: RowStamp) -> list[str]:
    """Seeds, placebos and people of one row, a sentence or two each."""
    return [describe_seeds(stamp), describe_placebos(stamp), describe_people(stamp)]


def describe_seeds(stamp: RowStamp) -> str:
    """The truth's rank with and without the row in each seed, and the sign of its points."""
    if not stamp.seed_checks:
        return "Seeds: not measured for an edited case, or for another place than the true one."
    ranks = "; ".join(
        f"{check.seed} {ordinal(check.rank)} → {'–' if check.without is None else ordinal(check.without)}"
        for check in stamp.seed_checks
    )
    if len(stamp.seed_checks) == 1:
        return f"Seeds not measured; this one, rank with → without: {ranks}."
    told = ", ".join(signed_points(check.points) for check in stamp.seed_checks)
    same = ""
    if stamp.seeds is not None:
        same = f"; same sign as here in {stamp.seeds_same} of {stamp.seeds}"
    return f"Rank with → without, by seed: {ranks}. Points: {told}{same}."


def describe_placebos(stamp: RowStamp) -> str:
    """How many placebos reach as far as the row, and how far 95 % of them go."""
    test = stamp.placebo
    if test is None:
        return "No placebo: what the network says is not explained."
    total = len(test.placebos)
    kind = PLACEBOS_OF.get(stamp.row, ELSEWHERE)
    if stamp.verdict == "no_points":
        return f"The row gives this place nothing, so nothing is held against {total} placebos."
    if test.reached:
        reach = f"{test.reached} of {total} placebos reach" if test.reached > 1 else f"1 of {total} placebos reaches"
    else:
        reach = f"None of {total} placebos reaches"
    stay = f"{percent(PLACEBO_LEVEL)} stay {'below' if stamp.points > 0 else 'above'} {signed_points(test.bar)}"
    return f"{reach} {signed_points(stamp.points)}, p = {test.p_value:.3f}; {stay}. Placebos: {kind}."


def describe_people(stamp: RowStamp) -> str:
    """Whose trips a row rests on."""
    if stamp.people is not None and stamp.trips is not None:
        other = "" if stamp.row == "graph_token" else "other "
        people = f"One {other}person" if stamp.people == 1 else f"{stamp.people:,} {other}people"
        return f"{people}, {stamp.trips:,} training trip{'s' * (stamp.trips != 1)}."
    if stamp.row in OPAQUE_ROWS:
        return "Whose trips is not told apart: weights learned from all of them."
    return _WHOSE.get(stamp.row, "Nobody's training trips.")
