"""The explanation of one case or moment: one typed object for page, command line, HTML and notebook."""

from collections.abc import Callable
from typing import ClassVar

from pydantic import Field

from analysis.explain.robustness import RowCheck
from analysis.explain.types import (
    NOT_KNOWN_YET,
    ExplainedPlace,
    PastVisits,
    PathTerms,
    Role,
    Sentence,
    Without,
    roles_of,
)
from analysis.explain.what_if import Flip, WhatIf
from recap import columns as c
from recap.config import Config
from recap.history.asked_times import link_time
from recap.history.moments import Moment


class CaseExplanation(Config):
    """Why a case, or a user's next place at a moment, was predicted as it was.

    Contributions sum to scores. Every rank is among all places.
    """

    model: str
    split: str | None = Field(description="Of the case; None for a moment that is no test case.")
    case: int | None
    user: int
    row: int = Field(description="Of the current check-in.")
    stops: str = Field("", description="Changed stops, see `recap.history.moments`; then user and row may be -1.")
    local_time: str = Field(description="Of the current check-in, ISO 8601 without offset.")
    source: int
    source_name: str
    at: str = Field("", description="Local time asked for, where it is not that of the next check-in.")
    time_given: str = Field("", description="Local time that the model was given, edits included; empty without one.")
    share_near_time: float = Field(0.0, description="Share of the user's check-ins within an hour of that time of day.")
    target: int = Field(description="The place explained: the truth, or the best place where the truth is hidden.")
    target_name: str
    target_rank: float
    truth: int | None = Field(description="The true next place; None where it is hidden or not known yet.")
    truth_name: str = Field(description="Empty where it is hidden; “not known yet” after the user's last check-in.")
    runner_up: int = Field(description="The place the target is compared with: the best other one.")
    num_places: int
    transition_count: int = Field(description="Training transitions from the source to the target.")
    is_known: bool = Field(description="Whether the user has been to the target, or is there now.")
    within_two_hops: bool
    edits: str = Field(description="Text form of the edits that were applied; empty for the case as it was.")
    supported_edits: list[str] = Field(description="Kinds of edits that can change the scores.")
    inactive: list[str] = Field(description="Parts of the model that play no role at this checkpoint's epoch.")
    core_scope: str = Field(description="Which places the core scores: everywhere, unvisited or nowhere.")
    groups: dict[str, list[str]] = Field(description="Names of the terms of each group, in order.")
    candidates: list[ExplainedPlace] = Field(description="The best places, the target and the runner-up, by rank.")
    without: list[Without] = Field(description="Each group of terms, and the graph token, left out for all places.")
    paths: list[PathTerms] = Field(description="Two-hop paths to the target.")
    visits: list[PastVisits] = Field(description="To the target and to the runner-up.")
    first_days_ago: float = Field(description="The user's first check-in: where a timeline starts.")
    headline: Sentence = Sentence(about="rank", pieces=[])
    sentences: list[Sentence] = Field(default_factory=list)
    what_if: WhatIf | None = Field(None, description="Before and after; None without edits.")
    flip: Flip | None = Field(None, description="The smallest single edit that swaps target and runner-up.")
    tried: int | None = Field(None, description="How many single edits were tried; None if the search was not run.")
    checks: list[RowCheck] | None = Field(None, description="Robustness checks of each contribution.")
    dataset_hash: str
    checkpoint_hash: str

    html_body: ClassVar[Callable[["CaseExplanation"], str] | None] = None
    """Renders a notebook's output; `analysis.sharing.page` sets it."""

    @property
    def moment(self) -> Moment:
        if self.case is not None and self.split is not None:
            return Moment(self.user, self.row, case=self.case, split=c.SPLIT_NAMES.index(self.split))
        return Moment(self.user, self.row, at=link_time(self.at)).with_stops(self.stops, self.num_places)

    @property
    def has_truth(self) -> bool:
        """Whether the dataset has the true next place, hidden or not."""
        return self.truth_name != NOT_KNOWN_YET

    @property
    def a(self) -> ExplainedPlace:
        return next(entry for entry in self.candidates if entry.poi == self.target)

    @property
    def b(self) -> ExplainedPlace:
        return next(entry for entry in self.candidates if entry.poi == self.runner_up)

    @property
    def lead(self) -> float:
        """Score of the target minus score of the runner-up."""
        return self.a.score - self.b.score

    @property
    def roles(self) -> tuple[Role, Role]:
        return roles_of(self.target, self.runner_up, self.truth)

    def _repr_html_(self) -> str | None:
        render = type(self).html_body
        return None if render is None else render(self)
