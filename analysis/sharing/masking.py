"""How one export shows names, times and edits; a place has the same name and number everywhere in it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from analysis.explain.case_words import describe_edit
from analysis.explain.edits import Edit, write_edits
from analysis.explain.explanation import CaseExplanation
from analysis.explain.types import Piece, Sentence
from analysis.formatting import user_name
from analysis.sharing.places import MaskedPlaces
from analysis.sharing.shared_case import SharedPlace
from analysis.workspace import Workspace
from recap.privacy import WEEKDAYS, Generalisation

_HOURS: Final = re.compile(r"(?:(\d+) hours?|less than an hour) ago")
_UNNAMED: Final = "a place"


@dataclass
class Masking:
    """One export: its rule, how it shows places, and the places in it so far.

    Attributes:
        opened: None for a single case without a map or an estimate.
        rule: None shows everything as recorded.
        hides_user: the user's own places are cells, and times have no weekday.
    """

    opened: Workspace | None
    places: MaskedPlaces
    rule: Generalisation | None
    hides_user: bool = False
    numbers: dict[int, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    @property
    def is_exact(self) -> bool:
        return self.rule is None

    def number(self, poi: int) -> int:
        """The place's number in this export; cells with the same name get numbers."""
        if poi not in self.numbers:
            name, again = self.places.name[poi], 1
            while not self.is_exact and name in self.names:
                again += 1
                name = f"{self.places.name[poi]} ({again})"
            self.numbers[poi] = len(self.names)
            self.names.append(name)
        return self.numbers[poi]

    def name(self, poi: int) -> str:
        return self.names[self.number(poi)]

    def shared_places(self) -> list[SharedPlace]:
        return [self._shared_place(poi, self.names[number]) for poi, number in self.numbers.items()]

    def _shared_place(self, poi: int, name: str) -> SharedPlace:
        point = self.places.at(poi)
        return SharedPlace(
            name=name,
            category=self.places.category[poi],
            is_cell=bool(self.places.is_cell[poi]),
            latitude=None if point is None else round(point[0], 6),
            longitude=None if point is None else round(point[1], 6),
            bounds=self.places.bounds(poi),
        )

    def moment(self, time: datetime) -> str:
        """A moment in local time, never with a date; to the minute if exact."""
        if self.rule is None:
            return f"{WEEKDAYS[time.weekday()]}, {time:%H:%M}"
        return self.rule.part_of_week(None if self.hides_user else time.weekday(), time.hour)

    def user(self, user: int) -> str:
        return user_name(user) if self.rule is None else self.rule.pseudonym(user)

    def sentence(self, sentence: Sentence, shown: dict[str, int]) -> Sentence:
        """A sentence with places as shown and coarser spans of hours; the explanation names them as ``shown``."""
        if self.is_exact:
            return sentence
        pieces, starts = [], True
        for piece in (self._piece(piece, shown) for piece in sentence.pieces):
            text = piece.text[:1].upper() + piece.text[1:] if starts else piece.text
            pieces.append(piece.model_copy(update={"text": text}))
            starts = text.rstrip().endswith(".")
        return sentence.model_copy(update={"pieces": pieces})

    def _piece(self, piece: Piece, shown: dict[str, int]) -> Piece:
        if piece.kind in ("plain", "revisits", "paths"):
            text = _HOURS.sub(_in_days, piece.text)
            for name, poi in shown.items():  # names are separate pieces; replace any name in other text too
                if self.places.is_cell[poi] and name in text:
                    text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", _UNNAMED, text)
            return piece.model_copy(update={"text": text})
        another = piece.text[:8].lower() == "another " and piece.text not in shown
        name = piece.text[8:] if another else piece.text
        named = shown.get(name, shown.get(name[:1].lower() + name[1:]))
        text = _UNNAMED if named is None else self.name(named)
        return piece.model_copy(update={"text": f"another {text}" if another and named is None else text})

    def edits(self, edits: Iterable[Edit]) -> str:
        """Edits in their text form in an exact export, otherwise in words without visits and times."""
        if self.is_exact:
            return write_edits(tuple(edits))
        return "; ".join(describe_edit(edit, self.name) for edit in edits)


def _in_days(hours: re.Match[str]) -> str:
    """A span of hours in whole days, as the table of visits has it.

    >>> [_HOURS.sub(_in_days, text) for text in ("less than an hour ago", "23 hours ago", "31 hours ago")]
    ['less than a day ago', 'less than a day ago', '1 day ago']
    """
    return "1 day ago" if int(hours[1] or 0) >= 24 else "less than a day ago"


def places_by_name(explanation: CaseExplanation) -> dict[str, int]:
    """Every place of the explanation by its name there."""
    pairs = [
        (explanation.source_name, explanation.source),
        (explanation.target_name, explanation.target),
        *([] if explanation.truth is None else [(explanation.truth_name, explanation.truth)]),
        *((entry.name, entry.poi) for entry in explanation.candidates),
        *((path.name, path.middle) for path in explanation.paths),
    ]
    return dict(reversed(pairs))
