"""A saved case, a slide of another view and a collection, as one JSON file each, without a trace of a person."""

import hashlib
from base64 import b64decode
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, field_validator

from analysis.explain.links import CaseLink
from recap.config import Config

MAX_NOTE: Final = 2000
MAX_TITLE: Final = 300
MAX_TAGS: Final = 12
MAX_TAG: Final = 40
MAX_PICTURE: Final = 900_000
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_MOST_PIXELS: Final = 4000
_EARLY: Final = datetime(2000, 1, 1, tzinfo=UTC)
_SHORT: Final = 12

Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TAG)]
CaseName = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]


class SavedCase(Config):
    """A saved case: the exact view, with title, note and tags. Files of earlier versions can be read."""

    link: CaseLink = Field(description="Hashes of dataset and checkpoint, the case, the places compared, the edits.")
    title: str = Field(max_length=MAX_TITLE, description="What the case showed, in one line.")
    note: str = Field("", max_length=MAX_NOTE)
    tags: tuple[Tag, ...] = Field((), max_length=MAX_TAGS)
    audience: str = Field("", max_length=100, description="Whom it is kept for.")
    words: Literal["researcher", "stakeholder"] = Field("stakeholder", description="Of earlier versions; not used.")
    slide_title: str = Field("", max_length=MAX_TITLE, description="Of its first slide; empty: the finding.")
    saved: datetime
    changed: datetime = Field(_EARLY, description="When note, tags or audience were last written.")

    @field_validator("tags")
    @classmethod
    def _each_once(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        first: dict[str, str] = {}
        for tag in tags:
            first.setdefault(tag.casefold(), tag)
        return tuple(first.values())

    @property
    def name(self) -> str:
        """Name of its file; the same view is always the same file."""
        short = {"checkpoint": self.link.checkpoint[:_SHORT], "dataset": self.link.dataset[:_SHORT]}
        return _name(self.link.model_copy(update=short).query)

    def fits(self, dataset_hash: str, checkpoint_hash: str | None) -> bool:
        """Whether it belongs to this dataset and checkpoint; an empty hash fits any."""
        return dataset_hash.startswith(self.link.dataset) and (checkpoint_hash or "").startswith(self.link.checkpoint)

    def holds(self, text: str) -> bool:
        """Whether title, note, tags or audience contain every word of a search, ignoring case."""
        written = " ".join((self.title, self.note, *self.tags, self.audience)).casefold()
        return all(word in written for word in text.casefold().split())


class ViewSlide(Config):
    """What a view said, for a slide: masked as on a shared page when it was added, see `analysis.sharing`."""

    view: str = Field(max_length=40, description="Title of the view.")
    dataset: str = Field(pattern=r"^[0-9a-f]{0,64}$")
    model: str = Field(max_length=100, description="Key of the model.")
    data: str = Field(max_length=200, description="Dataset and model in words.")
    headline: str = Field(min_length=1, max_length=1000)
    caveat: str = Field(max_length=2000)
    picture: str = Field(max_length=MAX_PICTURE, description="A PNG in base64.")
    slide_title: str = Field("", max_length=MAX_TITLE, description="Empty: the headline.")
    saved: datetime

    @field_validator("picture")
    @classmethod
    def _is_png(cls, picture: str) -> str:
        start = b64decode(picture[:64] + "=" * (-len(picture[:64]) % 4), validate=True)
        sides = int.from_bytes(start[16:20]), int.from_bytes(start[20:24])
        if not start.startswith(_PNG) or not 0 < max(sides) <= _MOST_PIXELS:
            raise ValueError(f"a slide's picture is a PNG of at most {_MOST_PIXELS:,} x {_MOST_PIXELS:,} pixels")
        return picture

    @property
    def title(self) -> str:
        return self.slide_title or self.headline

    @property
    def png(self) -> bytes:
        return b64decode(self.picture)

    @property
    def name(self) -> str:
        """Name of its file; the same finding is always the same file."""
        return _name("\n".join((self.dataset, self.model, self.view, self.headline)))


class Collection(Config):
    title: str = Field(min_length=1, max_length=100)
    cases: tuple[CaseName, ...] = Field((), max_length=500, description="Names of saved cases and slides, in order.")
    changed: datetime

    @field_validator("cases")
    @classmethod
    def _each_once(cls, cases: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cases))

    @property
    def name(self) -> str:
        return _name(" ".join(self.title.casefold().split()))

    def with_case(self, case: str) -> "Collection":
        return self._of((*self.cases, case))

    def without_case(self, case: str) -> "Collection":
        return self._of(tuple(name for name in self.cases if name != case))

    def moved(self, case: str, by: int) -> "Collection":
        """Move one case; it stops at either end.

        >>> made = Collection(title="x", cases=("a" * 16, "b" * 16), changed=datetime.now(UTC))
        >>> "".join(name[0] for name in made.moved("b" * 16, -5).cases)
        'ba'
        """
        position = self.cases.index(case)
        others = [name for name in self.cases if name != case]
        others.insert(min(max(position + by, 0), len(others)), case)
        return self._of(tuple(others))

    def _of(self, cases: tuple[str, ...]) -> "Collection":
        return Collection(title=self.title, cases=cases, changed=datetime.now(UTC))


def parse_tags(text: str) -> tuple[str, ...]:
    """Tags from text separated by commas.

    >>> parse_tags("two hops,  start here ,")
    ('two hops', 'start here')
    """
    return tuple(tag.strip() for tag in text.split(",") if tag.strip())


def _name(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
