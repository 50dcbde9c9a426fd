"""Robustness checks: is a contribution to one place stable?

- Other seeds: does the rank move the same way without it in models trained with another seed?
- Permutation test: does it give this place more here than in other cases?
- Whose trips: does it rest on the training trips of one other user?
"""

from typing import Final

import numpy as np
import pandas as pd
import torch
from pydantic import Field

from analysis.explain.check_tables import CheckTables
from analysis.explain.edited_case import EditedCase
from analysis.explain.net_rows import net_rows
from analysis.explain.paths import training_rows, two_hop_paths
from analysis.explain.score_parts import decompose_scores
from analysis.explain.trips import Trips, count_trips
from analysis.formatting import ordinal, signed_points, times
from analysis.records.removals import describe_removals
from analysis.records.score_rows import ROW_LABELS, ROW_WORDS, ROWS, row_of_term
from recap import columns as c
from recap.config import Config
from recap.device import one_thread
from recap.evaluation.ranks import rank_of
from recap.predictor import Predictor, variants_per_pass

NUM_DRAWN: Final = 200
"""Other test cases of the permutation test."""
LEVEL: Final = 0.05
"""A contribution passes the permutation test where p is at most this."""
EXPLAINED: Final = {
    "Without it": "The rank without this contribution, for all places.",
    "Other seeds": "In how many models trained with another seed the rank moves the same way without it.",
    "Permutation test": f"p: how often {NUM_DRAWN} random other cases give this place at least as much.",
    "Whose trips": "The users whose training trips it rests on; one other user alone is a weak basis.",
}
"""The columns of the table, one sentence each."""


class SeedRank(Config):
    """The true place's rank in a model of one seed."""

    seed: int
    rank: float
    without: float = Field(description="Without the contribution, for all places.")

    @property
    def direction(self) -> int:
        """1 where the rank gets worse without it, -1 where it gets better."""
        return int(np.sign(self.without - self.rank))


class PermutationTest(Config):
    """A contribution next to what the same place gets in random other cases."""

    reached: int = Field(description="Other cases with at least as much, on the same side of 0.")
    drawn: int
    p_value: float = Field(description="(reached + 1) / (drawn + 1).")


class RowCheck(Config):
    """What was checked of one contribution."""

    row: str
    label: str
    points: float | None = Field(description="None for the graph token, which acts inside the core.")
    seeds: list[SeedRank] = Field(description="This model first; empty for an edited case or another place.")
    permutation: PermutationTest | None
    trips: Trips | None = Field(description="None for a contribution that rests on no training trips.")

    @property
    def seeds_agreeing(self) -> int:
        """Seeds whose rank moves the same way, this model's included."""
        return sum(entry.direction == self.seeds[0].direction for entry in self.seeds)

    @property
    def problems(self) -> list[str]:
        """The checks that failed, in words."""
        found = []
        if self.seeds_agreeing < len(self.seeds):
            found.append("seeds disagree")
        if self.permutation is not None and self.permutation.p_value > LEVEL:
            found.append("no more than in other cases")
        if self.trips is not None and self.trips.people == 1 and not self.trips.own:
            found.append("one user's trips")
        return found

    @property
    def cells(self) -> dict[str, str]:
        """The line of the table that every rendering shows."""
        rank, trips, seeds = "–", "–", "–"
        if self.seeds:
            own = self.seeds[0]
            rank = "same" if not own.direction else f"{ordinal(own.rank)} → {ordinal(own.without)}"
        if len(self.seeds) > 1:
            seeds = f"same in {self.seeds_agreeing} of {len(self.seeds)}"
        if self.trips is not None:
            others = "1 other user" if self.trips.people == 1 else f"{self.trips.people:,} other users"
            trips = f"{others}, {times(self.trips.others)}" if self.trips.others else "this user only"
        return {
            "Contribution": self.label,
            "Points": "–" if self.points is None else signed_points(self.points),
            "Without it": rank,
            "Other seeds": seeds,
            "Permutation test": "–" if self.permutation is None else f"p = {self.permutation.p_value:.3f}",
            "Whose trips": trips,
            "Is it stable?": "; ".join(self.problems) or ("yes" if len(self.seeds) > 1 else "yes, seeds not compared"),
        }


def check_rows(edited_case: EditedCase, *, tables: CheckTables | None = None) -> list[RowCheck]:
    """Check every contribution to the place that is explained, and the graph token.

    Args:
        tables: kept tables of ablations, with those of seed replicates.
    """
    known, target = tables or CheckTables(), edited_case.target
    (entry,) = decompose_scores(edited_case, [target])
    points = {row: value for row, value in net_rows(entry).items() if value != 0.0}
    views = _seed_views(edited_case, known)
    elsewhere = contributions_elsewhere(edited_case, target)
    trips = row_trips(edited_case, target)
    token = ["graph_token"] if edited_case.is_active("graph_token") else []
    return [
        RowCheck(
            row=row,
            label=ROW_LABELS[row],
            points=points.get(row),
            seeds=_seed_ranks(row, views),
            permutation=_permutation_test(points[row], elsewhere[row]) if row in points else None,
            trips=trips.get(row),
        )
        for row in [*(row for row in ROWS if row in points), *token]
    ]


def describe_checks(checks: list[RowCheck]) -> str:
    """The finding in one sentence."""
    stable = [check.label.lower() for check in checks if not check.problems]
    if not stable:
        return "No contribution passes every check."
    seeds = max((len(check.seeds) for check in checks), default=0)
    if seeds < 2:
        return f"Passing the permutation test and the check of trips: {', '.join(stable)}. Seeds are not compared."
    return f"Stable in {seeds} seeds: {', '.join(stable)}."


def removals_of_case(edited_case: EditedCase, table: pd.DataFrame | None = None) -> pd.Series | None:
    """What `analysis.records.removals` says of the case; None of an edited case and of another place than the truth.

    Args:
        table: of all test cases; computed again where its rank is another one (processors may round differently).
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


def _seed_views(edited_case: EditedCase, tables: CheckTables) -> list[tuple[int, pd.Series]]:
    own = removals_of_case(edited_case, tables.removals)
    if own is None:
        return []
    number, seed = edited_case.case.number, edited_case.predictor.checkpoint.manifest.train.seed
    others = tables.seeds if edited_case.split == c.TEST else {}
    return [(seed, own), *((seed, table.iloc[number]) for seed, table in others.items())]


def _seed_ranks(row: str, views: list[tuple[int, pd.Series]]) -> list[SeedRank]:
    source = f"without_{ROW_WORDS[row].source}"
    ranks = [(seed, float(view[c.RANK]), float(view[source])) for seed, view in views]
    return [SeedRank(seed=seed, rank=rank, without=without) for seed, rank, without in ranks if without == without]


def _permutation_test(points: float, elsewhere_N: np.ndarray) -> PermutationTest:
    side = np.sign(points)
    reached = int((side * elsewhere_N >= side * points - 1e-12).sum())
    return PermutationTest(reached=reached, drawn=len(elsewhere_N), p_value=(reached + 1) / (len(elsewhere_N) + 1))


@one_thread()
def contributions_elsewhere(edited_case: EditedCase, poi: int) -> dict[str, np.ndarray]:
    """What each contribution gives one place in random other test cases, the same ones for the same case."""
    predictor, number = edited_case.predictor, edited_case.case.number
    others = np.delete(predictor.cases[c.ROW].to_numpy(), number if edited_case.split == c.TEST else [])
    drawn = np.random.default_rng(number).choice(others, min(NUM_DRAWN, len(others)), replace=False)
    size = variants_per_pass(predictor.dataset.num_pois)
    pieces = [_contributions(predictor, drawn[at : at + size], poi) for at in range(0, len(drawn), size)]
    return {row: np.concatenate([piece[row] for piece in pieces]) for row in pieces[0]} if pieces else {}


def _contributions(predictor: Predictor, rows: np.ndarray, poi: int) -> dict[str, np.ndarray]:
    """The rows of `net_rows` for one place in a batch of cases."""
    batch = predictor.batch(rows.tolist())
    state_BD, core_BP = predictor.core_scores(batch)
    found = {row: np.zeros(len(rows)) for row in ROWS}
    found["core"] += core_BP[:, poi].double().numpy()
    revisit = predictor.revisit_parts(batch, state_BD)
    if revisit is not None:
        here_C = revisit.candidates.poi_C == poi
        case_C, value_C = revisit.candidates.case_C[here_C].numpy(), revisit.value_C[here_C].double().numpy()
        np.add.at(found["own_visits"], case_C, value_C)
    terms = predictor.model.evidence
    if terms is not None and "evidence" not in predictor.checkpoint.inactive_parts:
        values = predictor.evidence_values(batch, None, state_BD)
        value_BF = terms.terms_at(values, torch.full((len(rows),), poi)).numpy()
        for at, name in enumerate(terms.names):
            found[row_of_term(name)] += value_BF[:, at]
    return found


def row_trips(edited_case: EditedCase, poi: int) -> dict[str, Trips]:
    """Whose training trips a contribution rests on; those without a trip are absent.

    The user's own trips count in the graph token alone. A transition that two paths share counts once.
    """
    rows, source, user = training_rows(edited_case.predictor), edited_case.source, edited_case.case.user
    middles = [path.middle for path in two_hop_paths(edited_case, poi)]
    steps = {(source, middle) for middle in middles} | {(middle, poi) for middle in middles}
    walked = np.concatenate([np.zeros(0, dtype=np.int64), *(rows.users(*step) for step in sorted(steps))])
    direct = rows.users(source, poi)
    users = {
        "graph_token": walked,
        "two_hop_addends": walked[walked != user],
        "others_transitions": direct[direct != user],
    }
    return {row: count_trips(found, user) for row, found in users.items() if len(found)}
