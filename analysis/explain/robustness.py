"""Robustness checks: is a contribution to one place stable?

- Other seeds: does the rank move the same way without it in models trained with another seed?
- Permutation test: does it give this place more here than in other cases?
- Whose transitions: does it rest on the training transitions of one other user?
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd
import torch
from pydantic import Field

from analysis.explain.edited_case import EditedCase
from analysis.explain.paths import paths_between, training_rows
from analysis.formatting import ordinal, signed_points
from analysis.records.ablations import part_label, slug
from recap import columns as c
from recap.asking.counterfactuals import GRAPH_TOKEN
from recap.config import Config
from recap.features.catalogue import PATHS, TRANSITIONS
from recap.machine.device import one_thread

NUM_DRAWN: Final = 200
"""Other test cases of the permutation test."""
_LEVEL: Final = 0.05
"""A contribution passes the permutation test where p is at most this."""
EXPLAINED: Final = {
    "Without it": "The rank when the contribution is left out for all places.",
    "Seeds": "In how many seeds, this one included, the rank moves the same way without it.",
    "Permutation test": f"How often {NUM_DRAWN} random other cases give this place at least as much (p).",
    "Whose transitions": "How many other users made the training transitions it rests on; one alone is weak.",
}
"""Columns of the table, with one sentence each."""
_CASES_PER_BATCH: Final = 64


class SeedRank(Config):
    """The true place's rank in a model of one seed."""

    seed: int
    rank: float
    without: float = Field(description="Without the contribution, for all places.")

    @property
    def direction(self) -> int:
        """1 if the rank gets worse without it, -1 if it gets better."""
        return int(np.sign(self.without - self.rank))


class PermutationTest(Config):
    """A contribution compared with what the same place gets in random other cases."""

    reached: int = Field(description="Other cases with at least as much, on the same side of 0.")
    drawn: int
    p_value: float = Field(description="(reached + 1) / (drawn + 1).")


class RowCheck(Config):
    row: str = Field(description="A group of terms, or the graph token.")
    points: float | None = Field(description="None for the graph token, which acts inside the core.")
    seeds: list[SeedRank] = Field(description="This model first; others only for the true place without edits.")
    permutation: PermutationTest | None
    users: int | None = Field(
        description="Other users whose training transitions it rests on; None where it rests on none."
    )

    @property
    def seeds_agreeing(self) -> int:
        """Seeds whose rank moves the same way, including this model's."""
        return sum(entry.direction == self.seeds[0].direction for entry in self.seeds)

    @property
    def problems(self) -> list[str]:
        problems = []
        if self.seeds_agreeing < len(self.seeds):
            problems.append("seeds disagree")
        if self.permutation is not None and self.permutation.p_value > _LEVEL:
            problems.append("other cases get as much")
        if self.users == 1:
            problems.append("one user's transitions")
        return problems

    @property
    def cells(self) -> dict[str, str]:
        own, seeds, others = self.seeds[0], "–", "–"
        stable = "yes" if len(self.seeds) > 1 else "yes, seeds not compared"
        rank = f"stays {ordinal(own.rank)}" if not own.direction else f"{ordinal(own.rank)} → {ordinal(own.without)}"
        if len(self.seeds) > 1:
            seeds = f"{self.seeds_agreeing} of {len(self.seeds)} agree{'s' * (self.seeds_agreeing == 1)}"
        if self.users is not None:
            others = "1 other user" if self.users == 1 else f"{self.users:,} other users"
        return {
            "Contribution": part_label(self.row),
            "Points": "–" if self.points is None else signed_points(self.points),
            "Without it": rank,
            "Seeds": seeds,
            "Permutation test": "–" if self.permutation is None else f"p = {self.permutation.p_value:.3f}",
            "Whose transitions": others,
            "Is it stable?": f"no: {'; '.join(self.problems)}" if self.problems else stable,
        }


@one_thread()
def check_rows(edited_case: EditedCase, seeds: Mapping[int, pd.DataFrame] | None = None) -> list[RowCheck]:
    """Check every contribution to the explained place, and the graph token.

    Other seeds are tables of ablations of seed replicates, see `analysis.records.kept_seeds`.
    """
    target, parts = edited_case.target, edited_case.leavable
    point_T = edited_case.contributions([target])[0]
    points = {name: float(point_T[rows].sum()) for name, rows in edited_case.groups.items()}
    shown = [name for name in parts if points.get(name, 1.0) != 0.0]
    ranks = edited_case.ranks([edited_case.variant, *(edited_case.without(name) for name in shown)])
    elsewhere, users = contributions_elsewhere(edited_case), _users_of_transitions(edited_case)
    own_seed = edited_case.ranker.checkpoint.recap_training.seed
    views = _seed_views(edited_case, seeds or {})
    return [
        RowCheck(
            row=name,
            points=points.get(name),
            seeds=[SeedRank(seed=own_seed, rank=ranks[0], without=rank), *_seed_ranks(name, views)],
            permutation=_permutation_test(points[name], elsewhere[name]) if name in points else None,
            users=users.get(name) or None,
        )
        for name, rank in zip(shown, ranks[1:], strict=True)
    ]


def describe_checks(checks: list[RowCheck]) -> str:
    stable = [part_label(check.row).lower() for check in checks if not check.problems]
    if not stable:
        return "No contribution passes every check."
    seeds = max((len(check.seeds) for check in checks), default=0)
    if seeds < 2:
        return (
            f"These pass the permutation test and the check of transitions: {', '.join(stable)}. "
            "Other seeds were not compared."
        )
    return f"Stable in {seeds} seeds: {', '.join(stable)}."


def _seed_views(edited_case: EditedCase, seeds: Mapping[int, pd.DataFrame]) -> dict[int, pd.Series]:
    """The case in other seeds' tables; only for the true place of a case without edits."""
    moment = edited_case.moment
    as_recorded = not edited_case.edits and edited_case.target == edited_case.truth
    if not (as_recorded and moment.case is not None and moment.split == c.TEST):
        return {}
    return {seed: table.iloc[moment.case] for seed, table in seeds.items()}


def _seed_ranks(name: str, views: dict[int, pd.Series]) -> list[SeedRank]:
    ranks = [(seed, float(view[c.RANK]), float(view[f"without_{slug(name)}"])) for seed, view in views.items()]
    return [SeedRank(seed=seed, rank=rank, without=without) for seed, rank, without in ranks if without == without]


def _permutation_test(points: float, elsewhere_N: np.ndarray) -> PermutationTest:
    side = np.sign(points)
    reached = int((side * elsewhere_N >= side * points - 1e-12).sum())
    return PermutationTest(reached=reached, drawn=len(elsewhere_N), p_value=(reached + 1) / (len(elsewhere_N) + 1))


def contributions_elsewhere(edited_case: EditedCase) -> dict[str, np.ndarray]:
    """What each group gives the explained place in other test cases, sampled with the case number, or row, as seed."""
    ranker, moment = edited_case.ranker, edited_case.moment
    rows = ranker.cases[c.ROW].to_numpy()
    others = rows[rows != moment.row]
    seed = moment.case if moment.case is not None else max(moment.row, 0)
    drawn = np.random.default_rng(seed).choice(others, min(NUM_DRAWN, len(others)), replace=False)
    pieces = [torch.zeros(0, len(edited_case.scorer.terms), dtype=torch.float64)]
    for rows in np.split(drawn, range(_CASES_PER_BATCH, len(drawn), _CASES_PER_BATCH)):
        poi_B = torch.full((len(rows),), edited_case.target)
        pieces.append(edited_case.scorer.contributions(ranker.histories(rows.tolist()), poi_B[:, None])[:, 0])
    values = torch.cat(pieces)
    return {group: values[:, rows].sum(1).numpy() for group, rows in edited_case.groups.items()}


def _users_of_transitions(edited_case: EditedCase) -> dict[str, int]:
    """Number of other users whose training transitions a group uses; none for a token that reads the user's own."""
    rows, source, target = training_rows(edited_case.ranker), edited_case.source, edited_case.target
    walked: set[int] = set()
    for path in paths_between(edited_case, target):
        walked |= {*rows.users(source, path.middle).tolist(), *rows.users(path.middle, target).tolist()}
    own = {edited_case.moment.user}
    direct = set(rows.users(source, target).tolist())
    users = {GRAPH_TOKEN: set() if own & walked else walked, PATHS: walked - own, TRANSITIONS: direct - own}
    return {name: len(names) for name, names in users.items()}
