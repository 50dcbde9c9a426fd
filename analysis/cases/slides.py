"""The four slides of Present: how often the model is right, one case, why, and what would change it.

Numbers come from the case's explanation, as in Explain. No slide shows a user or a date.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from analysis.explain.case_words import describe_edit
from analysis.explain.edits import AddVisit, Edit, MoveVisit, RemoveVisit
from analysis.explain.explanation import CaseExplanation
from analysis.explain.types import PastVisits, Piece, Without
from analysis.formatting import capitalised, chance, ordinal
from analysis.records.ablations import HOPS_ABLATIONS, part_words, slug
from analysis.records.evaluation_records import label_in_sentence
from recap.features.catalogue import PAST

Step = Literal["often", "case", "why", "change", "finding"]
SLIDE_STEPS: Final[dict[Step, str]] = {
    "often": "How often it is right",
    "case": "One case",
    "why": "Why",
    "change": "What would change it",
}


@dataclass(frozen=True)
class Number:
    label: str
    value: str


@dataclass(frozen=True)
class Slide:
    """A slide about a case: the finding in pieces of the kinds of Explain, and at most three numbers."""

    title: tuple[Piece, ...]
    numbers: tuple[Number, ...]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.title)


def case_slide(shown: CaseExplanation, baseline: str, baseline_rank: float) -> Slide:
    """The model's first choice and where the user went, with a baseline's rank."""
    first = min(shown.candidates, key=lambda entry: entry.rank)
    numbers = (
        Number(f"{shown.model} ranks it", ordinal(shown.target_rank)),
        Number(f"{baseline} ranks it", ordinal(baseline_rank)),
        Number(f"Probability of {label_in_sentence(shown.model)}'s first choice", chance(first.probability)),
    )
    return Slide(tuple(shown.headline.pieces), numbers)


def why_slide(shown: CaseExplanation) -> Slide:
    """What raises the rank, or what the first choice has for it, with the ranks of two ablations."""
    beaten = any(sentence.about == "runner_up" for sentence in shown.sentences)
    wanted = ("visits", "runner_up") if beaten else ("transition", "visits")
    sentences = [sentence for sentence in shown.sentences if sentence.about in wanted]
    pieces = [
        piece
        for number, sentence in enumerate(sentences)
        for piece in ([Piece(text=" ")] * bool(number) + sentence.pieces)
    ]
    without = [Number(f"Without {part_words(entry.name)}", ordinal(entry.rank)) for entry in _ablations(shown)]
    numbers = (Number("As it is", ordinal(shown.target_rank)), *without)
    return Slide(tuple(pieces), numbers)


def _ablations(shown: CaseExplanation) -> list[Without]:
    """At most two ablations: the one with the largest fall, then past visits, then two-hop paths."""
    by_name = {slug(entry.name): entry for entry in shown.without}
    carrying = max(shown.without, key=lambda entry: entry.rank, default=None)
    wanted = [carrying] if carrying is not None and carrying.rank > shown.target_rank else []
    wanted += [by_name[name] for name in (slug(PAST), *HOPS_ABLATIONS) if name in by_name]
    return list({entry.name: entry for entry in wanted}.values())[:2]


def change_slide(
    shown: CaseExplanation,
    after: CaseExplanation | None,
    edits: Sequence[Edit],
    tried: int,
    name: Callable[[int], str],
) -> Slide:
    """What edits do to the rank, or that no single edit swaps the two places.

    Args:
        after: with the edits; None if no single edit swaps the two places.
        edits: those of a saved view, or the smallest single one.
        tried: number of tried single edits.
        name: of a place, as it may be shown.
    """
    target = Piece(text=shown.target_name, kind="target")
    if after is None:
        title = (
            Piece(text=f"None of {tried:,} single changes puts "),
            *([target, Piece(text=" ahead of ")] if shown.target_rank > 1 else []),
            Piece(text=shown.b.name, kind="runner_up"),
            *([] if shown.target_rank > 1 else [Piece(text=" ahead of "), target]),
            Piece(text="."),
        )
        return Slide(title, (Number("As it is", ordinal(shown.target_rank)),))
    before, rank = shown.target_rank, after.target_rank
    best = next(entry for entry in after.candidates if entry.poi != after.target)
    title = (
        Piece(text=f"{_clause(edits, shown, name)}, {shown.model} would rank "),
        target,
        Piece(text=f" {ordinal(rank)}, not {ordinal(before)}." if rank != before else f" {ordinal(rank)} as before."),
    )
    numbers = (
        Number("As it is", ordinal(before)),
        Number("After the change", ordinal(rank)),
        Number("Best other place then", name(best.poi)),
    )
    return Slide(title, numbers)


def _clause(edits: Sequence[Edit], shown: CaseExplanation, name: Callable[[int], str]) -> str:
    if len(edits) != 1:
        return f"With {len(edits)} changes"
    edit = edits[0]
    if isinstance(edit, RemoveVisit):
        return f"Without {_which_visit(edit.visit, shown.visits, shown.target, name)}"
    if isinstance(edit, AddVisit):
        return f"With one more visit to {name(edit.poi)}"
    if isinstance(edit, MoveVisit):
        return "With one visit at another time"
    return capitalised(describe_edit(edit, name))


def _which_visit(number: int, places: Sequence[PastVisits], target: int, name: Callable[[int], str]) -> str:
    """A visit in words; the title names the target, so a visit there does not."""
    for place in places:
        numbers = [visit.visit for visit in place.visits]
        if number in numbers:
            which = "the only" if len(numbers) == 1 else "the last" if number == numbers[-1] else "one"
            return f"{which} past visit" + f" to {name(place.poi)}" * (place.poi != target)
    return "one earlier check-in"
