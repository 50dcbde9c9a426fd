"""Parts of an explanation: contributions, ranks, two-hop paths, past visits, sentences."""

from typing import Final, Literal

from pydantic import Field

from recap.config import Config

Role = Literal["truth", "model", "other"]
"""The true next place, a prediction, or another prediction."""
MarkKind = Literal["source", "middle", "truth", "model", "other"]
"""A place on a map: the source, the middle of a two-hop path, or a place of this role."""
NOT_KNOWN_YET: Final = "not known yet"
"""The true next place after a user's last check-in."""
PieceKind = Literal["plain", "target", "runner_up", "place", "revisits", "paths"]
About = Literal["time", "rank", "transition", "visits", "without", "runner_up"]


def roles_of(target: int, runner_up: int, truth: int | None) -> tuple[Role, Role]:
    if target == truth:
        return "truth", "model"
    return "model", "truth" if runner_up == truth else "other"


class Piece(Config):
    """Part of a sentence; names of places and feature groups are separate pieces with a colour."""

    text: str
    kind: PieceKind = "plain"


class Sentence(Config):
    about: About
    pieces: list[Piece]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


class ExplainedPlace(Config):
    """One place: its rank, and its score as a sum of contributions."""

    poi: int
    name: str
    category: str
    rank: float = Field(description="1 is best; the mean rank where scores are equal.")
    probability: float = Field(
        description="Softmax over all places of the scores divided by the temperature of the case."
    )
    score: float
    groups: dict[str, float] = Field(description="Contribution of each group of terms, in order; they sum to `score`.")
    terms: dict[str, float] = Field(description="Contribution of each term, in order; they sum to `score`.")
    gate: float | None = Field(description="gamma_t(d) in [-1, 1]; None where no correction acts on the place.")


class Without(Config):
    """The rank of the explained place without a group of terms or the graph token."""

    name: str
    rank: float


class PathTerms(Config):
    """One two-hop path source -> middle -> destination over training transitions.

    Counts are those that the model reads; a curve of two-hop paths reads only other users' transitions.
    """

    middle: int
    name: str
    count_in: int
    total_in: int = Field(description="Transitions from the source to any place.")
    count_out: int
    total_out: int = Field(description="Transitions from the middle to any place.")
    product: float = Field(description="A_sm A_md.")
    share: float = Field(description="Of the sum over all paths to the destination.")
    points: float | None = Field(description="f(x) p / x of the curve of paths; None where no term reads paths.")
    rank_without: float | None = Field(None, description="The destination's rank if the path is cut.")


class Visit(Config):
    visit: int = Field(description="Number of the check-in, as edits name it.")
    local_time: str = Field(description="On the clock of the place, ISO 8601 without offset.")
    checkins_ago: int
    days_ago: float
    rank_without: float | None = Field(None, description="Rank of the explained place if the visit is removed.")
    points: float | None = Field(None, description="By how much its score falls then; visits need not add up.")


class PastVisits(Config):
    """A user's visits to one place before now."""

    poi: int
    name: str
    visits: list[Visit] = Field(description="Oldest first.")

    @property
    def last(self) -> Visit | None:
        return self.visits[-1] if self.visits else None
