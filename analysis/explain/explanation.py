"""The explanation of one case or moment: one typed object for page, command line, HTML and notebook."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

import pandas as pd
from pydantic import Field

from analysis.explain.edited_case import EditedCase, build_edited_case, without_visits
from analysis.explain.edits import Edit, write_edits
from analysis.explain.past_visits import local_iso, past_visits
from analysis.explain.paths import cut, makers_of, most_cuts, two_hop_paths
from analysis.explain.robustness import RowCheck, check_rows
from analysis.explain.sentences import Sentence, SentenceInput, headline, render_sentences
from analysis.explain.types import NOT_KNOWN_YET, Candidate, PastVisits, PathTerms, Role, Visit, Without
from analysis.explain.what_if import Flip, WhatIf, smallest_flip, what_if
from recap import columns as c
from recap.config import Config
from recap.counterfactuals import Counterfactual
from recap.device import one_thread
from recap.errors import CaseError
from recap.evaluation.ranks import rank_of
from recap.itinerary import Itinerary
from recap.moments import Case, Moment
from recap.predictor import CaseRanker
from recap.probabilities import log_probabilities

_VISITS_REMOVED: Final = 12
"""Latest visits to each place that are removed, one at a time."""
_FEWEST_CHECKINS: Final = 2
"""One visit and the current check-in; the last visit before the source stays."""


class CaseExplanation(Config):
    """Why a case, or a user's next place at a moment, was predicted as it was.

    Contributions sum to scores. Every rank is among all places.
    """

    model: str
    split: str | None = Field(description="Of the case; None for a moment that is no test case.")
    case: int | None
    user: int
    row: int = Field(description="Of the current check-in.")
    stops: str = Field("", description="Changed stops, see `recap.itinerary`; then user and row may be -1.")
    local_time: str = Field(description="Of the current check-in, ISO 8601 without offset.")
    source: int
    source_name: str
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
    candidates: list[Candidate] = Field(description="The best places, the target and the runner-up, by rank.")
    without: list[Without] = Field(description="Each group of terms, and the graph token, left out for all places.")
    paths: list[PathTerms] = Field(description="Two-hop paths to the target.")
    visits: list[PastVisits] = Field(description="To the target and to the runner-up.")
    first_days_ago: float = Field(description="The user's first check-in: where a timeline starts.")
    headline: Sentence
    sentences: list[Sentence]
    what_if: WhatIf | None = Field(None, description="Before and after; None without edits.")
    flip: Flip | None = Field(None, description="The smallest single edit that turns target and runner-up round.")
    tried: int | None = Field(None, description="How many single edits were tried; None if the search was not run.")
    checks: list[RowCheck] | None = Field(None, description="Robustness checks of each contribution.")
    dataset_hash: str
    checkpoint_hash: str

    html_body: ClassVar[Callable[["CaseExplanation"], str] | None] = None
    """Renders a notebook's output; `analysis.sharing.page` sets it."""

    @property
    def moment(self) -> Moment:
        if self.stops:
            return Itinerary(self.user, self.row).with_stops(self.stops, self.num_places)
        if self.case is None or self.split is None:
            return Moment(self.user, self.row)
        return Case(self.user, self.row, self.case, c.SPLIT_NAMES.index(self.split))

    @property
    def has_truth(self) -> bool:
        """Whether the dataset has the true next place, hidden or not."""
        return self.truth_name != NOT_KNOWN_YET

    @property
    def a(self) -> Candidate:
        return next(entry for entry in self.candidates if entry.poi == self.target)

    @property
    def b(self) -> Candidate:
        return next(entry for entry in self.candidates if entry.poi == self.runner_up)

    @property
    def lead(self) -> float:
        """Score of the target minus score of the runner-up."""
        return self.a.score - self.b.score

    @property
    def roles(self) -> tuple[Role, Role]:
        first: Role = "truth" if self.target == self.truth else "model"
        if self.runner_up == self.truth:
            return first, "truth"
        return first, "model" if first == "truth" else "other"

    def _repr_html_(self) -> str | None:
        render = type(self).html_body
        return None if render is None else render(self)


def explain_case(
    ranker: CaseRanker,
    case: int | Moment,
    *,
    top: int = 10,
    about: int | None = None,
    against: int | None = None,
    edits: tuple[Edit, ...] = (),
    split: int = c.TEST,
    counterfactuals: bool = True,
    search: bool = False,
    checks: bool = False,
    seeds: Mapping[int, pd.DataFrame] | None = None,
    hide_truth: bool = False,
) -> CaseExplanation:
    """Explain one case, or a user's moment.

    Args:
        case: its number in the split, or a moment, see `recap.moments.find_moment`.
        top: number of best places to list.
        about: the place to explain; by default the true next place, or the best one if that is not known yet.
        against: the runner-up; the first place by default, or the second where the target is first.
        counterfactuals: also rank without each group, path and visit.
        search: also look for the smallest edit that swaps target and runner-up.
        seeds: tables of ablations of seed replicates, see `analysis.records.kept_seeds`.
        hide_truth: nothing depends on the true place; explain the best place by default.

    Raises:
        CaseError: no such case or POI, an edit that does not fit, or a model without terms.
    """
    edited_case = build_edited_case(ranker, case, edits, split).asked(about, hide_truth=hide_truth)
    return explain_edited_case(
        edited_case,
        top=top,
        against=against,
        counterfactuals=counterfactuals,
        search=search,
        checks=checks,
        seeds=seeds,
    )


@one_thread()
def explain_edited_case(
    edited_case: EditedCase,
    *,
    top: int = 10,
    against: int | None = None,
    counterfactuals: bool = True,
    search: bool = False,
    checks: bool = False,
    seeds: Mapping[int, pd.DataFrame] | None = None,
) -> CaseExplanation:
    """Like `explain_case`, for an edited case."""
    moment, target, source, total_P = edited_case.moment, edited_case.target, edited_case.source, edited_case.total_P
    runner_up = choose_runner_up(edited_case) if against is None else against
    edited_case.check_poi(runner_up)
    if runner_up == target and len(total_P) > 1:
        raise CaseError(f"two different places are needed to compare, got {target} twice")
    best = total_P.topk(min(top, len(total_P))).indices.tolist()
    candidates = decompose_scores(edited_case, list(dict.fromkeys([*best, target, runner_up])))
    by_poi = {entry.poi: entry for entry in candidates}
    asked = _Asked.of(edited_case, runner_up, counterfactuals=counterfactuals)
    labels, history = edited_case.ranker.dataset.poi_labels, edited_case.variant.history
    transition_count = edited_case.transition_count(source, target)
    change = what_if(edited_case, runner_up) if edited_case.edits else None
    said = SentenceInput(
        model=edited_case.ranker.checkpoint.label,
        target=by_poi[target],
        runner_up=by_poi[runner_up],
        truth_name=edited_case.truth_name,
        is_truth=target == edited_case.truth,
        stays=source == target,
        source_name=labels[source],
        num_places=len(total_P),
        makers=makers_of(edited_case, source, target),
        visits=asked.visits[0],
        without=asked.without,
        has_paths=bool(asked.paths),
        edits=len(edited_case.edits),
        rank_before=None if change is None else change.target.rank_before,
    )
    flip, tried = smallest_flip(edited_case, target, runner_up) if search else (None, None)
    return CaseExplanation(
        model=said.model,
        split=c.SPLIT_NAMES[moment.split] if isinstance(moment, Case) else None,
        case=moment.number if isinstance(moment, Case) else None,
        user=moment.user,
        row=moment.row,
        stops=str(moment.fields.get("stops", "")),
        local_time=local_iso(int(history.local_seconds_H[-1])),
        source=source,
        source_name=labels[source],
        target=target,
        target_name=labels[target],
        target_rank=by_poi[target].rank,
        truth=edited_case.truth,
        truth_name=said.truth_name,
        runner_up=runner_up,
        num_places=len(total_P),
        transition_count=transition_count,
        is_known=bool((history.poi_H == target).any()),
        within_two_hops=transition_count > 0 or len(asked.paths) > 0,
        edits=write_edits(edited_case.edits),
        supported_edits=sorted(edited_case.supported_edits),
        inactive=edited_case.inactive,
        core_scope=edited_case.predictor.model.config.core_scope,
        groups={
            group: [edited_case.scorer.terms[at].name for at in rows] for group, rows in edited_case.groups.items()
        },
        candidates=sorted(candidates, key=lambda entry: entry.rank),
        without=asked.without,
        paths=asked.paths,
        visits=asked.visits,
        first_days_ago=float(history.seconds_H[-1] - history.seconds_H[0]) / 86_400,
        headline=headline(said),
        sentences=render_sentences(said),
        what_if=change,
        flip=flip,
        tried=tried,
        checks=check_rows(edited_case, seeds) if checks else None,
        dataset_hash=edited_case.ranker.dataset.hash,
        checkpoint_hash=edited_case.ranker.checkpoint.hash,
    )


def choose_runner_up(edited_case: EditedCase) -> int:
    best = edited_case.total_P.topk(min(2, len(edited_case.total_P))).indices.tolist()
    others = [poi for poi in best if poi != edited_case.target]
    return others[0] if others else best[0]


def decompose_scores(edited_case: EditedCase, pois: list[int]) -> list[Candidate]:
    """Scores of chosen places as sums of contributions."""
    total_P, dataset = edited_case.total_P, edited_case.ranker.dataset
    temperature = edited_case.ranker.checkpoint.temperature
    assert temperature is not None, "a RECAP has probabilities"
    probability_P = log_probabilities(total_P[None], temperature)[0].exp()
    names = [term.name for term in edited_case.scorer.terms]
    entries = []
    for poi, row_T in zip(pois, edited_case.contributions(pois).tolist(), strict=True):
        entries.append(
            Candidate(
                poi=poi,
                name=dataset.poi_labels[poi],
                category=str(dataset.pois[c.CATEGORY].iloc[poi]),
                rank=rank_of(total_P, poi),
                probability=float(probability_P[poi]),
                score=float(total_P[poi]),
                groups={group: sum(row_T[at] for at in rows) for group, rows in edited_case.groups.items()},
                terms=dict(zip(names, row_T, strict=True)),
                gate=edited_case.gates.get(poi),
            )
        )
    return entries


@dataclass(frozen=True)
class _Asked:
    without: list[Without]
    paths: list[PathTerms]
    visits: list[PastVisits]

    @classmethod
    def of(cls, edited_case: EditedCase, runner_up: int, *, counterfactuals: bool) -> "_Asked":
        """Ranks are None without counterfactuals."""
        target, kinds = edited_case.target, edited_case.supported_edits
        paths = two_hop_paths(edited_case, target)
        visits = [past_visits(edited_case, poi) for poi in (target, runner_up)]
        variants: dict[tuple[str, object], Counterfactual] = {}
        if counterfactuals:
            variants |= {("part", name): edited_case.without(name) for name in edited_case.leavable}
            some = paths[: most_cuts(edited_case)]
            variants |= {("path", path.middle): cut(edited_case, path.middle, target) for path in some}
            if "visits" in kinds and len(edited_case.variant.history) > _FEWEST_CHECKINS:
                latest = [visit.visit for place in visits for visit in place.visits[-_VISITS_REMOVED:]]
                copies = without_visits(edited_case, latest)
                variants |= {("visit", visit): copy for visit, copy in zip(latest, copies, strict=True)}
        found = dict(zip(variants, edited_case.place_ranks(list(variants.values())), strict=True))
        rank = {key: place for key, (place, _) in found.items()}
        score = float(edited_case.total_P[target])

        def ranked(visit: Visit) -> Visit:
            if ("visit", visit.visit) not in found:
                return visit
            without, left = found["visit", visit.visit]
            return visit.model_copy(update={"rank_without": without, "points": score - left})

        return cls(
            without=[Without(name=str(name), rank=rank[kind, name]) for kind, name in rank if kind == "part"],
            paths=[path.model_copy(update={"rank_without": rank.get(("path", path.middle))}) for path in paths],
            visits=[place.model_copy(update={"visits": [ranked(visit) for visit in place.visits]}) for place in visits],
        )
