"""The sentences of Explain: headline, what carries a rank, edits, and the lines below charts.

At most four short sentences carry a rank. Every "without" is an ablation that was run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from analysis.explain.paths import TransitionMakers
from analysis.explain.types import NOT_KNOWN_YET, Candidate, PastVisits, Without
from analysis.formatting import capitalised, days, number_word, ordinal, points, times
from analysis.records.ablations import HOPS_ABLATIONS, slug
from recap.config import Config
from recap.counterfactuals import GRAPH_TOKEN
from recap.features.catalogue import PAST, PATHS, PLACES, TIME, TRANSITIONS
from recap.printable import markdown_text

PieceKind = Literal["plain", "target", "runner_up", "place", "revisits", "paths"]
_SMALL: Final = 0.005
SCORE_TITLE: Final = "What adds up to the score"
RUNNER_UP_HELP: Final = "Choose one of the best places, or type any other name and press Enter."
SMALLEST_EDIT: Final = "Smallest change that swaps the two places"
MORE_HELP: Final = "Choose the model, hide the true next place, download files."
NEXT_NOT_KNOWN: Final = f"The next place is {NOT_KNOWN_YET}."
NO_VISIT: Final = "The user had been to neither place."
VISIT_POINTS_HELP: Final = "What the place's score loses without the visit."


class Piece(Config):
    """Part of a sentence; names of places and feature groups are separate pieces with a colour."""

    text: str
    kind: PieceKind = "plain"


class Sentence(Config):
    about: Literal["rank", "transition", "visits", "without", "runner_up"]
    pieces: list[Piece]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True)
class SentenceInput:
    """Input of the sentences.

    Attributes:
        target, runner_up: the explained place and the one it is compared with.
        truth_name: empty if the truth is hidden, `NOT_KNOWN_YET` after the user's last check-in.
        stays: whether the user is at the target.
        makers: training transitions from the source to the target; None if an edit changed them.
        visits: to the target.
        without: ranks of the target.
        has_paths: whether two-hop paths lead to the target.
        edits: number of applied edits.
        rank_before: of the target, before the edits.
    """

    model: str
    target: Candidate
    runner_up: Candidate
    truth_name: str
    is_truth: bool
    stays: bool
    source_name: str
    num_places: int
    makers: TransitionMakers | None
    visits: PastVisits
    without: list[Without]
    has_paths: bool
    edits: int = 0
    rank_before: float | None = None

    @property
    def target_name(self) -> Piece:
        return Piece(text=self.target.name, kind="target")

    @property
    def runner_up_name(self) -> Piece:
        name = self.runner_up.name
        return Piece(text=f"another {name}" if name == self.target.name else name, kind="runner_up")

    def is_carried_by(self, name: str) -> bool:
        """Whether a group adds to the target's score, and its rank falls without the group."""
        loses = any(entry.name == name and entry.rank > self.target.rank for entry in self.without)
        return loses and self.target.groups.get(name, 0.0) > 0


def headline(case: SentenceInput) -> Sentence:
    """``RECAP ranks Denholme Arms 1st of 2,102, and that is where the user went.``"""
    if case.rank_before is not None:
        return _after_edits(case, case.rank_before)
    first = case.runner_up_name if case.runner_up.rank == 1 else None
    truth = case.target.name if case.is_truth else case.truth_name
    return rank_headline(case.model, case.target_name, case.target.rank, case.num_places, truth, first)


def rank_headline(
    model: str, target: Piece, rank: float, num_places: int | None, truth: str, first: Piece | None
) -> Sentence:
    """Where a model ranks a place, and where the user went.

    Args:
        num_places: ranked; None for a list of the best ones.
        truth: see `SentenceInput.truth_name`.
        first: the model's first choice, unless it is this place.
    """
    of = "" if num_places is None else f" of {num_places:,}"
    pieces: list[str | Piece] = [f"{model} ranks ", target, f" {ordinal(rank)}{of}"]
    if truth == NOT_KNOWN_YET:
        return _sentence("rank", *pieces, f". {NEXT_NOT_KNOWN}")
    if not truth:
        return _sentence("rank", *pieces, ".")
    if truth != target.text:
        return _sentence("rank", *pieces, ". The user went to ", Piece(text=truth, kind="place"), ".")
    if rank == 1:
        return _sentence("rank", *pieces, ", and that is where the user went.")
    choice: list[str | Piece] = [] if first is None else [f"; {model}'s first choice was ", first]
    return _sentence("rank", *pieces, ". The user went there", *choice, ".")


def describe_listed(model: str, truth: str | None, rank: float | None, best: Sequence[str]) -> Sentence:
    """Headline for an imported list.

    Args:
        rank: of the truth; None if the list does not contain it.
        best: names in order.
    """
    first = Piece(text=best[0], kind="runner_up") if best else None
    if truth is None:
        return _sentence("rank", f"The list of {model}")
    about = Piece(text=truth, kind="target")
    if rank is None:
        return _sentence("rank", about, f" is not in the list of {model}.")
    return rank_headline(model, about, rank, None, truth, first)


def _after_edits(case: SentenceInput, before: float) -> Sentence:
    rank, changes = case.target.rank, f"{case.edits} change{'s' * (case.edits != 1)}"
    verb, was = ("still ranks", "") if before == rank else ("ranks", f" It was {ordinal(before)}.")
    ranks = f" {ordinal(rank)} of {case.num_places:,}.{was}"
    return _sentence("rank", f"After {changes}, {case.model} {verb} ", case.target_name, ranks)


def render_sentences(case: SentenceInput) -> list[Sentence]:
    """Sentences on the transition, past visits, ablations, and a better runner-up."""
    return [*_transition(case), _visits(case), *_without(case), *_runner_up(case)]


def _sentence(about: str, *pieces: str | Piece) -> Sentence:
    whole = [Piece(text=piece) if isinstance(piece, str) else piece for piece in pieces]
    return Sentence.parse({"about": about, "pieces": [piece.model_dump() for piece in whole]})


def _transition(case: SentenceInput) -> list[Sentence]:
    if case.makers is None:
        return []
    own, others, users = case.makers.own, case.makers.others, case.makers.users
    way: tuple[str | Piece, ...] = (
        "made the transition ",
        Piece(text=case.source_name, kind="place"),
        " → ",
        case.target_name,
    )
    if case.stays:
        way = ("checked in again at ", case.target_name)
    if not own and not others:
        return [_sentence("transition", "Nobody ", *way, " in training.")]
    people = "1 other user" if users == 1 else f"{users:,} other users"
    if own and others:
        who, often = f"{people} ({times(others)}) and this user ({times(own)})", "."
    else:
        who, often = people if others else "only this user", f" ({times(own or others)})."
    return [_sentence("transition", f"In training, {who} ", *way, often)]


def _visits(case: SentenceInput) -> Sentence:
    """Past visits to the target; "carry" needs an ablation."""
    last, count = case.visits.last, len(case.visits.visits)
    here = "is there now and had" if case.stays else "had"
    if last is None:
        return _sentence("visits", f"The user {here} never been there{' before' * case.stays}.")
    ago = f"{days(last.days_ago)} ago"
    if not case.is_carried_by(PAST) or case.runner_up.rank < case.target.rank:
        when = f"once, {ago}" if count == 1 else f"{times(count)}, the last time {ago}"
        return _sentence("visits", f"The user {here} been there {when}.")
    past = Piece(text="past visit" if count == 1 else "past visits", kind="revisits")
    clock: list[str | Piece] = []
    if case.is_carried_by(TIME):
        clock = [" and the ", Piece(text="time of day", kind="revisits")]
    when = f", {ago}," if count == 1 else f", the last one {ago},"
    verb = " carries it." if count == 1 and not clock else " carry it."
    return _sentence("visits", f"{number_word(count).capitalize()} ", past, when, *clock, verb)


def _without(case: SentenceInput) -> list[Sentence]:
    """The ablation with the largest loss, and two-hop paths; no group that adds nothing to the target."""
    rank, added = case.target.rank, case.target.groups
    ablations = [entry for entry in case.without if points(added.get(entry.name, 1.0)) != "0.00"]
    carrying = max(ablations, key=lambda entry: entry.rank, default=None)
    shown = [carrying] if carrying is not None and carrying.rank > rank else []
    hops = next((entry for name in HOPS_ABLATIONS for entry in ablations if slug(entry.name) == name), None)
    if hops is not None and hops not in shown and (case.has_paths or hops.rank != rank):
        shown.append(hops)
    lead = "Also without" if case.edits else "Without"
    if len(shown) == 2 and shown[0].rank == shown[1].rank:
        parts = (f"{lead} ", _part_piece(shown[0].name), ", or without ", _part_piece(shown[1].name))
        return [_sentence("without", *parts, f", it {_would(shown[0].rank, rank)}.")]
    pieces: list[str | Piece] = []
    for at, entry in enumerate(shown):
        pieces += ["; without " if at else f"{lead} ", _part_piece(entry.name), f" it {_would(entry.rank, rank)}"]
    return [_sentence("without", *pieces, ".")] if pieces else []


def _part_piece(name: str) -> Piece:
    kinds: dict[str, PieceKind] = dict.fromkeys((PAST, TIME), "revisits")
    kinds |= dict.fromkeys((PATHS, TRANSITIONS, GRAPH_TOKEN), "paths")
    return Piece(text=part_words(name), kind=kinds.get(name, "plain"))


def _would(rank: float, before: float) -> str:
    return f"would stay {ordinal(rank)}" if rank == before else f"would rank {ordinal(rank)}"


def _runner_up(case: SentenceInput) -> list[Sentence]:
    if case.runner_up.rank >= case.target.rank:
        return []
    differences = {group: value - case.runner_up.groups[group] for group, value in case.target.groups.items()}
    against = min(differences, key=lambda group: differences[group])
    if differences[against] > -_SMALL:
        return []
    piece = _part_piece(against)
    verb = " favours " if against == TIME or piece.text.startswith("the ") else " favour "
    return [_sentence("runner_up", "Above all, ", piece, verb, case.runner_up_name, ".")]


def part_words(name: str) -> str:
    """A group of terms or the graph token inside a sentence.

    >>> part_words("past visits"), part_words("graph_token")
    ('past visits', 'the graph token')
    """
    words = {"core": "the sequence model", "correction": "the correction", GRAPH_TOKEN: "the graph token"}
    return words.get(name, name)


def part_label(name: str) -> str:
    """A group of terms or the graph token as a row's label.

    >>> part_label("core"), part_label("two-hop paths")
    ('Sequence model', 'Two-hop paths')
    """
    return capitalised(part_words(name).removeprefix("the "))


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


def rank_of(place: str) -> str:
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
