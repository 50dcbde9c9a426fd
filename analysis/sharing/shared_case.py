"""What a shared file may say, as types: one case, its places, and the whole page; every rendering reads these alone.

Each field is filled on purpose in `analysis.sharing.generalise`; what an explanation holds beyond them never leaves.
Places are numbers of the page (positions in `SharedPage.places`), never the dataset's.
"""

from typing import Final

from pydantic import Field

from analysis.explain.contrast import Contrast
from analysis.explain.effects import Effect
from analysis.explain.sentences import Sentence
from analysis.explain.types import Role
from analysis.explain.what_if import RankChange
from analysis.sharing.ground import Ground
from recap.config import Config

FORMAT: Final = 1


class SharedPlace(Config):
    """A place as told: itself, or a grid cell."""

    name: str
    category: str
    is_cell: bool = Field(description="Fewer than k people were there: name, category and point are those of a cell.")
    latitude: float | None = Field(description="Degrees; of a cell, a point in it that is none of its places.")
    longitude: float | None
    bounds: tuple[float, float, float, float] | None = Field(description="South, west, north, east of a cell.")


class SharedRank(Config):
    """One of the best places: no addends, since they would tell where else the walker had been."""

    place: int
    rank: float
    probability: float
    total: float


class SharedPath(Config):
    """One two-hop path; counts of trips and people, nobody's name."""

    place: int
    count_in: int
    count_out: int
    p_in: float
    p_out: float
    product: float
    share: float
    addend: float | None
    people: int
    frozen_rank: float | None
    recounted_in_rank: float | None
    recounted_out_rank: float | None
    rows: list[str] = Field(default_factory=list, description="The training rows, in an exact export alone.")

    @property
    def middle(self) -> int:
        """As figures call it."""
        return self.place


class SharedDot(Config):
    """A visit on the timeline."""

    weeks_ago: float = Field(description="Whole weeks; exact in an exact export.")
    freshness: float
    in_recent_window: bool
    label: str


class SharedVisits(Config):
    """The walker's visits to one of the two places compared."""

    place: int
    count: int
    recency_steps: int | None
    days_ago: float | None = Field(description="Whole days.")
    in_recent_window: bool
    last: str
    now: str
    gate: float | None
    correction: float
    dots: list[SharedDot]


class SharedLeftOut(Config):
    """What one piece of evidence means."""

    label: str
    outcome: Effect
    masked: Effect | None


class SharedWhatIf(Config):
    """What edits did to the two places compared."""

    target: RankChange
    rival: RankChange
    lead_before: float
    lead: float


class SharedCase(Config):
    """One case, fit to be shown as the page says."""

    number: int = Field(description="On this page, from 1.")
    case: int | None = Field(description="Number of the test case, in an exact export alone.")
    walker: str
    when: str
    headline: Sentence
    sentences: list[Sentence]
    note: str = ""
    source: int
    target: int
    rival: int
    truth: int | None = Field(description="None where the page hides it.")
    roles: tuple[Role, Role]
    target_rank: float
    num_places: int
    num_hops: int | None
    max_prior: float
    transition_count: int
    a2_source_target: float
    rank_without_two_hops: float | None
    inactive_terms: list[str]
    weighs_evidence_alone: bool
    edits: str
    contrast: Contrast = Field(description="A is the target, B the rival; without the edit that turns them round.")
    flip: str | None
    best: list[SharedRank]
    paths: list[SharedPath]
    visits: list[SharedVisits]
    left_out: list[SharedLeftOut]
    what_if: SharedWhatIf | None
    checks: list[dict[str, str]] = Field(description="The table of robustness checks, as Explain shows it.")
    link: str | None = Field(description="In an exact export alone.")
    fitting_walkers: int | None = Field(description="Of the dataset, who were where and when this case shows.")


class Change(Config):
    """One line of the report: what was generalised, and how."""

    what: str
    how: str


class Reidentification(Config):
    """How well the shown points hide a walker, counted on the dataset; see `analysis.sharing.reidentification`."""

    fitting_walkers: int = Field(description="The fewest, over the cases, who were where and when a case shows.")
    fitting_as_recorded: int = Field(description="The same with exact places and seconds.")
    walkers: int = Field(description="Of the dataset.")
    points: int = Field(description="Points drawn for the unicity: as many as the case with most shows.")
    unicity: float | None = Field(description="Share of walkers unique given so many; None where nobody has so many.")
    unicity_as_recorded: float | None = Field(description="The same with exact places and hours.")
    walkers_drawn: int

    @property
    def sentence(self) -> str:
        """The number that matters, in words."""
        if self.fitting_walkers == 1:
            return "One walker alone fits the places and times of a case."
        recorded = "one" if self.fitting_as_recorded == 1 else f"{self.fitting_as_recorded:,}"
        return f"At least {self.fitting_walkers:,} walkers fit each case; as recorded, each fits {recorded}."


class SharedPage(Config):
    """Everything that a shared file holds."""

    format: int = FORMAT
    is_exact: bool
    title: str
    note: str = Field(description="What kind of file this is, in one sentence.")
    min_users: int | None = Field(description="k; None where the page is exact.")
    cell_km: float | None
    hours: int | None
    changes: list[Change]
    estimate: Reidentification | None
    places: list[SharedPlace]
    cases: list[SharedCase]
    dataset_hash: str | None = None
    checkpoint_hash: str | None = None
    ground: Ground = Field(exclude=True, description="What lies under the maps; not part of the JSON.")

    def place(self, number: int) -> SharedPlace:
        """A place by its number on this page."""
        return self.places[number]
