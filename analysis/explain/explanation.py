"""The whole explanation of one case, as one typed object behind every rendering."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import Field

from analysis.explain.check_tables import CheckTables
from analysis.explain.contrast import Contrast, choose_rival, contrast
from analysis.explain.edited_case import EditedCase, build_edited_case
from analysis.explain.edits import Edit, write_edits
from analysis.explain.effects import Effect, effects, rank_without_two_hops, two_hops_off
from analysis.explain.leave_one_out import LeftOut, Removals
from analysis.explain.paths import PathCuts, PathEvidence, path_evidence, training_rows
from analysis.explain.revisits import RevisitEvidence, revisit_evidence
from analysis.explain.robustness import RowCheck, check_rows
from analysis.explain.score_parts import explain_edited_case
from analysis.explain.sentences import Sentence, SentenceInput, render_sentences
from analysis.explain.trips import Trips, count_trips
from analysis.explain.types import CaseExplanation, Role
from analysis.explain.what_if import WhatIf, what_if
from recap import columns as c
from recap.device import one_thread
from recap.predictor import Predictor


class FullExplanation(CaseExplanation):
    """`CaseExplanation` with everything that can be asked of a case; parts that were not asked for are None."""

    split: str
    truth: int | None = Field(
        description="The true next place, None where it is hidden; `target` is the place that is explained, the truth "
        "if not asked, the best place where it is hidden."
    )
    truth_name: str
    num_places: int
    num_hops: int | None = Field(description="N of the graph token; None without a graph branch.")
    max_prior: float = Field(description="b_max, where the clip binds.")
    inactive_terms: list[str] = Field(description="`inactive`, and terms of an active prior that are switched off.")
    weighs_evidence_alone: bool = Field(
        False, description="Whether the network says how much each clue counts, and scores no place by itself."
    )
    edits: str = Field(description="Text form of the edits that were applied; empty for the case as it was.")
    rival: int = Field(description="Whom the target is held against; together any two places.")
    revisits: list[RevisitEvidence] = Field(description="Of the target and of the rival.")
    path_evidence: list[PathEvidence] = Field(description="`paths` with training rows and cuts.")
    contrast: Contrast = Field(description="A is the target, B the rival.")
    trips: Trips = Field(description="Whose training transitions lead straight from the source to the target.")
    rank_without_two_hops: float | None = Field(
        description="Token and two-hop addends taken away for all places; None where the model has neither."
    )
    sentences: list[Sentence]
    leave_one_out: list[LeftOut] | None = None
    what_if: WhatIf | None = Field(None, description="Before beside after; None without edits.")
    checks: list[RowCheck] | None = Field(None, description="Robustness checks of each contribution.")

    @property
    def roles(self) -> tuple[Role, Role]:
        """What A and B are, for their colours: the truth, a prediction, or one more prediction beside it."""
        first: Role = "truth" if self.target == self.truth else "model"
        if self.rival == self.truth:
            return first, "truth"
        return first, "model" if first == "truth" else "other"

    html_body: ClassVar[Callable[["FullExplanation"], str] | None] = None
    """How a notebook shows an explanation; `analysis.sharing.page` sets it, since an explanation knows no renderer."""

    def _repr_html_(self) -> str | None:
        render = type(self).html_body
        return None if render is None else render(self)


@one_thread()
def explain_fully(
    predictor: Predictor,
    number: int,
    *,
    top: int = 10,
    about: int | None = None,
    against: int | None = None,
    edits: tuple[Edit, ...] = (),
    split: int = c.TEST,
    counterfactuals: bool = True,
    search: bool = False,
    checks: bool = False,
    tables: CheckTables | None = None,
    hide_truth: bool = False,
) -> FullExplanation:
    """Explain one case in full.

    Args:
        top: how many of the best candidates to list.
        about: the place to explain; the true next place by default.
        against: the rival; the first place by default, or the second where the target is first.
        edits: what-if edits, applied in order.
        counterfactuals: also leave every evidence item out and cut every path.
        search: also look for the smallest edit that reverses target and rival.
        checks: also run the robustness checks.
        tables: what the checks read, see `CheckTables.kept`.
        hide_truth: nothing depends on which place is the true one; the best place is explained by default.

    Raises:
        CaseError: no such case or POI, or an edit that does not fit.
    """
    edited_case = build_edited_case(predictor, number, edits, split)
    if about is not None:
        edited_case = edited_case.explaining(about)
    if hide_truth:
        edited_case = edited_case.hiding_truth()
    return explain_edited_case_fully(
        edited_case,
        top=top,
        against=against,
        counterfactuals=counterfactuals,
        search=search,
        checks=checks,
        tables=tables,
    )


@one_thread()
def explain_edited_case_fully(
    edited_case: EditedCase,
    *,
    top: int = 10,
    against: int | None = None,
    counterfactuals: bool = True,
    search: bool = False,
    checks: bool = False,
    tables: CheckTables | None = None,
) -> FullExplanation:
    """What `explain_fully` returns, of an edited case at hand."""
    target = edited_case.target
    rival = choose_rival(edited_case) if against is None else against
    split_up = contrast(edited_case, target, rival, search=search)
    base = explain_edited_case(edited_case, top=top, extra=(rival,))
    asked = _Counterfactuals.of(edited_case, target) if counterfactuals else _Counterfactuals()
    revisits = [
        revisit_evidence(edited_case, entry.poi, entry.gate, entry.correction) for entry in (split_up.a, split_up.b)
    ]
    graph_token = edited_case.predictor.model.graph_token
    told = _sentence_input(edited_case, base, split_up, revisits[0], asked.without_two_hops)
    return FullExplanation(
        **{name: getattr(base, name) for name in CaseExplanation.model_fields},
        split=c.SPLIT_NAMES[edited_case.split],
        truth=edited_case.truth,
        truth_name="" if edited_case.truth is None else edited_case.predictor.dataset.poi_labels[edited_case.truth],
        num_places=len(edited_case.total_P),
        num_hops=None if graph_token is None else graph_token.num_hops,
        max_prior=edited_case.config.prior.max_prior,
        inactive_terms=edited_case.inactive,
        weighs_evidence_alone=edited_case.config.weighs_evidence_alone,
        edits=write_edits(edited_case.edits),
        rival=rival,
        revisits=revisits,
        path_evidence=path_evidence(edited_case, target, asked.cut),
        contrast=split_up,
        trips=told.trips,
        rank_without_two_hops=told.rank_without_two_hops,
        sentences=render_sentences(told),
        leave_one_out=asked.left_out,
        what_if=what_if(edited_case, rival, top=top) if edited_case.edits else None,
        checks=check_rows(edited_case, tables=tables) if checks else None,
    )


@dataclass(frozen=True, eq=False)
class _Counterfactuals:
    """What a full explanation asks of one place besides its score.

    Attributes:
        left_out: every item left out; None where not asked.
        cut: every path cut, see `PathCuts.told`.
        without_two_hops: without the token, where that takes all two-hop evidence away; None where it does not.
    """

    left_out: list[LeftOut] | None = None
    cut: dict[int, dict[str, Effect]] = field(default_factory=dict)
    without_two_hops: Effect | None = None

    @classmethod
    def of(cls, edited_case: EditedCase, target: int) -> "_Counterfactuals":
        """All of them scored together, since all places' weights are read once for all."""
        removals, cuts, off = (
            Removals.of(edited_case, target),
            PathCuts.of(edited_case, target),
            two_hops_off(edited_case),
        )
        variants = [*removals.variants, *cuts.variants, *([] if off is None else [off])]
        results = effects(edited_case, variants, target)
        first, last = len(removals.variants), len(removals.variants) + len(cuts.variants)
        without = None if off is None else results[-1]
        return cls(removals.told(results[:first]), cuts.told(results[first:last]), without)


def _sentence_input(
    edited_case: EditedCase,
    explanation: CaseExplanation,
    split_up: Contrast,
    revisit: RevisitEvidence,
    without_two_hops: Effect | None,
) -> SentenceInput:
    rows, user = training_rows(edited_case.predictor), explanation.user
    source, target = explanation.source, explanation.target
    return SentenceInput(
        explanation=explanation,
        rival=split_up.b,
        target=split_up.a,
        revisit=revisit,
        inactive=edited_case.inactive,
        trips=count_trips(rows.users(source, target), user),
        edges_edited=bool(edited_case.variant.edges),
        rank_without_two_hops=(
            rank_without_two_hops(edited_case, target) if without_two_hops is None else without_two_hops.rank
        ),
    )
