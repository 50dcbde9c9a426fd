"""The headline of a case and at most four short sentences; every "without" is an ablation that was run."""

from dataclasses import dataclass
from typing import Final, Literal

from analysis.explain.paths import Trips
from analysis.explain.types import Candidate, PastVisits, Without
from analysis.formatting import days, ordinal, points, times
from recap.config import Config
from recap.counterfactuals import GRAPH_TOKEN
from recap.features.catalogue import PATHS, TIME

PieceKind = Literal["plain", "target", "runner_up", "place"]
_SMALL: Final = 0.005


class Piece(Config):
    """A stretch of a sentence; names of places are pieces of their own, so that a page can colour them."""

    text: str
    kind: PieceKind = "plain"


class Sentence(Config):
    """One sentence and what it is about."""

    about: Literal["rank", "transition", "visits", "without", "runner_up"]
    pieces: list[Piece]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True)
class SentenceInput:
    """What sentences are made from.

    Attributes:
        target, runner-up: the place explained and the one it is compared with.
        truth_name: of the true next place; None where it is hidden.
        trips: training transitions from the source to the target; None where they were edited.
        visits: to the target.
        without: ranks of the target.
    """

    model: str
    target: Candidate
    runner_up: Candidate
    truth_name: str | None
    is_truth: bool
    source_name: str
    num_places: int
    trips: Trips | None
    visits: PastVisits
    without: list[Without]

    @property
    def target_name(self) -> Piece:
        return Piece(text=self.target.name, kind="target")

    @property
    def runner_up_name(self) -> Piece:
        name = self.runner_up.name
        return Piece(text=f"another {name}" if name == self.target.name else name, kind="runner_up")


def headline(told: SentenceInput) -> Sentence:
    """``RECAP ranks Denholme Arms 1st of 2,102, and that is where the user went.``"""
    pieces: list[str | Piece] = [f"{told.model} ranks ", told.target_name, f" {ordinal(told.target.rank)} of "]
    pieces.append(f"{told.num_places:,}")
    if told.truth_name is None:
        return _sentence("rank", *pieces, ".")
    if not told.is_truth:
        return _sentence("rank", *pieces, ". The user went to ", Piece(text=told.truth_name, kind="place"), ".")
    if told.target.rank == 1:
        return _sentence("rank", *pieces, ", and that is where the user went.")
    first: list[str | Piece] = (
        [f"; {told.model}'s first choice was ", told.runner_up_name] if told.runner_up.rank == 1 else []
    )
    return _sentence("rank", *pieces, ". The user went there", *first, ".")


def render_sentences(told: SentenceInput) -> list[Sentence]:
    """Transition, past visits, what carries the rank, and the comparison with the runner-up."""
    return [*_transition(told), _visits(told), *_without(told), *_runner_up(told)]


def _sentence(about: str, *pieces: str | Piece) -> Sentence:
    whole = [Piece(text=piece) if isinstance(piece, str) else piece for piece in pieces]
    return Sentence.parse({"about": about, "pieces": [piece.model_dump() for piece in whole]})


def _transition(told: SentenceInput) -> list[Sentence]:
    if told.trips is None:
        return []
    own, others, users = told.trips.own, told.trips.others, told.trips.users
    way = (Piece(text=told.source_name, kind="place"), " → ", told.target_name)
    if not own and not others:
        return [_sentence("transition", "Nobody made the transition ", *way, " in training.")]
    people = "1 other user" if users == 1 else f"{users:,} other users"
    who = f"only this user ({times(own)})" if not others else f"{people} ({times(others)})"
    if own and others:
        who += f" and this user ({times(own)})"
    return [_sentence("transition", f"In training, {who} made the transition ", *way, ".")]


def _visits(told: SentenceInput) -> Sentence:
    last, count = told.visits.last, len(told.visits.visits)
    if last is None:
        return _sentence("visits", "The user had not been to ", told.target_name, " before.")
    ago = days(last.days_ago)
    if count == 1:
        return _sentence("visits", "The user had been to ", told.target_name, f" once, {ago} ago.")
    return _sentence("visits", "The user had been to ", told.target_name, f" {times(count)}, last {ago} ago.")


def _without(told: SentenceInput) -> list[Sentence]:
    """The part without which the rank falls most, and two-hop paths (else the graph token)."""
    if not told.without:
        return []
    rank = told.target.rank
    carrying = max(told.without, key=lambda entry: entry.rank)
    hops = next((entry for name in (PATHS, GRAPH_TOKEN) for entry in told.without if entry.name == name), None)
    shown = [carrying] if carrying.rank > rank else []
    shown += [hops] if hops is not None and hops not in shown else []
    return [
        _sentence(
            "without",
            ". ".join(f"Without {part_words(entry.name)} it would {_rank_word(entry.rank, rank)}" for entry in shown),
            ".",
        )
    ] * bool(shown)


def _rank_word(rank: float, before: float) -> str:
    return f"stay {ordinal(rank)}" if rank == before else f"rank {ordinal(rank)}"


def _runner_up(told: SentenceInput) -> list[Sentence]:
    """The group that favours each of two places most."""
    differences = {group: told.target.groups[group] - told.runner_up.groups[group] for group in told.target.groups}
    helps, hurts = (pick(differences, key=lambda group: differences[group]) for pick in (max, min))
    pieces: list[str | Piece] = []
    if differences[helps] > _SMALL:
        gain = f" by {points(differences[helps])}"
        pieces += [_favour(helps), told.target_name, gain]
    if differences[hurts] < -_SMALL:
        loss = f" by {points(-differences[hurts])}"
        pieces += ["; " if pieces else "", _favour(hurts), told.runner_up_name, loss]
    if not pieces:
        return []
    sentence = _sentence("runner_up", *pieces, ".")
    first = next(piece for piece in sentence.pieces if piece.text)
    sentence.pieces[sentence.pieces.index(first)] = first.model_copy(
        update={"text": first.text[:1].upper() + first.text[1:]}
    )
    return [sentence]


def _favour(group: str) -> str:
    is_one = group == TIME or part_words(group).startswith("the ")
    return f"{part_words(group)} {'favours' if is_one else 'favour'} "


def part_words(name: str) -> str:
    """A group of terms or the graph token inside a sentence.

    >>> part_words("past visits"), part_words("graph_token")
    ('past visits', 'the graph token')
    """
    words = {"core": "the sequence model", "correction": "the correction", GRAPH_TOKEN: "the graph token"}
    return words.get(name, name)


def part_label(name: str) -> str:
    """The same at the head of a row.

    >>> part_label("core"), part_label("two-hop paths")
    ('Sequence model', 'Two-hop paths')
    """
    words = part_words(name).removeprefix("the ")
    return words[:1].upper() + words[1:]
