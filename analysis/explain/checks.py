"""What was checked about one case: its rank without each source of evidence, and a stamp for each row."""

import pandas as pd
from pydantic import Field

from analysis.explain.check_tables import CheckTables
from analysis.explain.contrast import Contrast
from analysis.explain.edited_case import EditedCase
from analysis.explain.stamps import PathPeople, RowStamp, exact_share, path_people, stamp_rows
from analysis.explain.state_totals import Report
from analysis.records.removals import describe_removals
from analysis.records.score_rows import SOURCES
from recap import columns as c
from recap.config import Config
from recap.evaluation.ranks import rank_of


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
    edited_case: EditedCase,
    split_up: Contrast,
    *,
    tables: CheckTables | None = None,
    report: Report | None = None,
) -> CaseChecks:
    """Check one case; its numbers are those of the kept tables.

    Args:
        split_up: of the explained place and its rival.
        tables: of removals and sibling seeds, where they are kept.
        report: told how far the placebos are, which take longest.
    """
    known = tables or CheckTables()
    measured = removals_of_case(edited_case, known.removals)
    return CaseChecks(
        without=None if measured is None else _ranks_without(measured),
        stamps=stamp_rows(edited_case, edited_case.target, seeds=known.seeds, measured=measured, report=report),
        path_people=path_people(edited_case, edited_case.target),
        exact_share=exact_share(split_up.a, split_up.b),
    )


def removals_of_case(edited_case: EditedCase, table: pd.DataFrame | None = None) -> pd.Series | None:
    """What `analysis.records.removals` says of the case; None of an edited case and of another place than the truth.

    Args:
        table: of all test cases; read where its rank is the one computed here (another processor may round otherwise),
            else the case is taken apart anew.
    """
    if edited_case.edits or edited_case.target != edited_case.truth:
        return None
    number = edited_case.case.number
    if table is not None and edited_case.split == c.TEST:
        kept = table.iloc[number]
        if kept[c.RANK] == rank_of(edited_case.total_P, edited_case.target):
            return kept
    cases = edited_case.predictor.cases_of(edited_case.split).iloc[[number]]
    return describe_removals(edited_case.predictor, cases).iloc[0]


def _ranks_without(measured: pd.Series) -> dict[str, float | None]:
    ranks = {source: float(measured[f"without_{source}"]) for source in SOURCES}
    return {source: None if rank != rank else rank for source, rank in ranks.items()}


def choose_rival(edited_case: EditedCase) -> int:
    """The best place that is not the target."""
    best = edited_case.total_P.topk(min(2, len(edited_case.total_P))).indices.tolist()
    others = [poi for poi in best if poi != edited_case.target]
    return others[0] if others else best[0]
