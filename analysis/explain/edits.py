"""Edits of a case as data, with a short text form for links and the command line.

Visits are numbered in time order from 0; the last one is the current check-in (the source). Added visits get the next
numbers.
"""

import re
from datetime import datetime
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from analysis.records.ablations import slug
from recap.config import Config, describe_validation
from recap.errors import CaseError

DAY_NAMES: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CLOCK: Final = "%Y-%m-%dT%H:%M"


class EditError(CaseError):
    """An edit that cannot be read or does not fit its case."""


class _Edit(Config):
    written: ClassVar[str]
    """Its text form as a format string."""

    @property
    def text(self) -> str:
        return self.written.format(self)


class RemoveVisit(_Edit):
    written = "remove:{0.visit}"
    kind: Literal["remove"] = "remove"
    visit: int = Field(ge=0)


class AddVisit(_Edit):
    """Add a visit to a place at a local time before the current check-in."""

    written = f"add:{{0.poi}}@{{0.local_time:{_CLOCK}}}"
    kind: Literal["add"] = "add"
    poi: int = Field(ge=0)
    local_time: datetime


class MoveVisit(_Edit):
    """Move a visit to another local time before the current check-in."""

    written = f"move:{{0.visit}}@{{0.local_time:{_CLOCK}}}"
    kind: Literal["move"] = "move"
    visit: int = Field(ge=0)
    local_time: datetime


class SetHour(_Edit):
    """Move the current check-in to another time of its day."""

    written = "hour:{0.hour:02d}:{0.minute:02d}"
    kind: Literal["hour"] = "hour"
    hour: int = Field(ge=0, le=23)
    minute: int = Field(0, ge=0, le=59)


class SetArrival(_Edit):
    """Move the time given to another time of its day, or of the next day where that is before the last check-in."""

    written = "arrive:{0.hour:02d}:{0.minute:02d}"
    kind: Literal["arrive"] = "arrive"
    hour: int = Field(ge=0, le=23)
    minute: int = Field(0, ge=0, le=59)


class SetWeekday(_Edit):
    """Move the current check-in to another day of its week."""

    kind: Literal["weekday"] = "weekday"
    weekday: int = Field(ge=0, le=6, description="0 Monday to 6 Sunday.")

    @property
    def text(self) -> str:
        return f"weekday:{DAY_NAMES[self.weekday]}"


class SetSource(_Edit):
    written = "source:{0.poi}"
    kind: Literal["source"] = "source"
    poi: int = Field(ge=0)


class SetEdge(_Edit):
    """Set how often training saw source -> destination (0 removes the edge); the row is normalised again."""

    written = "edge:{0.source}-{0.destination}:{0.count}"
    kind: Literal["edge"] = "edge"
    source: int = Field(ge=0)
    destination: int = Field(ge=0)
    count: int = Field(le=1_000_000)


class CutPath(_Edit):
    written = "cut:{0.middle}-{0.destination}"
    kind: Literal["cut"] = "cut"
    middle: int = Field(ge=0)
    destination: int = Field(ge=0)


class SwitchOff(_Edit):
    """Leave out a term, a group of terms or the graph token for every candidate."""

    kind: Literal["off"] = "off"
    name: str = Field(min_length=1, description="As the model names it, or its `slug`.")

    @property
    def text(self) -> str:
        return f"off:{slug(self.name)}"


Edit = Annotated[
    RemoveVisit | AddVisit | MoveVisit | SetHour | SetArrival | SetWeekday | SetSource | SetEdge | CutPath | SwitchOff,
    Field(discriminator="kind"),
]
_ADAPTER: Final[TypeAdapter[Edit]] = TypeAdapter(Edit)
_FORMS: Final = {
    "remove": (r"(?P<visit>\d+)", "remove:VISIT"),
    "add": (r"(?P<poi>\d+)@(?P<local_time>.+)", "add:PLACE@2012-05-01T18:30"),
    "move": (r"(?P<visit>\d+)@(?P<local_time>.+)", "move:VISIT@2012-05-01T18:30"),
    "hour": (r"(?P<hour>\d+)(:(?P<minute>\d+))?", "hour:17 or hour:17:30"),
    "arrive": (r"(?P<hour>\d+)(:(?P<minute>\d+))?", "arrive:18 or arrive:18:30"),
    "weekday": (rf"(?P<weekday>{'|'.join(DAY_NAMES)})", "weekday:mon to weekday:sun"),
    "source": (r"(?P<poi>\d+)", "source:PLACE"),
    "edge": (r"(?P<source>\d+)-(?P<destination>\d+):(?P<count>-?\d+)", "edge:FROM-TO:COUNT"),
    "cut": (r"(?P<middle>\d+)-(?P<destination>\d+)", "cut:MIDDLE-TO"),
    "off": (r"(?P<name>[\w -]+)", "off:GROUP"),
}


def parse_edit(text: str) -> Edit:
    """Read one edit from its text form; EditError for an unknown form or a value out of range."""
    kind, _, rest = text.strip().partition(":")
    if kind not in _FORMS:
        raise EditError(f"unknown edit {text!r}; write one of {', '.join(form for _, form in _FORMS.values())}")
    pattern, form = _FORMS[kind]
    match = re.fullmatch(pattern, rest)
    if match is None:
        raise EditError(f"edit {text!r} cannot be read; write {form}")
    values: dict[str, object] = {name: value for name, value in match.groupdict().items() if value is not None}
    if kind == "weekday":
        values["weekday"] = DAY_NAMES.index(str(values["weekday"]))
    if "local_time" in values:
        try:
            values["local_time"] = datetime.strptime(str(values["local_time"]), _CLOCK)
        except ValueError:
            raise EditError(f"edit {text!r}: the local time must look like 2012-05-01T18:30") from None
    try:
        edit = _ADAPTER.validate_python({"kind": kind, **values})
    except ValidationError as error:
        raise EditError(f"edit {text!r}: {describe_validation(error)}") from error
    check_edge(edit)
    return edit


def check_edge(edit: Edit) -> None:
    """Refuse a negative transition count with an EditError."""
    if isinstance(edit, SetEdge) and edit.count < 0:
        raise EditError(
            f"edge weight {edit.count}: a transition count cannot be negative; 0 removes the edge "
            f"{edit.source} to {edit.destination}"
        )


def parse_edits(text: str) -> tuple[Edit, ...]:
    """Read a sequence of edits separated by ``;``; blanks are skipped.

    >>> write_edits(parse_edits("remove:3; hour:17"))
    'remove:3;hour:17:00'
    """
    return tuple(parse_edit(part) for part in text.split(";") if part.strip())


def write_edits(edits: tuple[Edit, ...]) -> str:
    """The text form that `parse_edits` reads."""
    return ";".join(edit.text for edit in edits)


def with_edits(done: tuple[Edit, ...], kind: type[Edit], wanted: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Replace all edits of one kind; others keep their order, new ones come last."""
    kept = tuple(edit for edit in done if not isinstance(edit, kind) or edit in wanted)
    return (*kept, *(edit for edit in wanted if edit not in kept))
