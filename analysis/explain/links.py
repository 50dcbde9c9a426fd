"""Links to a case or a user's moment, its runner-up and its edits, with the hashes of checkpoint and dataset."""

from urllib.parse import parse_qs, urlencode

from pydantic import Field

from analysis.explain.edits import parse_edits, write_edits
from analysis.link_hashes import compare_hashes, link_hashes
from recap import columns as c
from recap.asking.predictor import CaseRanker, Predictor
from recap.config import Config
from recap.errors import CaseError
from recap.history.asked_times import link_time
from recap.history.moments import Moment

VIEW_FIELDS = frozenset({"register", "truth"})
"""Fields of a link that only affect how the view looks."""


class CaseLink(Config):
    checkpoint: str = Field("", description="Beginning of the checkpoint's hash; empty fits any.")
    dataset: str = Field("", description="Beginning of the dataset's hash; empty fits any.")
    case: int = 0
    user: int | None = Field(None, description="Its number: the user at the moment of `row` instead of a case.")
    row: int | None = Field(None, description="Of the user's last known check-in.")
    stops: str = Field("", description="Changed stops, see `recap.history.moments`; without a user, a new user's.")
    at: str = Field("", description="Local time asked for, for a model that reads it.")
    split: int = c.TEST
    about: int | None = Field(None, description="The place explained; None for the true next place.")
    against: int | None = Field(None, description="The runner-up; None takes the first place, or the second.")
    edits: str = Field("", description="Text form of the edits.")

    @classmethod
    def to(
        cls,
        predictor: Predictor,
        case: int | Moment,
        *,
        about: int | None = None,
        against: int | None = None,
        edits: str = "",
    ) -> "CaseLink":
        return cls(
            **link_hashes(predictor.dataset.stored_hash, predictor.checkpoint.hash),
            **predictor.moment(case).fields,
            about=about,
            against=against,
            edits=write_edits(parse_edits(edits)),
        )

    @property
    def names_case(self) -> bool:
        """Whether it names a case, not a user's moment."""
        return self.row is None and self.user is None and not self.stops

    @property
    def query(self) -> str:
        """The query part of a web address, without empty fields."""
        fields = self.model_dump(exclude=set() if self.names_case else {"case", "split"})
        return urlencode({name: value for name, value in fields.items() if value not in ("", None)})

    def moment(self, ranker: CaseRanker) -> Moment:
        """What the link names; CaseError for no such case, or a check-in that is not the user's."""
        if self.names_case:
            return ranker.moment(self.case, self.split)
        named = Moment(*(-1 if number is None else number for number in (self.user, self.row)), at=link_time(self.at))
        return ranker.moment(named.with_stops(self.stops, ranker.dataset.num_pois))

    @classmethod
    def from_query(cls, query: str) -> "CaseLink":
        """Read a link or its query part; the app's own settings are ignored.

        ConfigError: an unknown or unreadable field. EditError: edits that cannot be read.
        """
        fields = {name: values[-1] for name, values in parse_qs(query.partition("?")[2] or query).items()}
        source = fields.pop("source", "")  # the app names the open checkpoint by the beginning of its hash
        fields = {name: value for name, value in fields.items() if name not in VIEW_FIELDS}
        if source:
            fields.setdefault("checkpoint", source)
        link = cls.parse(fields)
        parse_edits(link.edits)
        return link

    def mismatch(self, predictor: Predictor) -> str | None:
        """A sentence if the link belongs to another checkpoint or dataset, else None."""
        named = {"dataset": self.dataset, "checkpoint": self.checkpoint}
        hashes = compare_hashes(named, predictor.dataset.stored_hash, predictor.checkpoint.hash)
        if not hashes.differing:
            return None
        return f"{hashes.sentence}; open that {' and that '.join(hashes.differing)} to see what the link meant"

    def check(self, predictor: Predictor) -> None:
        """Refuse a link to another checkpoint or dataset with the sentence of `mismatch` as a CaseError."""
        if sentence := self.mismatch(predictor):
            raise CaseError(sentence)
