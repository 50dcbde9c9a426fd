"""The sentences of Walk; names are escaped for Markdown."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from analysis.explain.sentences import NEXT_NOT_KNOWN
from analysis.formatting import day, ordinal, points, signed_points
from analysis.records.ablations import ABLATION_LABELS, part_words
from analysis.trajectories.predictions import CasePrediction
from recap.machine.printable import markdown_text

NO_CASE: Final = "No case passes these filters."
UNREADABLE_SELECTION: Final = "The link's choice of cases cannot be read, so all cases are shown."
RANK_LIMIT: Final = "Found means in the top …"
LIST_ALT: Final = "The best predictions with rank, probability and distance"
NOT_AMONG: Final = "Case {case} does not pass the filters above."
HIDDEN: Final = "?"
LAST_STOP: Final = "Last check-in"
NOT_LISTED: Final = "not listed"
MOST_BADGES: Final = 3
MOST_CONTRIBUTIONS: Final = 3
_COLOURS: Final = {"past_visits": "violet", "two_hop_paths": "green", "graph_token": "green"}
_GROUP_WORDS: Final = ABLATION_LABELS | {"two_hop_paths": "two-hop paths"}


def title(source: str, truth: str | None) -> str:
    """The two places of a case; None hides the destination."""
    return f"{markdown_text(source)} → :orange[{HIDDEN if truth is None else markdown_text(truth)}]"


def stop_line(when: datetime, stop: int, stops: int, here: str, there: str) -> str:
    """When and where in the trajectory; a neighbourhood is empty if it is unknown or hidden."""
    now = f" in {markdown_text(here)}" if here else ""
    then = f", in {markdown_text(there)}" if there else ""
    return f"{day(when)}, {when:%H:%M}{now}. Stop {stop} of {stops}. The true next place{then}:"


def last_stop_line(when: datetime, here: str) -> str:
    now = f" in {markdown_text(here)}" if here else ""
    return f"From the last check-in, {day(when)}, {when:%H:%M}{now}. {NEXT_NOT_KNOWN}"


def map_alt(names: Sequence[str]) -> str:
    return f"Map of the trajectory so far. Best predictions: {', '.join(names)}. The table next to it lists them."


def count_line(passing: int, cases: int, users: int, all_users: int) -> str:
    """How many cases pass the filters; without filters, of how many users.

    >>> count_line(12, 3984, 335, 533), count_line(3984, 3984, 335, 533)
    ('12 of 3,984 cases', '3,984 cases of 335 of 533 users')
    """
    if passing < cases:
        return f"{passing:,} of {cases:,} cases"
    return f"{cases:,} cases of {users:,}{f' of {all_users:,}' * (users < all_users)} users"


def ranks_unknown(k: int, longest: int | None) -> str:
    """Imported lists are too short for a filter."""
    return f"Choose at most {longest}: the shortest imported list has {longest} places, fewer than {k}."


def contributions(name: str, score: float, parts: Mapping[str, float]) -> str:
    """One place's score, with the largest contributions to it.

    Args:
        parts: contribution by the group's slug; fewer than two are not named.
    """
    if math.isnan(score):
        return f"{markdown_text(name)} is not in the list, so its rank and score are unknown."
    largest = sorted(parts, key=lambda group: -abs(parts[group]))[:MOST_CONTRIBUTIONS]
    named = [
        f"{part_words(group)} {signed_points(parts[group])}" for group in largest if points(parts[group]) != "0.00"
    ]
    said = f" Largest contributions: {', '.join(named)}." if len(parts) > 1 and named else ""
    return f"{markdown_text(name)}: score {markdown_text(f'{points(score)}.{said}')}"


def badges(rank: float, ranks_without: Mapping[str, float]) -> list[str]:
    """The truth's rank without each of the feature groups that change it most."""
    changed = {group: other for group, other in ranks_without.items() if not math.isnan(other) and other != rank}
    first = sorted(changed, key=lambda group: -abs(math.log(changed[group] / rank)))[:MOST_BADGES]
    return [
        f":{_COLOURS.get(group, 'gray')}-badge[Without {_GROUP_WORDS[group]}: {ordinal(changed[group])}]"
        for group in first
    ]


def legend(prediction: CasePrediction, *, truth: bool, paths: bool = True) -> list[str]:
    size = "rank" if prediction.held_by is None else "probability"
    entries = {
        "**━** :gray[Path so far]": True,
        f":blue[●] :gray[Prediction, sized by {size}]": True,
        ":orange[◯] :gray[True next place]": truth,
        ":violet[●] :gray[Visited before]": prediction.reads_visits,
        ":green[━] :gray[Two-hop path]": paths and prediction.reads_paths,
    }
    return [entry for entry, is_drawn in entries.items() if is_drawn]


def published(described: str) -> str:
    return f"{markdown_text(described)}: trained on this city. Only its ranks are here, so it cannot be explained."


def imported(label: str, listed: int, shortest: int | None, num_places: int) -> str:
    """A sentence on imported predictions, with the lengths of this case's list and of the shortest one."""
    shorter = "" if listed == shortest else f" (the shortest list has {shortest:,})"
    return (
        f"{markdown_text(label)} is imported: a list of {listed:,} of {num_places:,} places{shorter}. "
        "It cannot be explained or edited."
    )
