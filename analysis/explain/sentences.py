"""The sentences of Explain: headline, what raises a rank, edits, and the lines below charts.

At most four short sentences are about a rank. Every "without" is an ablation that was run.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from analysis.explain.edits import parse_edits
from analysis.explain.explanation import CaseExplanation
from analysis.explain.paths import TransitionMakers
from analysis.explain.types import NOT_KNOWN_YET, About, Piece, PieceKind, Sentence
from analysis.formatting import days, number_word, ordinal, points, times
from analysis.records.ablations import HOPS_ABLATIONS, part_label, part_words, slug
from analysis.records.evaluation_records import is_time_given, label_as_subject, label_in_sentence
from recap.asking.counterfactuals import GRAPH_TOKEN
from recap.features.catalogue import PAST, PATHS, PLACES, TIME, TRANSITIONS
from recap.machine.printable import markdown_text

_SMALL: Final = 0.005
NEAR_HOURS: Final = 1
"""Around the time given."""
SCORE_TITLE: Final = "What adds up to the score"
RUNNER_UP_HELP: Final = "Choose one of the best places, or type any other name and press Enter."
SMALLEST_EDIT: Final = "Smallest change that swaps the two places"
MORE_HELP: Final = "Choose the model, hide the true next place, download files."
NEXT_NOT_KNOWN: Final = f"The next place is {NOT_KNOWN_YET}."
NO_VISIT: Final = "The user had been to neither place."
VISIT_POINTS_HELP: Final = "What the place's score loses without the visit."


def headline(shown: CaseExplanation) -> Sentence:
    """``RECAP ranks Denholme Arms 1st of 2,102, and that is where the user went.``"""
    if shown.what_if is not None:
        return _after_edits(shown, shown.what_if.target.rank_before)
    first = _runner_up_name(shown) if shown.b.rank == 1 else None
    return rank_headline(shown.model, _target_name(shown), shown.a.rank, shown.num_places, shown.truth_name, first)


def rank_headline(
    model: str, target: Piece, rank: float, num_places: int | None, truth: str, first: Piece | None
) -> Sentence:
    """Where a model ranks a place, and where the user went.

    Args:
        num_places: ranked; None for a list of the best ones.
        truth: see `CaseExplanation.truth_name`.
        first: the model's first choice, unless it is this place.
    """
    of = "" if num_places is None else f" of {num_places:,}"
    who = label_as_subject(model) if is_time_given(model) else model
    pieces: list[str | Piece] = [f"{who} ranks ", target, f" {ordinal(rank)}{of}"]
    if truth == NOT_KNOWN_YET:
        return _sentence("rank", *pieces, f". {NEXT_NOT_KNOWN}")
    if not truth:
        return _sentence("rank", *pieces, ".")
    if truth != target.text:
        return _sentence("rank", *pieces, ". The user went to ", Piece(text=truth, kind="place"), ".")
    if rank == 1:
        return _sentence("rank", *pieces, ", and that is where the user went.")
    whose = "its" if is_time_given(model) else f"{label_in_sentence(model)}'s"
    choice: list[str | Piece] = [] if first is None else [f"; {whose} first choice was ", first]
    return _sentence("rank", *pieces, ". The user went there", *choice, ".")


def describe_listed(model: str, truth: str | None, rank: float | None, best: Sequence[str]) -> Sentence:
    """Headline for an imported list of names; without a rank, the list does not contain the truth."""
    first = Piece(text=best[0], kind="runner_up") if best else None
    if truth is None:
        return _sentence("rank", f"The list of {model}")
    about = Piece(text=truth, kind="target")
    if rank is None:
        return _sentence("rank", about, f" is not in the list of {model}.")
    return rank_headline(model, about, rank, None, truth, first)


def _after_edits(shown: CaseExplanation, before: float) -> Sentence:
    rank, count = shown.a.rank, len(parse_edits(shown.edits))
    verb, was = ("still ranks", "") if before == rank else ("ranks", f" It was {ordinal(before)}.")
    model = label_as_subject(shown.model) if is_time_given(shown.model) else shown.model
    start = f"After {count} change{'s' * (count != 1)}, {model} {verb} "
    return _sentence("rank", start, _target_name(shown), f" {ordinal(rank)} of {shown.num_places:,}.{was}")


def render_sentences(shown: CaseExplanation, makers: TransitionMakers | None) -> list[Sentence]:
    """Sentences on the transition, past visits, ablations, and a better runner-up.

    There are no ``makers`` of the training transitions from source to target if an edit changed these.
    """
    return [*_transition(shown, makers), _visits(shown), *_near_time(shown), *_without(shown), *_runner_up(shown)]


def _sentence(about: About, *pieces: str | Piece) -> Sentence:
    return Sentence(about=about, pieces=[Piece(text=piece) if isinstance(piece, str) else piece for piece in pieces])


def _target_name(shown: CaseExplanation) -> Piece:
    return Piece(text=shown.target_name, kind="target")


def _runner_up_name(shown: CaseExplanation) -> Piece:
    name = shown.b.name
    return Piece(text=f"another {name}" if name == shown.target_name else name, kind="runner_up")


def _is_raised_by(shown: CaseExplanation, name: str) -> bool:
    """Whether a group adds to the target's score, and its rank falls without the group, in this model."""
    loses = any(entry.name == name and entry.rank > shown.a.rank for entry in shown.without)
    return loses and shown.a.groups.get(name, 0.0) > 0


def _transition(shown: CaseExplanation, makers: TransitionMakers | None) -> list[Sentence]:
    if makers is None:
        return []
    own, others, users = makers.own, makers.others, makers.users
    source, target = Piece(text=shown.source_name, kind="place"), _target_name(shown)
    way: list[str | Piece] = ["made the transition ", source, " → ", target]
    if shown.source == shown.target:
        way = ["checked in again at ", target]
    if not own and not others:
        return [_sentence("transition", "Nobody ", *way, " in training.")]
    people = "1 other user" if users == 1 else f"{users:,} other users"
    if own and others:
        who, often = f"{people} ({times(others)}) and this user ({times(own)})", "."
    else:
        who, often = people if others else "only this user", f" ({times(own or others)})."
    return [_sentence("transition", f"In training, {who} ", *way, often)]


def _visits(shown: CaseExplanation) -> Sentence:
    """Past visits to the target; they "raise" its rank only where an ablation shows it."""
    visits, stays = shown.visits[0], shown.source == shown.target
    last, count = visits.last, len(visits.visits)
    here = "is there now and had" if stays else "had"
    if last is None:
        return _sentence("visits", f"The user {here} never been there{' before' * stays}.")
    ago = f"{days(last.days_ago)} ago"
    if not _is_raised_by(shown, PAST) or shown.b.rank < shown.a.rank:
        when = f"once, {ago}" if count == 1 else f"{times(count)}, the last time {ago}"
        return _sentence("visits", f"The user {here} been there {when}.")
    past = Piece(text="past visit" if count == 1 else "past visits", kind="revisits")
    clock: list[str | Piece] = []
    if _is_raised_by(shown, TIME):
        clock = [" and the ", Piece(text="time of day", kind="revisits")]
    when = f", {ago}," if count == 1 else f", the last one {ago},"
    verb = " raises its rank." if count == 1 and not clock else " raise its rank."
    return _sentence("visits", f"{number_word(count).capitalize()} ", past, when, *clock, verb)


def _near_time(shown: CaseExplanation) -> list[Sentence]:
    """How many visits to the target were around the time given, and how many would be if they came at any hour."""
    visits = shown.visits[0].visits
    if not shown.time_given or not visits:
        return []
    given = datetime.fromisoformat(shown.time_given)
    minutes = [_minute(datetime.fromisoformat(visit.local_time)) - _minute(given) for visit in visits]
    near = sum(min(apart % 1440, -apart % 1440) <= 60 * NEAR_HOURS for apart in minutes)
    start, stop = (given + timedelta(hours=sign * NEAR_HOURS) for sign in (-1, 1))
    expected = points(shown.share_near_time * len(visits)).removesuffix(".00")
    were = "visit was" if len(visits) == 1 else "visits were"
    line = f"{near:,} of {len(visits):,} {were} between {start:%H:%M} and {stop:%H:%M}"
    return [_sentence("time", f"{line}; at any time {expected} would be expected.")]


def _minute(time: datetime) -> int:
    return 60 * time.hour + time.minute


def _without(shown: CaseExplanation) -> list[Sentence]:
    """The ablation with the largest loss, and two-hop paths; no group that adds nothing to the target."""
    rank, added = shown.a.rank, shown.a.groups
    ablations = [entry for entry in shown.without if points(added.get(entry.name, 1.0)) != "0.00"]
    carrying = max(ablations, key=lambda entry: entry.rank, default=None)
    named = [carrying] if carrying is not None and carrying.rank > rank else []
    hops = next((entry for name in HOPS_ABLATIONS for entry in ablations if slug(entry.name) == name), None)
    if hops is not None and hops not in named and (shown.paths or hops.rank != rank):
        named.append(hops)
    lead = "Also without" if shown.edits else "Without"
    if len(named) == 2 and named[0].rank == named[1].rank:
        parts = (f"{lead} ", _part_piece(named[0].name), ", or without ", _part_piece(named[1].name))
        return [_sentence("without", *parts, f", it {_would(named[0].rank, rank)}.")]
    pieces: list[str | Piece] = []
    for number, entry in enumerate(named):
        pieces += ["; without " if number else f"{lead} ", _part_piece(entry.name), f" it {_would(entry.rank, rank)}"]
    return [_sentence("without", *pieces, ".")] if pieces else []


def _part_piece(name: str) -> Piece:
    kinds: dict[str, PieceKind] = dict.fromkeys((PAST, TIME), "revisits")
    kinds |= dict.fromkeys((PATHS, TRANSITIONS, GRAPH_TOKEN), "paths")
    return Piece(text=part_words(name), kind=kinds.get(name, "plain"))


def _would(rank: float, before: float) -> str:
    return f"would stay {ordinal(rank)}" if rank == before else f"would rank {ordinal(rank)}"


def _runner_up(shown: CaseExplanation) -> list[Sentence]:
    if shown.b.rank >= shown.a.rank:
        return []
    differences = {group: value - shown.b.groups[group] for group, value in shown.a.groups.items()}
    against = min(differences, key=lambda group: differences[group])
    if differences[against] > -_SMALL:
        return []
    piece = _part_piece(against)
    verb = " favours " if against == TIME or piece.text.startswith("the ") else " favour "
    return [_sentence("runner_up", "Above all, ", piece, verb, _runner_up_name(shown), ".")]


def part_pill(name: str) -> str:
    """A group of terms or the graph token on a small button.

    >>> part_pill("time of day and week"), part_pill("past visits")
    ('Time', 'Past visits')
    """
    short: dict[str, str] = {TIME: "Time", TRANSITIONS: "Transitions", PLACES: "Popularity, distance"}
    return short.get(name) or part_label(name)


def other_place(which: int) -> str:
    return f"The link's {('first', 'second')[which]} place is not in this dataset, so another one is shown."


def no_such_place(typed: str) -> str:
    return f"No other place here is called {markdown_text(typed[:80])}."


def no_such_case(typed: str) -> str:
    return f"No case or user “{markdown_text(typed[:40])}” here."


def case_help(last: int) -> str:
    return f"Choose a case of this user, or type a number up to {last:,} or a user such as “user 41” and press Enter."


def from_line(source: str) -> str:
    return f"From {markdown_text(source)}."


def ranks_only_line(source: str, model: str) -> str:
    return f"{from_line(source)} {markdown_text(model)} gives scores without contributions."


def rank_in_words(place: str) -> str:
    return f"Rank of {markdown_text(place)}"


def lead_over(place: str) -> str:
    return f"Lead over {markdown_text(place)}"


def tick_a_visit(num_places: int) -> str:
    return f"Tick a visit to remove it; all {num_places:,} places are re-ranked."


def no_path(place: str) -> str:
    return f"No two-hop path leads to {markdown_text(place)}."


def left_out_edits(reason: str) -> str:
    return f"The link's changes were left out: {markdown_text(reason)}"


def curves_line(marks: str) -> str:
    return f":small[:gray[The curves on which the two places differ most.] {marks}]"
