"""What a screen for a room is made of: a title in coloured pieces, up to three numbers, a line, and a picture."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from analysis.cases.picture import Marks
from recap.printable import shortened

PieceKind = Literal["plain", "source", "truth", "model", "path"]
LONGEST_NAME: Final = 30


@dataclass(frozen=True)
class Piece:
    """A stretch of a title; names of places have their colour."""

    text: str
    kind: PieceKind = "plain"


@dataclass(frozen=True)
class Number:
    """A number with what it is of."""

    label: str
    value: str


@dataclass(frozen=True)
class Screen:
    """One screen.

    Attributes:
        title: the finding, in pieces.
        numbers: at most three.
        detail: one more line, or a list; Markdown of ours, without words from data.
        marks: what its picture shows; None without one.
    """

    title: tuple[Piece, ...]
    numbers: tuple[Number, ...]
    detail: str = ""
    marks: Marks | None = None

    @property
    def text(self) -> str:
        """The title as plain text."""
        return "".join(piece.text for piece in self.title)

    def showing(self, marks: Marks) -> "Screen":
        """The same with a picture."""
        return replace(self, marks=marks)


def join(*pieces: str | Piece) -> tuple[Piece, ...]:
    """Pieces of a title; plain text may stand as it is."""
    return tuple(Piece(piece) if isinstance(piece, str) else piece for piece in pieces)


def name(text: str, kind: PieceKind) -> Piece:
    """A place's name, cut where it would not fit a title.

    >>> name("A very long name of a place that nobody can read aloud", "truth").text
    'A very long name of a place t…'
    """
    return Piece(shortened(text, LONGEST_NAME), kind)
