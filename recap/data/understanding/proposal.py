"""The proposed reading of a file, for the app and the terminal."""

import shlex
from pathlib import Path
from typing import Final

from pydantic import Field

from recap.config import Config
from recap.data.parsing.options import ReadOptions

FIRST_ROWS: Final = 5


class ColumnProposal(Config):
    """A column of the file and its likely content."""

    name: str = Field(description="As `--map` takes it; `point.1` and `point.2` are the two numbers of a point.")
    field: str | None = Field(None, description="Field of `--map`, see `FIELDS`; None where it is not used.")
    reason: str = Field("", description="Why, in a few words.")
    first: list[str] = Field([], description=f"The first {FIRST_ROWS} values.")


class TimeLayout(Config):
    """One way to read the column of times."""

    time_format: str | None = Field(description="For `--time-format`; None where none is needed.")
    label: str = Field(description="Such as `month first`.")
    unread: int = Field(description="Rows that it cannot read.")
    first: str = Field(description="The first time, as it reads it.")


class ZoneProposal(Config):
    """The time zone of a file that names none, from its coordinates."""

    timezone: str = Field(description="For `--timezone`.")
    is_local: bool | None = Field(description="Whether times look local (`--local-times`); None where both may be.")
    reason: str = Field(description="Why, in a few words.")


class Choice(Config):
    """One answer to a question."""

    label: str = Field(description="In a few words.")
    options: ReadOptions = Field(description="All options with this answer.")


class Question(Config):
    """A question where two readings are about equally good, or none is good."""

    about: str = Field(description="A field of `--map`, `time_format` or `timezone`.")
    text: str = Field(description="One sentence.")
    choices: list[Choice] = Field([], description="Answers, the likely one first.")


class Understanding(Config):
    """The likely content of a file. Give `options` with the answers to `recap.data.reading.read_checkins`."""

    path: str = Field(description="The file or folder as named.")
    source_format: str = Field(description="One of `SOURCE_FORMATS`.")
    why: str = Field(description="Why, as a phrase that follows because.")
    columns: list[ColumnProposal] = Field(
        [], description="Columns of the user's own table; empty for published formats."
    )
    layouts: list[TimeLayout] = Field([], description="Layouts of its times, the one taken first.")
    zone: ZoneProposal | None = Field(None, description="Where neither file nor options name one.")
    questions: list[Question] = Field([], description="What is unsure, to be asked one at a time.")
    options: ReadOptions = Field(description="All that is sure.")

    @property
    def question(self) -> Question | None:
        """The first open question."""
        return self.questions[0] if self.questions else None

    def refusal(self) -> str:
        """The first question and its answers in one line."""
        assert self.question is not None
        answers = "; ".join(f"{choice.label}: {option_text(choice.options)}" for choice in self.question.choices)
        return f"{Path(self.path).name}: {self.question.text}" + (f"; {answers}" if answers else "")


def option_text(options: ReadOptions) -> str:
    """The command-line options that give these values, to copy."""
    box = options.bbox
    corners = f"{box.west:g},{box.south:g},{box.east:g},{box.north:g}" if box else ""
    text = {"encoding": options.encoding, "delimiter": options.delimiter, "multiline": "true" * options.multiline}
    given = [
        ("--map", ",".join(f"{field}={column}" for field, column in options.columns.items())),
        ("--time-format", options.time_format),
        ("--timezone", options.timezone),
        *(("--text", value and f"{name}={'tab' if value == chr(9) else value}") for name, value in text.items()),
        ("--bbox", "california" if box and box.timezone else corners),
    ]
    words = [word for name, value in given if value for word in (name, value)]
    return shlex.join(words + ["--local-times"] * options.local_times)
