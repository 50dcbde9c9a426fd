"""Sentences from the exact numbers, without a language model, in two registers.

Researchers get the paper's words and score points; stakeholders get places, visits and chances. A part that is inactive
is never mentioned; numbers follow `analysis.formatting`.
"""

from typing import Final, Literal, get_args

from pydantic import Field

from analysis.explain.evidence_items import evidence_label
from analysis.explain.leave_one_out import LeftOut
from analysis.explain.revisits import RevisitEvidence
from analysis.explain.types import CaseExplanation, ScoreDecomposition
from analysis.formatting import adds_up, chance, days, ordinal, points, share, signed_points, times
from analysis.glossary import PART_NAMES
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


class SentenceInput(Config):
    """What sentences are made from; everything is about the target."""

    explanation: CaseExplanation
    rival: ScoreDecomposition = Field(
        description="Who is told against: the first place, or the second if the target is."
    )
    target: ScoreDecomposition
    revisit: RevisitEvidence
    inactive: list[str]
    holds_two_steps: bool = Field(description="The graph token acts and holds exactly two steps.")
    num_places: int
    left_out: list[LeftOut] = Field(default_factory=list)

    @property
    def target_name(self) -> Piece:
        return Piece(text=self.explanation.target_name, kind="target")

    @property
    def rival_name(self) -> Piece:
        name = self.rival.name
        return Piece(text=f"another {name}" if name == self.explanation.target_name else name, kind="rival")

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
            *_prior(told),
            _transition_count(told),
            *_paths_counted(told),
        ]
    else:
        sentences = [_answer_chance(told), *_visits(told), *_transition_taken(told), *_paths_taken(told)]
    return [*sentences, *_without(told, register)]


def _sentence(about: str, *pieces: str | Piece) -> Sentence:
    whole = [Piece(text=piece) if isinstance(piece, str) else piece for piece in pieces]
    first = whole[0]
    whole[0] = first.model_copy(update={"text": first.text[:1].upper() + first.text[1:]})
    return Sentence.parse({"about": about, "pieces": [piece.model_dump() for piece in whole]})


def _answer_points(told: SentenceInput) -> Sentence:
    rank = ordinal(told.target.rank)
    margin = told.target.total - told.rival.total
    rank_and_probability = f" ranks {rank} of {told.num_places:,} with probability {share(told.target.probability)}; "
    leads = " is " + (f"ahead by {points(-margin)}." if margin < 0 else f"behind by {points(margin)}.")
    return _sentence("answer", told.target_name, rank_and_probability, told.rival_name, leads)


def _answer_chance(told: SentenceInput) -> Sentence:
    place = f" of {told.num_places:,} places, with a chance of {chance(told.target.probability)}. "
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
    return _sentence("score", f"Its score is {points(target.total)}: {', '.join(listed)}{rounded}.")


def _evidence(told: SentenceInput) -> list[Sentence]:
    """The terms that weigh most, of a model with additive evidence."""
    terms = sorted(told.target.evidence_terms.items(), key=lambda term: -abs(term[1]))[:_TOLD_TERMS]
    if not terms:
        return []
    listed = "; ".join(f"{evidence_label(name).lower()} {signed_points(value)}" for name, value in terms)
    return [_sentence("score", f"The evidence that weighs most: {listed}.")]


def _prior(told: SentenceInput) -> list[Sentence]:
    if not told.tells_prior:
        return []
    target, revisit = told.target, told.revisit
    if not revisit.count:
        return [_sentence("visits", "The walker had not been there before, so the prior is 0.00.")]
    assert revisit.recency_steps is not None
    terms = {"count": target.count, "recency": target.recency, "window": target.window}
    shown = [
        f"{PART_NAMES[name].lower()} {signed_points(value)}"
        for name, value in terms.items()
        if name not in told.inactive
    ]
    visited = f"The walker had been there {times(revisit.count)}, last {_checkins(revisit.recency_steps)} ago"
    if not revisit.is_candidate:
        return [_sentence("visits", f"{visited}, beyond the kept candidates, so the prior is 0.00.")]
    sentences = [_sentence("visits", f"{visited}: {', '.join(shown)}." if shown else f"{visited}.")]
    if target.is_clipped:
        verb = "takes" if target.clip_loss > 0 else "adds"
        sentences.append(_sentence("visits", f"The clip {verb} {points(abs(target.clip_loss))}."))
    if target.gate is not None:
        effect = f"a change of {signed_points(target.correction)}"
        sentences.append(_sentence("visits", f"The gate is {signed_points(target.gate)}, {effect}."))
    return sentences


def _checkins(steps: int) -> str:
    return "1 check-in" if steps == 1 else f"{steps:,} check-ins"


def _visits(told: SentenceInput) -> list[Sentence]:
    if not told.tells_prior:
        return []
    revisit = told.revisit
    if not revisit.count:
        return [_sentence("visits", "This walker had never been there before.")]
    assert revisit.recency_days is not None
    last = f"last {days(revisit.recency_days)} ago"
    return [_sentence("visits", f"This walker had been there {times(revisit.count)} before, {last}.")]


def _transition_count(told: SentenceInput) -> Sentence:
    count = told.explanation.transition_count
    if count == 0:
        return _sentence("step", "Nobody in training took this step.")
    return _sentence("step", f"Training saw this step {times(count)}.")


def _transition_taken(told: SentenceInput) -> list[Sentence]:
    source = Piece(text=told.explanation.source_name, kind="place")
    count = told.explanation.transition_count
    if count:
        return [_sentence("step", "In the past, people went straight from ", source, " to it ", f"{times(count)}.")]
    return [_sentence("step", "In the past, nobody went straight from ", source, " to it.")]


def _paths_counted(told: SentenceInput) -> list[Sentence]:
    paths = told.explanation.paths
    if not told.holds_two_steps or not paths:
        return []
    best = paths[0]
    number = "1 two-hop path leads" if len(paths) == 1 else f"{len(paths):,} two-hop paths lead"
    detail = f" ({best.count_in:,} and {best.count_out:,} transitions, share {share(best.share)})."
    total = f"{number} there, with a two-hop probability of {share(told.explanation.a2_source_target)}; the strongest "
    return [_sentence("paths", total, "goes through ", Piece(text=best.name, kind="place"), detail)]


def _paths_taken(told: SentenceInput) -> list[Sentence]:
    if not told.holds_two_steps or not told.explanation.paths:
        return []
    best = told.explanation.paths[0]
    middle = Piece(text=best.name, kind="place")
    return [
        _sentence(
            "paths",
            "People went from there to ",
            middle,
            f" {times(best.count_in)}, and from ",
            middle,
            f" on to this place {times(best.count_out)}.",
        )
    ]


def _without(told: SentenceInput, register: Register) -> list[Sentence]:
    """The counterfactual of the graph token, and of the recent check-in that matters most."""
    sentences = []
    for entry in told.left_out:
        if entry.item.kind == "graph_token":
            what = "the two-hop token" if register == "researcher" else "knowing where people go from here in two steps"
            verb = "rank" if register == "researcher" else "come"
            still = "still " if entry.outcome.rank == told.target.rank else ""
            sentences.append(
                _sentence("without", f"Without {what} it would {still}{verb} {ordinal(entry.outcome.rank)}.")
            )
    return sentences
