"""Options of a reader: columns, time zone, bounding box, encoding, and what to do with rows it cannot use."""

import re
from typing import Final, Literal, Self
from zoneinfo import available_timezones

from pydantic import Field, field_validator, model_validator

from recap.config import Config
from recap.data.coordinates import LONGITUDE_ZONE
from recap.data.parsing.formats import read_words
from recap.errors import ConfigError

ENDS: Final = ("poi", "time", "date", "lat", "lon", "name", "category")
"""Fields that a trip has twice."""
_ONCE: Final[dict[str, str]] = read_words("options")["fields"]
FIELDS: Final = _ONCE | {f"to_{field}": f"{_ONCE[field].partition(',')[0]} at the end of a trip" for field in ENDS}
"""Fields that `--map field=column` can name, with their meaning."""

ONE_PERSON: Final = "one"
"""`--map user=one`: the file is one person's, without a column of users."""

TEXT_FIELDS: Final = ("encoding", "delimiter", "multiline", "ids", "sheet")
"""Fields that `--text field=value` can name."""


class BoundingBox(Config):
    """A rectangle in degrees; check-ins on its border are inside. It may not cross the antimeridian."""

    west: float = Field(ge=-180, le=180, description="Western border, degrees of longitude.")
    south: float = Field(ge=-90, le=90, description="Southern border, degrees of latitude.")
    east: float = Field(ge=-180, le=180, description="Eastern border.")
    north: float = Field(ge=-90, le=90, description="Northern border.")
    timezone: str | None = Field(None, description="Time zone of a named box.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not (self.west < self.east and self.south < self.north):
            raise ValueError(f"west,south,east,north must grow, got {self.west:g},{self.south:g},{self.east:g},…")
        return self


# The state's extreme points, rounded outwards to a hundredth of a degree.
CALIFORNIA: Final = BoundingBox(west=-124.49, south=32.52, east=-114.13, north=42.01, timezone="America/Los_Angeles")
NAMED_BOXES: Final = {"california": CALIFORNIA}


def parse_bbox(text: str) -> BoundingBox:
    """Read ``west,south,east,north`` in degrees, or the name of a box. Raises ConfigError: neither."""
    if text.lower() in NAMED_BOXES:
        return NAMED_BOXES[text.lower()]
    parts = text.split(",")
    if len(parts) != 4:
        known = ", ".join(NAMED_BOXES)
        raise ConfigError(f"--bbox expects west,south,east,north in degrees or one of {known}, got {text!r}")
    return BoundingBox.parse(dict(zip(("west", "south", "east", "north"), parts, strict=True)))


_PAIRS: Final = re.compile(r",(?=\s*\w*\s*(?:=|,|$))")
"""Commas between pairs; others belong to the name of a column."""


def split_pairs(text: str) -> list[str]:
    """The ``field=value`` pairs of a text."""
    return [pair for pair in _PAIRS.split(text) if pair.strip()]


def parse_mapping(assignments: list[str]) -> dict[str, str]:
    """Read ``field=column`` pairs, also several in a text. Raises ConfigError: an unknown field, or one twice."""
    mapping: dict[str, str] = {}
    for pair in (pair for text in assignments for pair in split_pairs(text)):
        field, separator, column = (part.strip() for part in pair.partition("="))
        if not separator or not column:
            raise ConfigError(f"--map expects field=column, got {pair.strip()!r}")
        if field not in FIELDS:
            raise ConfigError(f"--map knows no field {field!r}; choose of {', '.join(FIELDS)}")
        if field in mapping:
            raise ConfigError(f"--map names {field!r} twice: {mapping[field]!r} and {column!r}")
        mapping[field] = column
    return mapping


def parse_text_options(assignments: list[str]) -> dict[str, str]:
    """Read ``field=value`` pairs that say how text is read. Raises ConfigError: an unknown field, or no value."""
    given: dict[str, str] = {}
    for text in assignments:
        field, _, value = text.partition("=")
        if field not in TEXT_FIELDS or not value:
            raise ConfigError(f"--text expects {', '.join(f'{name}=VALUE' for name in TEXT_FIELDS)}, got {text!r}")
        given[field] = value
    return given


class ReadOptions(Config):
    """Options of `recap prepare` and `recap inspect` that concern the raw file."""

    columns: dict[str, str] = Field({}, description="field -> column of the user's own CSV or Parquet (`--map`).")
    timezone: str | None = Field(None, description="IANA zone of all check-ins, or `longitude` (`--timezone`).")
    local_times: bool = Field(False, description="Times are the zone's clocks, whatever they carry (`--local-times`).")
    time_format: str | None = Field(None, description="strptime layout, or iso, epoch, spreadsheet (`--time-format`).")
    bbox: BoundingBox | None = Field(None, description="Keep only check-ins inside (`--bbox`).")
    encoding: str | None = Field(None, description="Text encoding; guessed where not given (`--text encoding`).")
    delimiter: str | None = Field(None, description="Separator of the user's own CSV (`--text delimiter`).")
    multiline: bool = Field(False, description="Quoted values may hold line breaks (`--text multiline=true`).")
    sheet: str | None = Field(None, description="Sheet of an Excel workbook (`--text sheet`).")
    ids: Literal["join", "split"] | None = Field(None, description="Join spellings, or split places (`--text ids`).")
    skip_bad_rows: bool = Field(False, description="Report rows that cannot be used instead of refusing the file.")
    take_proposed_zone: bool = Field(False, description="Take the zone of the coordinates; only `recap inspect` does.")
    is_settled: bool = Field(False, description="Columns and layout are decided: nothing more is proposed.")

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str | None) -> str | None:
        if value not in (None, LONGITUDE_ZONE) and value not in available_timezones():
            raise ValueError(f"--timezone expects an IANA name such as America/New_York, or {LONGITUDE_ZONE!r}")
        return value

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                "".encode(value)
            except LookupError as error:
                raise ValueError("--text encoding expects a text encoding such as utf-8 or latin-1") from error
        return value

    @field_validator("delimiter")
    @classmethod
    def _one_character(cls, value: str | None) -> str | None:
        value = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(value or "", value)
        if value is not None and (len(value) != 1 or value in '"\r\n' or ord(value) > 127):
            raise ValueError("--text delimiter expects one ASCII character, or tab, comma, semicolon")
        return value

    @property
    def zone(self) -> str | None:
        """The zone to use: the option's, else the named bounding box's."""
        return self.timezone or (self.bbox.timezone if self.bbox else None)
