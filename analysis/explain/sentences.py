"""Sentences from the exact numbers, without a language model, in two registers.

Researchers get the paper's words and score points; stakeholders get places, visits and the model's shares. A part that
is inactive is never mentioned; addends that cancel are told as their net; trips are told with whose they are, and the
softmax is called the model's share, since nothing calibrates it. Numbers follow `analysis.formatting`.
"""

from typing import Final, Literal, get_args

from pydantic import Field

from analysis.explain.clues import clues, points_of
from analysis.explain.net_rows import NET_ROWS, PLAIN_ROWS, net_differences
from analysis.explain.revisits import RevisitEvidence
from analysis.explain.trips import Trips, describe_trips
from analysis.explain.types import CaseExplanation, PathTerms, ScoreDecomposition
from analysis.formatting import adds_up, chance, days, ordinal, points, share, signed_points, times
from recap.config import Config

Register = Literal["researcher", "stakeholder"]
REGISTERS: Final = get_args(Register)
_TOLD_TERMS: Final = 3
PieceKind = Literal["plain", "target", "rival", "place"]


class Piece(Config):
    """A stretch of a sentence; names of places are pieces of their own, so that a page can colour them."""

    text: str
    kind: PieceKind = "plain"


class Sentence(Config):
    """One sentence and what it is about."""

    about: Literal["answer", "score", "visits", "step", "paths", "without", "rival"]
    pieces: list[Piece]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


class PathTrips(Config):
    """The strongest two-hop path, and whose trips its halves are."""

    path: PathTerms
    trips_in: Trips
    trips_out: Trips


class SentenceInput(Config):
    """What sentences are made from; everything is about the target."""

    explanation: CaseExplanation
    rival: ScoreDecomposition = Field(
        description="Who is told against: the first place, or the second if the target is."
    )
    target: ScoreDecomposition
    revisit: RevisitEvidence
    inactive: list[str]
    num_places: int
    trips: Trips = Field(description="Training transitions from the source straight to the target.")
    edges_edited: bool = Field(description="Training counts were edited, so that trips and people no longer tell them.")
    strongest: PathTrips | None = Field(description="None where no path leads there or two hops do not act here.")
    rank_without_two_hops: float | None = Field(
        description="Token and two-hop addends taken away for all places; None where the model has neither."
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

    @property
    def stays(self) -> bool:
        """The step leads from a place to itself."""
        return self.explanation.source == self.explanation.target

    @property
    def tells_prior(self) -> bool:
        return "prior" not in self.inactive


def render_sentences(told: SentenceInput, register: Register) -> list[Sentence]:
    """All sentences of one case, the answer first."""
    if register == "researcher":
        sentences = [
            _answer_points(told),
            _score(told),
            *_evidence(told),
            *_margin(told),
            *_prior(told),
            _transition_count(told),
            *_paths_counted(told),
        ]
    else:
        sentences = [
            _answer_share(told),
            *_speaks(told),
            *_visits(told),
            _step_taken(told),
            *_paths_walked(told),
        ]
    return [*sentences, *_without_two_hops(told, register)]


def _sentence(about: str, *pieces: str | Piece) -> Sentence:
    whole = [Piece(text=piece) if isinstance(piece, str) else piece for piece in pieces]
    first = whole[0]
    whole[0] = first.model_copy(update={"text": first.text[:1].upper() + first.text[1:]})
    return Sentence.parse({"about": about, "pieces": [piece.model_dump() for piece in whole]})


def _answer_points(told: SentenceInput) -> Sentence:
    rank = ordinal(told.target.rank)
    margin = told.target.total - told.rival.total
    share_of_model = f" ranks {rank} of {told.num_places:,} with a model share of {share(told.target.probability)}; "
    leads = " is " + (f"ahead by {points(-margin)}." if margin < 0 else f"behind by {points(margin)}.")
    return _sentence("answer", told.target_name, share_of_model, told.rival_name, leads)


def _answer_share(told: SentenceInput) -> Sentence:
    place = f" of {told.num_places:,} places; the model's share for it is {chance(told.target.probability)}. "
    rival = f" comes {ordinal(told.rival.rank)}, with {chance(told.rival.probability)}."
    return _sentence(
        "answer", told.target_name, f" comes {ordinal(told.target.rank)}{place}", _upper(told.rival_name), rival
    )


def _upper(piece: Piece) -> Piece:
    return piece.model_copy(update={"text": piece.text[:1].upper() + piece.text[1:]})


def _score(told: SentenceInput) -> Sentence:
    target = told.target
    parts = {"core": target.core}
    if told.tells_prior:
        parts["prior"] = target.prior
    if "correction" not in told.inactive:
        parts["correction"] = target.correction
    if target.evidence_terms:
        parts["evidence"] = target.evidence
    listed = [f"core {points(target.core)}"]
    listed += [f"{name} {signed_points(value)}" for name, value in parts.items() if name != "core"]
    rounded = "" if adds_up(list(parts.values()), target.total) else " (rounded)"
    net = ""
    if target.prior * target.correction < 0:
        net = f"; prior and correction together give {signed_points(target.prior + target.correction)}"
    told_as = f" is {points(target.total)}: {', '.join(listed)}{rounded}{net}."
    return _sentence("score", "The score of ", told.target_name, told_as)


def _evidence(told: SentenceInput) -> list[Sentence]:
    """The clues that weigh most, of a model with additive evidence."""
    terms = told.target.evidence_terms
    points = [(label, points_of(terms, clue)) for label, clue in clues(terms).items()]
    if not points:
        return []
    largest = sorted(points, key=lambda clue: -abs(clue[1]))[:_TOLD_TERMS]
    listed = "; ".join(f"{label.lower()} {signed_points(value)}" for label, value in largest)
    return [_sentence("score", f"The evidence that weighs most: {listed}.")]


def _margin(told: SentenceInput) -> list[Sentence]:
    """Where the two differ, in net rows."""
    rows = list(net_differences(told.target, told.rival).items())[:_TOLD_TERMS]
    if not rows:
        return []
    listed = "; ".join(f"{NET_ROWS[row]} {signed_points(value)}" for row, value in rows)
    return [_sentence("rival", "The largest differences to ", told.rival_name, f": {listed}.")]


def _speaks(told: SentenceInput) -> list[Sentence]:
    """What speaks most for the place and what most against it, held against the rival; "only" where one row differs."""
    rows = net_differences(told.target, told.rival)
    helps = next((row for row, value in rows.items() if value > 0), None)
    hurts = next((row for row, value in rows.items() if value < 0), None)
    against: list[str | Piece] = [" against ", told.rival_name]
    if helps and hurts:
        return [
            _sentence(
                "rival",
                "Held",
                *against,
                f", {PLAIN_ROWS[helps]} speak{_verb(helps)} most for ",
                told.target_name,
                f", {PLAIN_ROWS[hurts]} most against it.",
            )
        ]
    row = helps or hurts
    if row is None:
        return []
    side, other = ("for", "against") if helps else ("against", "for")
    if len(rows) == 1:
        only = f", only {PLAIN_ROWS[row]} speak{_verb(row)} {side} "
        return [_sentence("rival", "Held", *against, only, told.target_name, ".")]
    most = f", {PLAIN_ROWS[row]} speak{_verb(row)} most {side} "
    return [_sentence("rival", "Held", *against, most, told.target_name, f", nothing {other} it.")]


def _verb(row: str) -> str:
    return "" if PLAIN_ROWS[row].endswith(("visits", "here", "trips")) or " and " in PLAIN_ROWS[row] else "s"


def _prior(told: SentenceInput) -> list[Sentence]:
    if not told.tells_prior:
        return []
    target, revisit = told.target, told.revisit
    if not revisit.count:
        never = "Before this check-in the walker had never been to "
        return [_sentence("visits", never, told.target_name, ", so the prior is 0.00.")]
    assert revisit.recency_steps is not None
    terms = {"visit count": target.count, "recency": target.recency, "recent window": target.window}
    off = {"visit count": "count", "recency": "recency", "recent window": "window"}
    shown = [f"{name} {signed_points(value)}" for name, value in terms.items() if off[name] not in told.inactive]
    made = f"Before this check-in the walker had made {_visit_count(revisit.count)} to "
    last = f", the last {_steps(revisit.recency_steps)} ago"
    if not revisit.is_candidate:
        beyond = f"{last}, beyond the kept candidates, so the prior is 0.00."
        return [_sentence("visits", made, told.target_name, beyond)]
    terms_told = f"{last}: {', '.join(shown)}." if shown else f"{last}."
    sentences = [_sentence("visits", made, told.target_name, terms_told)]
    if target.is_clipped:
        verb = "takes" if target.clip_loss > 0 else "adds"
        sentences.append(_sentence("visits", f"The clip {verb} {points(abs(target.clip_loss))}."))
    if target.gate is not None:
        effect = f"a change of {signed_points(target.correction)}"
        sentences.append(_sentence("visits", f"The gate is {signed_points(target.gate)}, {effect}."))
    return sentences


def _steps(steps: int) -> str:
    return "1 check-in" if steps == 1 else f"{steps:,} check-ins"


def _visit_count(count: int) -> str:
    """How many visits, told before the place's name: names such as Food Shop 72 end in a number of their own."""
    return "1 visit" if count == 1 else f"{count:,} visits"


def _visits(told: SentenceInput) -> list[Sentence]:
    if not told.tells_prior and not told.target.evidence_terms:
        return []
    revisit = told.revisit
    if not revisit.count:
        return [_sentence("visits", "Before now this walker had never been to ", told.target_name, ".")]
    assert revisit.recency_days is not None
    made = f"Before now this walker had made {_visit_count(revisit.count)} to "
    return [_sentence("visits", made, told.target_name, f", the last {days(revisit.recency_days)} ago.")]


def _transition_count(told: SentenceInput) -> Sentence:
    count = told.explanation.transition_count
    if told.edges_edited:
        return _sentence(
            "step", f"The edited training data holds this transition {times(count) if count else 'never'}."
        )
    if count == 0:
        return _sentence("step", "The training data does not hold this transition.")
    return _sentence("step", f"The training data holds this transition {times(count)}: {describe_trips(told.trips)}.")


def _step_taken(told: SentenceInput) -> Sentence:
    count = told.explanation.transition_count
    way: list[str | Piece] = [" from ", told.source_name, " straight to ", told.target_name]
    if told.stays:
        way = [" at ", told.source_name]
    if told.edges_edited:
        steps = "1 step" if count == 1 else f"{count:,} steps" if count else "no step"
        verb = ("stay" if told.stays else "lead") + ("" if count > 1 else "s")
        return _sentence("step", f"In the edited training data {steps} {verb}", *way, ".")
    verb = "stayed" if told.stays else "went"
    if not count:
        return _sentence("step", f"In the training data nobody {verb}", *way, ".")
    return _sentence("step", f"In the training data, who {verb}", *way, f": {describe_trips(told.trips)}.")


def _paths_counted(told: SentenceInput) -> list[Sentence]:
    if told.strongest is None:
        return []
    paths, best = told.explanation.paths, told.strongest.path
    number = "1 two-hop path leads" if len(paths) == 1 else f"{len(paths):,} two-hop paths lead"
    total = f", with a two-hop probability of {share(told.explanation.a2_source_target)}; the strongest goes through "
    addend = "" if best.addend is None else f", addend {signed_points(best.addend)}"
    detail = f" ({best.count_in:,} and {best.count_out:,} transitions, share {share(best.share)}{addend})."
    middle = Piece(text=best.name, kind="place")
    return [_sentence("paths", f"{number} to ", told.target_name, total, middle, detail)]


def _paths_walked(told: SentenceInput) -> list[Sentence]:
    """Whose trips the two halves of the strongest path are; a half that stays where it is is told as staying."""
    if told.strongest is None or told.edges_edited:
        return []
    best, explanation = told.strongest.path, told.explanation
    pieces: list[str | Piece]
    into, out = describe_trips(told.strongest.trips_in), describe_trips(told.strongest.trips_out)
    middle = Piece(text=best.name, kind="place")
    if best.middle == explanation.target == explanation.source:
        pieces = ["Two steps can both stay at ", told.source_name, f": who stayed, {into}."]
    elif told.stays:
        pieces = ["Two steps lead away and back through ", middle, f": away went {into}; back came {out}."]
    elif best.middle == explanation.target:
        pieces = ["Two steps lead to ", told.target_name, f" by staying at the end: to it went {into}; stayed {out}."]
    elif best.middle == explanation.source:
        pieces = ["Two steps lead to ", told.target_name, f" by staying first: stayed {into}; on to it went {out}."]
    else:
        pieces = ["Through ", middle, " two steps lead to ", told.target_name]
        pieces += [f": the first half went {into}; the second {out}."]
    return [_sentence("paths", *pieces)]


def _without_two_hops(told: SentenceInput, register: Register) -> list[Sentence]:
    """The rank with token and two-hop addends taken away for every place."""
    if told.rank_without_two_hops is None:
        return []
    what = "two hops (token and addends, for all places)" if register == "researcher" else "all two-step trips"
    verb = "rank" if register == "researcher" else "come"
    still = "still " if told.rank_without_two_hops == told.target.rank else ""
    rank = f" would {still}{verb} {ordinal(told.rank_without_two_hops)}."
    return [_sentence("without", f"Without {what} ", told.target_name, rank)]
