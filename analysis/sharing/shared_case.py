"""Types of a shared file: one case, its places, and the whole page.

`analysis.sharing.generalise` fills each field on purpose; nothing else of an explanation leaves. Places are numbers of
the page (positions in `SharedPage.places`), never the dataset's.
"""

from typing import Final

from pydantic import Field

from analysis.explain.types import ExplainedPlace, Role, Sentence, Without
from analysis.explain.what_if import WhatIf
from analysis.sharing.ground import Ground
from recap.config import Config

FORMAT: Final = 1


class SharedPlace(Config):
    """A place as shown: itself, or a grid cell."""

    name: str
    category: str
    is_cell: bool = Field(description="Fewer than k people were there: name, category and point are those of a cell.")
    latitude: float | None = Field(description="Degrees; for a cell, a point in it where none of its places is.")
    longitude: float | None
    bounds: tuple[float, float, float, float] | None = Field(description="South, west, north, east of a cell.")


class SharedRank(Config):
    """One of the best places, without contributions, which would reveal where else the user had been."""

    place: int
    rank: float
    probability: float
    score: float


class SharedPath(Config):
    place: int
    count_in: int
    total_in: int
    count_out: int
    total_out: int
    share: float
    points: float | None
    rank_without: float | None


class SharedDot(Config):
    weeks_ago: float = Field(description="Whole weeks; exact in an exact export.")
    label: str


class SharedVisits(Config):
    place: int
    count: int
    days_ago: float | None = Field(
        description="Of the last one, complete days; exact below two days in an exact export."
    )
    dots: list[SharedDot]


class SharedCase(Config):
    number: int = Field(description="On this page, from 1.")
    case: int | None = Field(description="Number of the test case, in an exact export alone.")
    user: str
    when: str
    time_given: str = Field("", description="The time that the model was given, as `when`; empty without one.")
    headline: Sentence
    sentences: list[Sentence]
    note: str = ""
    source: int
    target: int
    runner_up: int
    truth: int | None = Field(description="None where the page hides it, or it is not known yet.")
    has_truth: bool = Field(description="Whether the dataset has the true next place; otherwise it is not known yet.")
    roles: tuple[Role, Role]
    num_places: int
    inactive: list[str]
    edits: str
    a: ExplainedPlace = Field(description="The target; its number is that of the page.")
    b: ExplainedPlace = Field(description="The runner-up.")
    without: list[Without]
    flip: str | None = Field(description="The smallest edit that turns the two round, in words.")
    tried: int | None
    best: list[SharedRank]
    paths: list[SharedPath]
    visits: list[SharedVisits]
    what_if: WhatIf | None
    checks: list[dict[str, str]] = Field(description="The table of robustness checks, as Explain shows it.")
    link: str | None = Field(description="In an exact export alone.")
    matching_users: int | None = Field(description="Of the dataset, who were where and when this case shows.")


class Change(Config):
    """One line of the report: what was generalised, and how."""

    what: str
    how: str


class Reidentification(Config):
    """How well the shown points hide a user, see `analysis.sharing.reidentification`."""

    matching_users: int = Field(description="The fewest, over the cases, who were where and when a case shows.")
    fitting_as_recorded: int = Field(description="The same with exact places and seconds.")
    users: int = Field(description="Of the dataset.")

    @property
    def sentence(self) -> str:
        if self.matching_users == 1:
            return "At least one shared case matches exactly one user."
        unmasked = "exactly one does" if self.fitting_as_recorded == 1 else f"{self.fitting_as_recorded:,} do"
        return f"At least {self.matching_users:,} users match each shared case; unmasked, {unmasked}."


TOO_FEW: Final = "Fewer than {people} match: anyone who knows where and when this user was can recognise them."


class SharedPage(Config):
    format: int = FORMAT
    is_exact: bool
    title: str
    note: str = Field(description="What kind of file this is, in one sentence.")
    invented: bool = Field(False, description="Whether the users are, so that nobody can be recognised.")
    min_users: int | None = Field(description="k; None where the page is exact.")
    cell_km: float | None
    hours: int | None
    changes: list[Change]
    estimate: Reidentification | None
    places: list[SharedPlace]
    cases: list[SharedCase]
    dataset_hash: str | None = None
    checkpoint_hash: str | None = None

    @property
    def warning(self) -> str:
        """Said where fewer people match than the rule asks for."""
        if self.invented or self.estimate is None or self.min_users is None:
            return ""
        return TOO_FEW.format(people=self.min_users) if self.estimate.matching_users < self.min_users else ""

    ground: Ground = Field(exclude=True, description="The ground of the maps; not part of the JSON.")
