"""What was checked about one case: its rank without each source of evidence, and a stamp for each row."""

from collections.abc import Mapping

import pandas as pd
from pydantic import Field

from analysis.explain.contrast import Contrast
from analysis.explain.edited_case import EditedCase
from analysis.explain.stamps import PathPeople, RowStamp, exact_share, path_people, stamp_rows
from analysis.records.removals import describe_removals
from analysis.records.score_rows import SOURCES
from recap.config import Config


class CaseChecks(Config):
    """Checks of the place that is explained."""

    without: dict[str, float | None] | None = Field(
        description="The truth's rank without each source, for all places; None for a source that the model does not "
        "have. None as a whole where the case is edited or another place is explained."
    )
    stamps: list[RowStamp]
    path_people: list[PathPeople] = Field(description="In the order of the paths.")
    exact_share: float = Field(description="Share of exact addends in the margin to the rival, signs aside.")


def check_case(
    edited_case: EditedCase, split_up: Contrast, *, seeds: Mapping[int, pd.DataFrame] | None = None
) -> CaseChecks:
    """Check one case; its numbers are those of the kept tables.

    Args:
        split_up: of the explained place and its rival.
        seeds: removal tables of sibling seeds (`analysis.explain.siblings.seed_tables`).
    """
    return CaseChecks(
        without=ranks_without(edited_case),
        stamps=stamp_rows(edited_case, edited_case.target, seeds=seeds),
        path_people=path_people(edited_case, edited_case.target),
        exact_share=exact_share(split_up.a, split_up.b),
    )


def ranks_without(edited_case: EditedCase) -> dict[str, float | None] | None:
    """The truth's rank without each source, as `analysis.records.causes` keeps it; None of an edited case."""
    if edited_case.edits or edited_case.target != edited_case.truth:
        return None
    number = edited_case.case.number
    row = describe_removals(edited_case.predictor, edited_case.predictor.cases_of(edited_case.split).iloc[[number]])
    ranks = {source: float(row[f"without_{source}"].iloc[0]) for source in SOURCES}
    return {source: None if rank != rank else rank for source, rank in ranks.items()}


def choose_rival(edited_case: EditedCase) -> int:
    """The best place that is not the target."""
    best = edited_case.total_P.topk(min(2, len(edited_case.total_P))).indices.tolist()
    others = [poi for poi in best if poi != edited_case.target]
    return others[0] if others else best[0]
