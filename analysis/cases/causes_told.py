"""Why a case was found or missed, in one sentence that rests on an ablation: left out, and scored again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from analysis.cases.screen import Number, Piece, Screen, join, name
from analysis.formatting import ordinal
from analysis.records.case_filters import MISSED_ABOVE

About = Literal["visits", "paths", "both", "other", "nothing"]
_PLAIN: Final = {
    "past_visits": "how often and how lately they were there",
    "time_of_day_and_week": "what they do at this hour and weekday",
    "transitions_from_here": "where people went from here before",
    "popularity_and_distance": "how near and how popular places are",
    "core": "what the network says by itself",
}
"""Ablations in words for a room; those that name inner parts of a model are left out."""


@dataclass(frozen=True)
class CaseFindings:
    """The numbers of one case that its screens are made of.

    Attributes:
        names: of every place that may be named.
        first, first_share: the model's first place and its share.
        rank: of the truth; `num_places` were ranked.
        without: the truth's rank in each ablation; None where the model has no such part.
        visits, first_visits: the user's earlier visits to the truth and to the first place.
        direct: training steps straight from the source to the truth.
        middles: middle places of two-hop paths to the truth, the strongest first.
        people: other people whose trips these paths are made of.
        by_others: both halves of the strongest path were gone by other people too.
    """

    names: Mapping[int, str]
    source: int
    truth: int
    first: int
    first_share: float
    rank: float
    num_places: int
    without: Mapping[str, float | None]
    visits: int
    first_visits: int
    direct: int
    within_two_hops: bool
    middles: tuple[int, ...]
    people: int
    by_others: bool

    @property
    def is_found(self) -> bool:
        """The truth is on the list."""
        return self.rank <= MISSED_ABOVE

    def loses(self, source: str) -> bool:
        """Found, and off the list without the source."""
        rank = self.without.get(source)
        return self.is_found and rank is not None and rank > MISSED_ABOVE

    def rank_without(self, source: str) -> str:
        """As an ordinal."""
        rank = self.without.get(source)
        return "–" if rank is None else ordinal(rank)


@dataclass(frozen=True)
class Why:
    """What the reason is about, and its screen without a picture."""

    about: About
    screen: Screen


def tell_why(findings: CaseFindings) -> Why:
    """One sentence and at most three numbers."""
    return _found(findings) if findings.is_found else _missed(findings)


def _found(findings: CaseFindings) -> Why:
    truth = name(findings.names[findings.truth], "truth")
    own, hops = findings.loses("history"), findings.loses("two_hops")
    came = Number("Where it came", ordinal(findings.rank))
    without_own = Number("Without their own past", findings.rank_without("history"))
    without_hops = Number("Without such paths", findings.rank_without("two_hops"))
    if own and hops:
        title = join("It takes both, the user's own past and paths by a place between, to list ", truth, ".")
        return Why("both", Screen(title, (came, without_own, without_hops)))
    if own:
        if findings.visits:
            title = join("They had been to ", truth, " before. Without their own past it drops off the list.")
            return Why("visits", Screen(title, (came, without_own, Number("Earlier visits", f"{findings.visits:,}"))))
        title = join("What the user did before puts ", truth, " on the list, though they had never been there.")
        return Why("visits", Screen(title, (came, without_own)))
    if hops:
        numbers = [came, without_hops]
        if findings.people:
            numbers.append(Number("Other people whose trips these are", f"{findings.people:,}"))
        return Why("paths", Screen(_paths_title(findings, truth), tuple(numbers)))
    losing = {source: rank for source, rank in findings.without.items() if findings.loses(source) and rank is not None}
    told = max((source for source in losing if source in _PLAIN), key=losing.__getitem__, default=None)
    if told is not None:
        title = join(f"Without {_PLAIN[told]}, ", truth, " drops off the list.")
        return Why("other", Screen(title, (came, Number("Without it", findings.rank_without(told)))))
    title = join("No single thing decides: ", truth, " stays on the list whatever one takes away.")
    numbers_kept = [came]
    numbers_kept += [without_own] if findings.without.get("history") is not None else []
    numbers_kept += [without_hops] if findings.without.get("two_hops") is not None else []
    if losing:
        title = join("An inner part of the model decides whether ", truth, " is on the list.")
    return Why("other", Screen(title, tuple(numbers_kept)))


def _paths_title(findings: CaseFindings, truth: Piece) -> tuple[Piece, ...]:
    if not findings.middles:
        return join("Where people go on from here puts ", truth, " on the list.")
    whose = "Other people's trips" if findings.by_others else "Trips"
    middle = name(findings.names[findings.middles[0]], "path")
    if findings.direct == 0:
        return join(
            "In the trips it learned from, nobody went straight to ", truth, f". {whose} lead there by ", middle, "."
        )
    return join(f"{whose} by ", middle, " lead to ", truth, ". Without such paths it drops off the list.")


def _missed(findings: CaseFindings) -> Why:
    truth = name(findings.names[findings.truth], "truth")
    first = name(findings.names[findings.first], "model")
    came = Number("Where it came", ordinal(findings.rank))
    freed = {
        source: rank
        for source, rank in findings.without.items()
        if rank is not None and rank <= MISSED_ABOVE and source in {*_PLAIN, "history", "two_hops"}
    }
    if freed:
        source = min(freed, key=freed.__getitem__)
        words = _PLAIN | {"history": "the user's own past", "two_hops": "paths by a place between"}
        title = join(f"It was crowded out: without {words[source]}, ", truth, " would be on the list.")
        return Why("other", Screen(title, (came, Number("Without it", findings.rank_without(source)))))
    if not findings.visits and not findings.within_two_hops:
        title = join(
            "Nothing led to ",
            truth,
            ": they had never been there, and no known trips lead there from here within two steps.",
        )
        return Why("nothing", Screen(title, (came,)))
    visits: tuple[Number, ...] = (Number("Earlier visits there", f"{findings.visits:,}"),)
    if findings.first_visits:
        visits += (Number("Earlier visits to its first choice", f"{findings.first_visits:,}"),)
    if findings.visits:
        title = join("They had been to ", truth, " before, but the model put other places higher, ", first, " first.")
        return Why("visits", Screen(title, (came, *visits)))
    about: About = "paths" if findings.middles else "other"
    title = join("Known trips lead to ", truth, ", but the model put other places higher, ", first, " first.")
    return Why(about, Screen(title, (came, *visits)))
