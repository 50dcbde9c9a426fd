"""Make the explanation of one case or moment: contributions, ablations, paths, visits and sentences."""

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from analysis.explain.edited_case import EditedCase, build_edited_case, check_poi, without_visits
from analysis.explain.edits import Edit, write_edits
from analysis.explain.explanation import CaseExplanation
from analysis.explain.paths import cut, makers_of, most_cuts, paths_between
from analysis.explain.robustness import check_rows
from analysis.explain.sentences import headline, render_sentences
from analysis.explain.types import ExplainedPlace, PastVisits, PathTerms, Visit, Without
from analysis.explain.what_if import smallest_flip, what_if
from recap import columns as c
from recap.asking.counterfactuals import Counterfactual
from recap.asking.predictor import CaseRanker
from recap.errors import CaseError
from recap.evaluation.ranks import rank_of
from recap.history.moments import Moment
from recap.history.tensors import SECONDS_PER_DAY
from recap.machine.device import one_thread
from recap.probabilities import log_probabilities

_VISITS_REMOVED: Final = 12
"""Latest visits to each place that are removed, one at a time."""
_FEWEST_CHECKINS: Final = 2
"""One visit and the current check-in; the last visit before the source stays."""


def explain_case(
    ranker: CaseRanker,
    case: int | Moment,
    *,
    about: int | None = None,
    edits: tuple[Edit, ...] = (),
    split: int = c.TEST,
    hide_truth: bool = False,
    **options: Any,
) -> CaseExplanation:
    """Explain one case, or a user's moment.

    Args:
        case: its number in the split, or a moment, see `recap.history.moments.find_moment`.
        about: the place to explain; by default the true next place, or the best one if that is not known yet.
        hide_truth: nothing depends on the true place; explain the best place by default.
        options: of `explain_edited_case`.

    Raises:
        CaseError: no such case or POI, an edit that does not fit, or a model without terms.
    """
    edited_case = build_edited_case(ranker, case, edits, split).asked(about, hide_truth=hide_truth)
    return explain_edited_case(edited_case, **options)


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
    """Like `explain_case`, for an edited case.

    Args:
        top: number of best places to list.
        against: the runner-up; the first place by default, or the second where the target is first.
        counterfactuals: also rank without each group, path and visit.
        search: also look for the smallest edit that swaps target and runner-up.
        checks: also run robustness checks of each contribution.
        seeds: tables of ablations of seed replicates for these, see `analysis.records.kept_seeds`.
    """
    moment, target, source, total_P = edited_case.moment, edited_case.target, edited_case.source, edited_case.total_P
    runner_up = choose_runner_up(edited_case, against)
    best = total_P.topk(min(top, len(total_P))).indices.tolist()
    candidates = decompose_scores(edited_case, list(dict.fromkeys([*best, target, runner_up])))
    without, paths, visits = _leave_out(edited_case, runner_up, counterfactuals=counterfactuals)
    ranker, history = edited_case.ranker, edited_case.variant.history
    transition_count = edited_case.transition_count(source, target)
    flip, tried = smallest_flip(edited_case, target, runner_up) if search else (None, None)
    explanation = CaseExplanation(
        model=ranker.checkpoint.label,
        split=c.SPLIT_NAMES[moment.split] if moment.case is not None else None,
        case=moment.case,
        user=moment.user,
        row=moment.row,
        stops=str(moment.fields.get("stops", "")),
        at=str(moment.fields.get("at", "")),
        time_given=edited_case.time_given,
        share_near_time=edited_case.share_near_time,
        local_time=edited_case.local_time,
        source=source,
        source_name=ranker.dataset.poi_labels[source],
        target=target,
        target_name=ranker.dataset.poi_labels[target],
        target_rank=rank_of(total_P, target),
        truth=edited_case.truth,
        truth_name=edited_case.truth_name,
        runner_up=runner_up,
        num_places=len(total_P),
        transition_count=transition_count,
        is_known=bool((history.poi_H == target).any()),
        within_two_hops=transition_count > 0 or len(paths) > 0,
        edits=write_edits(edited_case.edits),
        supported_edits=sorted(edited_case.supported_edits),
        inactive=edited_case.inactive,
        core_scope=edited_case.predictor.model.config.core_scope,
        groups={
            group: [edited_case.scorer.terms[row].name for row in rows] for group, rows in edited_case.groups.items()
        },
        candidates=sorted(candidates, key=lambda entry: entry.rank),
        without=without,
        paths=paths,
        visits=visits,
        first_days_ago=float(history.seconds_H[-1] - history.seconds_H[0]) / SECONDS_PER_DAY,
        what_if=what_if(edited_case, runner_up) if edited_case.edits else None,
        flip=flip,
        tried=tried,
        checks=check_rows(edited_case, seeds) if checks else None,
        dataset_hash=ranker.dataset.stored_hash,
        checkpoint_hash=ranker.checkpoint.hash,
    )
    sentences = render_sentences(explanation, makers_of(edited_case, source, target))
    return explanation.model_copy(update={"headline": headline(explanation), "sentences": sentences})


def choose_runner_up(edited_case: EditedCase, against: int | None = None) -> int:
    """The place that the explained one is compared with, by default the best other one.

    CaseError: it is unknown, or the explained place itself.
    """
    total_P, target = edited_case.total_P, edited_case.target
    best = total_P.topk(min(2, len(total_P))).indices.tolist()
    chosen = next((poi for poi in best if poi != target), best[0]) if against is None else against
    check_poi(edited_case.ranker, chosen)
    if chosen == target and len(total_P) > 1:
        raise CaseError(f"two different places are needed to compare, got {target} twice")
    return chosen


def decompose_scores(edited_case: EditedCase, pois: list[int]) -> list[ExplainedPlace]:
    """Scores of chosen places as sums of contributions."""
    total_P, dataset = edited_case.total_P, edited_case.ranker.dataset
    temperature = edited_case.ranker.checkpoint.temperature
    assert temperature is not None, "a RECAP has probabilities"
    probability_P = log_probabilities(total_P[None], temperature)[0].exp()
    names = [term.name for term in edited_case.scorer.terms]
    return [
        ExplainedPlace(
            poi=poi,
            name=dataset.poi_labels[poi],
            category=str(dataset.pois[c.CATEGORY].iloc[poi]),
            rank=rank_of(total_P, poi),
            probability=float(probability_P[poi]),
            score=float(total_P[poi]),
            groups={group: sum(row_T[row] for row in rows) for group, rows in edited_case.groups.items()},
            terms=dict(zip(names, row_T, strict=True)),
            gate=edited_case.gates.get(poi),
        )
        for poi, row_T in zip(pois, edited_case.contributions(pois).tolist(), strict=True)
    ]


def _leave_out(
    edited_case: EditedCase, runner_up: int, *, counterfactuals: bool
) -> tuple[list[Without], list[PathTerms], list[PastVisits]]:
    """Ablations of parts, paths to the target, and visits to both places; without ranks if nothing is left out."""
    target = edited_case.target
    paths = paths_between(edited_case, target)
    visits = [edited_case.past_visits(poi) for poi in (target, runner_up)]
    variants: dict[tuple[str, object], Counterfactual] = {}
    if counterfactuals:
        variants |= {("part", name): edited_case.without(name) for name in edited_case.leavable}
        some = paths[: most_cuts(edited_case)]
        variants |= {("path", path.middle): cut(edited_case, path.middle, target) for path in some}
        if "visits" in edited_case.supported_edits and len(edited_case.variant.history) > _FEWEST_CHECKINS:
            latest = [visit.visit for place in visits for visit in place.visits[-_VISITS_REMOVED:]]
            copies = without_visits(edited_case, latest)
            variants |= {("visit", visit): copy for visit, copy in zip(latest, copies, strict=True)}
    left_out = dict(zip(variants, edited_case.place_ranks(list(variants.values())), strict=True))
    rank = {key: place for key, (place, _) in left_out.items()}
    score = float(edited_case.total_P[target])

    def ranked(visit: Visit) -> Visit:
        if ("visit", visit.visit) not in left_out:
            return visit
        without, left = left_out["visit", visit.visit]
        return visit.model_copy(update={"rank_without": without, "points": score - left})

    return (
        [Without(name=str(name), rank=rank[kind, name]) for kind, name in rank if kind == "part"],
        [path.model_copy(update={"rank_without": rank.get(("path", path.middle))}) for path in paths],
        [place.model_copy(update={"visits": [ranked(visit) for visit in place.visits]}) for place in visits],
    )
