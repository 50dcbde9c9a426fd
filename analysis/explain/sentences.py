"""Sentences from the exact numbers: what favours each place, past visits, the transition, and two-hop paths.

A part that is inactive is never mentioned. Numbers follow `analysis.formatting`.
"""

from typing import Literal

from pydantic import Field

from analysis.explain.net_rows import NET_ROWS, net_differences
from analysis.explain.revisits import RevisitEvidence
from analysis.explain.trips import Trips
from analysis.explain.types import CaseExplanation, ScoreDecomposition
from analysis.formatting import days, ordinal, times
from recap.config import Config

PieceKind = Literal["plain", "target", "rival", "place"]


class Piece(Config):
    """A stretch of a sentence; names of places are pieces of their own, so that a page can colour them."""

    text: str
    kind: PieceKind = "plain"


class Sentence(Config):
    """One sentence and what it is about."""

    about: Literal["answer", "visits", "step", "without", "rival"]
    pieces: list[Piece]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


class SentenceInput(Config):
    """What sentences are made from; everything is about the target."""

    explanation: CaseExplanation
    rival: ScoreDecomposition
    target: ScoreDecomposition
    revisit: RevisitEvidence
    inactive: list[str]
    trips: Trips = Field(description="Training transitions from the source straight to the target.")
    edges_edited: bool = Field(description="Training counts were edited, so that trips no longer describe them.")
    rank_without_two_hops: float | None = Field(
        description="Without the graph token and two-hop contributions, for all places; None in a model with neither."
    )

    @property
    def target_name(self) -> Piece:
        return Piece(text=self.explanation.target_name, kind="target")

    @property
    def source_name(self) -> Piece:
        return Piece(text=self.explanation.source_name, kind="place")

    @property
    def rival_name(self) -> Piece:
        name = self.rival.name
        return Piece(text=f"another {name}" if name == self.explanation.target_name else name, kind="rival")


def render_sentences(told: SentenceInput) -> list[Sentence]:
    """All sentences of one case."""
    return [*_favours(told), *_visits(told), _transition(told), *_without_two_hops(told)]


def _sentence(about: str, *pieces: str | Piece) -> Sentence:
    whole = [Piece(text=piece) if isinstance(piece, str) else piece for piece in pieces]
    first = whole[0]
    whole[0] = first.model_copy(update={"text": first.text[:1].upper() + first.text[1:]})
    return Sentence.parse({"about": about, "pieces": [piece.model_dump() for piece in whole]})


def _favours(told: SentenceInput) -> list[Sentence]:
    """The largest difference in favour of each of the two places."""
    rows = net_differences(told.target, told.rival)
    helps = next((row for row, value in rows.items() if value > 0), None)
    hurts = next((row for row, value in rows.items() if value < 0), None)
    if helps and hurts:
        against = f"; {_favour(hurts)} "
        return [_sentence("rival", f"{_favour(helps)} ", told.target_name, against, told.rival_name, ".")]
    if not rows:
        return []
    first, second = (told.target_name, told.rival_name) if helps else (told.rival_name, told.target_name)
    row = next(iter(rows))
    if len(rows) == 1:
        return [_sentence("rival", f"Only {_favour(row)} ", first, ".")]
    return [_sentence("rival", f"{_favour(row)} ", first, " most; nothing favours ", second, ".")]


def _favour(row: str) -> str:
    words = NET_ROWS[row]
    is_plural = words.endswith(("visits", "here", "paths")) or " and " in words
    return f"{words} favour{'' if is_plural else 's'}"


def _visits(told: SentenceInput) -> list[Sentence]:
    if "prior" in told.inactive and not told.target.evidence_terms:
        return []
    revisit = told.revisit
    if not revisit.count:
        return [_sentence("visits", "This user had never been to ", told.target_name, ".")]
    assert revisit.recency_days is not None
    visits = "1 visit" if revisit.count == 1 else f"{revisit.count:,} visits"  # first: a name may end in a number
    made = f"This user had made {visits} to "
    return [_sentence("visits", made, told.target_name, f", the last {days(revisit.recency_days)} ago.")]


def _transition(told: SentenceInput) -> Sentence:
    count, trips = told.explanation.transition_count, told.trips
    stays = told.explanation.source == told.explanation.target
    way: list[str | Piece] = [" from ", told.source_name, " to ", told.target_name]
    if stays:
        way = [" at ", told.source_name]
    if told.edges_edited:
        verb = "stay" if stays else "lead"
        counted = f"1 transition {verb}s" if count == 1 else f"{count:,} transitions {verb}"
        return _sentence("step", f"In the edited training data, {counted}", *way, ".")
    verb = "stayed" if stays else "went"
    if not count:
        return _sentence("step", f"In training, nobody {verb}", *way, ".")
    others = "one other user" if trips.people == 1 else f"{trips.people:,} other users"
    if trips.own and trips.others:
        who = f"this user ({times(trips.own)}) and {others} ({times(trips.others)})"
        return _sentence("step", f"In training, {who} {verb}", *way, ".")
    who = others if trips.others else "only this user"
    return _sentence("step", f"In training, {who} {verb}", *way, f" ({times(count)}).")


def _without_two_hops(told: SentenceInput) -> list[Sentence]:
    if told.rank_without_two_hops is None:
        return []
    still = "still " if told.rank_without_two_hops == told.target.rank else ""
    rank = f" would {still}rank {ordinal(told.rank_without_two_hops)}."
    return [_sentence("without", "Without two-hop paths ", told.target_name, rank)]
