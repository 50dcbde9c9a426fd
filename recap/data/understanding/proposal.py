"""The proposed reading of a file, for the app and the terminal."""

import shlex
import tomllib
from pathlib import Path
from typing import Any, Final

from pydantic import Field

from recap.config import Config
from recap.data.parsing.options import ReadOptions

FIRST_ROWS: Final = 5
WORDS: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def say(key: str, /, **values: object) -> str:
    """A sentence of `words.toml` with its values."""
    return str(WORDS[key]).format(**values)


class ColumnProposal(Config):
    """A column of the file and its likely content."""

    name: str = Field(description="As `--map` takes it; `point.1` and `point.2` are the two numbers of a point.")
    field: str | None = Field(None, description="Field of `--map`, see `FIELDS`; None where it is not used.")
    reason: str = Field("", description="Why, in a few words.")
    first: list[str] = Field([], description=f"The first {FIRST_ROWS} values.")
    is_other_place: bool = Field(False, exclude=True, description="A second place of the row, which is not used.")


class Question(Config):
    """A question where two readings are about equally good, or none is good."""

    about: str = Field(description="A field of `--map`, `time_format` or `timezone`.")
    text: str = Field(description="As a person would ask it.")
    is_explained: bool = Field(False, description="The text says what to do, if there are no answers.")
    answers: dict[str, ReadOptions] = Field(description="Answer -> all options with it; the likely one first.")


class Understanding(Config):
    """The likely content of a file. Give `options` with the answers to `recap.data.reading.read_checkins`."""

    path: str = Field(description="The file or folder as named.")
    source_format: str = Field(description="One of `SOURCE_FORMATS`.")
    why: str = Field(description="Why, as a phrase that follows because.")
    columns: list[ColumnProposal] = Field(
        [], description="Columns of the user's own table; empty for published formats."
    )
    question: Question | None = Field(None, description="The first thing that is unsure.")
    options: ReadOptions = Field(description="All that is sure.")

    def refusal(self) -> str:
        """The question and its answers in one line."""
        assert self.question is not None
        missing = "lat=COLUMN,lon=COLUMN" if self.question.about == "lat" else f"{self.question.about}=COLUMN"
        answers = "; ".join(f"{answer}: {option_text(options)}" for answer, options in self.question.answers.items())
        is_named = self.question.is_explained or self.question.about in self.options.columns
        answers = answers or ("" if is_named else f"Name it with --map {missing}")
        return f"{Path(self.path).name}: {self.question.text} {answers}".rstrip()


def option_text(options: ReadOptions) -> str:
    """The command-line options that give these values, to copy."""
    box = options.bbox
    corners = f"{box.west:g},{box.south:g},{box.east:g},{box.north:g}" if box else ""
    text = {name: getattr(options, name) for name in ("encoding", "delimiter", "ids", "sheet")}
    text["multiline"] = "true" * options.multiline
    given = [
        ("--map", ",".join(f"{field}={column}" for field, column in options.columns.items())),
        ("--time-format", options.time_format),
        ("--timezone", options.timezone),
        *(("--text", value and f"{name}={'tab' if value == chr(9) else value}") for name, value in text.items()),
        ("--bbox", "california" if box and box.timezone else corners),
    ]
    words = [word for name, value in given if value for word in (name, value)]
    return shlex.join(words + ["--local-times"] * options.local_times)
