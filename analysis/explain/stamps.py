"""Stamps: what was measured about each row of an explanation, never asserted.

A row **holds** where its points of the place have the same sign in all seeds and lie beyond 95 % of its placebos. The
words say which of the two was measured, and on how many people's trips a row rests.
"""

import math
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field

from analysis.explain.edited_case import EditedCase
from analysis.explain.paths import training_rows, two_hop_paths
from analysis.explain.placebo import NUM_PLACEBOS, PlaceboTest, placebo_tests
from analysis.explain.score_parts import prior_terms
from analysis.explain.state_totals import Report
from analysis.explain.types import ScoreDecomposition
from analysis.records.score_rows import OPAQUE_ROWS, ROW_LABELS, ROW_WORDS, row_of_term
from recap import columns as c
from recap.config import Config

Verdict = Literal["holds", "partly", "fails", "not_explained", "no_points"]
STAMPED_ROWS: Final = (*(row for row in ROW_LABELS if row not in OPAQUE_ROWS), *OPAQUE_ROWS)
NO_PLACEBO: Final = "no better than placebo"
ONE_PERSON: Final = "one person's trips"
NO_SEEDS: Final = "seeds not measured"
NOTHING_BEHIND: Final = {
    "own_visits": "never visited",
    "hour_and_weekday": "never visited then",
    "own_transitions": "no own step",
    "others_transitions": "no step of others",
    "two_hop_addends": "no path of others",
}
"""What is told of a row that gives the place nothing."""


class PathPeople(Config):
    """Whose training trips one two-hop path rests on."""

    middle: int
    people: int = Field(description="Distinct users over both halves; nine people's trips, not nine who did both.")
    trips: int = Field(description="Training transitions of both halves.")

    @property
    def stamp(self) -> str | None:
        return ONE_PERSON if self.people == 1 else None


class RowPeople(NamedTuple):
    """Whose training trips a row rests on: distinct users, and their trips (a leg that two paths share counts once)."""

    people: int
    trips: int


class SeedCheck(Config):
    """One seed's view of a row: what it gives the truth, and the truth's rank with and without it."""

    seed: int
    points: float
    rank: float
    without: float | None = Field(description="For all places; None where the model has no such source.")


class RowStamp(Config):
    """What was measured about one row of a case's explanation.

    ``holds``: the same sign in all seeds, beyond the placebos, and more than one person's trips. ``partly``: beyond
    the placebos, but the seeds differ or were not measured. ``fails``: no better than placebo, or one person's trips.
    ``no_points``: the row gives this place nothing; its points are less the mean over all places.
    """

    row: str
    label: str
    verdict: Verdict
    words: list[str]
    points: float = Field(description="The place's points less the mean over all places.")
    seeds: int | None = Field(None, description="Seeds measured, this checkpoint's among them; None where it is alone.")
    seeds_same: int | None = Field(None, description="Seeds in which the points have this sign.")
    placebo: PlaceboTest | None = None
    people: int | None = Field(None, description="Distinct users behind a row that rests on training trips.")
    trips: int | None = Field(None, description="Their training transitions.")
    seed_checks: list[SeedCheck] = Field(
        default_factory=list,
        description="This checkpoint first, then its siblings; empty for an edited case or another place.",
    )


def stamp_rows(
    edited_case: EditedCase,
    poi: int,
    *,
    seeds: Mapping[int, pd.DataFrame] | None = None,
    seed: int = 0,
    placebos: int = NUM_PLACEBOS,
    measured: pd.Series | None = None,
    report: Report | None = None,
) -> list[RowStamp]:
    """A stamp for each row that the model has.

    Args:
        poi: whose points.
        seeds: removal tables of sibling seeds (`analysis.explain.siblings`), which tell of the truth in unedited cases.
        seed, placebos: of the placebos.
        measured: the case's own row of the removal table, which adds what each seed says.
        report: see `placebo_tests`.
    """
    found = placebo_tests(edited_case, poi, seed=seed, placebos=placebos, report=report)
    tests = {test.row: test for test in found}
    people, behind = row_people(edited_case, poi), _rows_with_points(edited_case, poi)
    number = edited_case.case.number
    views: dict[int, pd.Series] = {}
    if poi == edited_case.truth and not edited_case.edits:
        views = {sibling: table.iloc[number] for sibling, table in (seeds or {}).items()}
    stamps = []
    for row in STAMPED_ROWS:
        test = tests.get(row)
        if row in OPAQUE_ROWS:
            if row == "core" or edited_case.is_active("correction"):
                stamps.append(_opaque(row, _seed_checks(row, measured, edited_case, views)))
        elif test is not None:
            checks = _seed_checks(row, measured, edited_case, views)
            if row in behind:
                siblings = [float(view[f"points_{row}"]) for view in views.values()]
                stamps.append(_stamp(test, siblings, people.get(row), checks))
            else:
                stamps.append(_nothing(test, checks))
    return stamps


def _seed_checks(
    row: str, measured: pd.Series | None, edited_case: EditedCase, views: Mapping[int, pd.Series]
) -> list[SeedCheck]:
    if measured is None:
        return []
    own = edited_case.predictor.checkpoint.manifest.train.seed
    checks = []
    for seed, view in [(own, measured), *views.items()]:
        without = float(view[f"without_{ROW_WORDS[row].source}"])
        checks.append(
            SeedCheck(
                seed=seed,
                points=float(view[f"points_{row}"]),
                rank=float(view[c.RANK]),
                without=None if math.isnan(without) else without,
            )
        )
    return checks


def _rows_with_points(edited_case: EditedCase, poi: int) -> set[str]:
    """Rows that give the place itself something; the others' points are the mean over all places alone.

    Every place has a popularity and a distance, also where the distance is 0.
    """
    rows = {row_of_term(term) for term in edited_case.evidence_terms(poi)}
    if any(prior_terms(edited_case, poi)):
        rows.add("own_visits")
    return rows | {"graph_token", "popularity", "distance"}


def _nothing(test: PlaceboTest, checks: list[SeedCheck]) -> RowStamp:
    return RowStamp(
        row=test.row,
        label=ROW_LABELS[test.row],
        verdict="no_points",
        words=[NOTHING_BEHIND.get(test.row, "no points")],
        points=test.points,
        placebo=test,
        seed_checks=checks,
    )


def _opaque(row: str, checks: list[SeedCheck]) -> RowStamp:
    return RowStamp(
        row=row,
        label=ROW_LABELS[row],
        verdict="not_explained",
        words=["not explained"],
        points=checks[0].points if checks else 0.0,
        seed_checks=checks,
    )


def _stamp(test: PlaceboTest, siblings: list[float], behind: RowPeople | None, checks: list[SeedCheck]) -> RowStamp:
    people = None if behind is None else behind.people
    total = len(siblings) + 1
    same = 1 + sum(int(np.sign(value) == np.sign(test.points)) for value in siblings)
    words = [f"holds in {same} of {total} seeds" if siblings else NO_SEEDS]
    if not test.is_better:
        words.insert(0, NO_PLACEBO)
    if people == 1:
        words.append(ONE_PERSON)
    verdict: Verdict = "holds" if siblings and same == total else "partly"
    if not test.is_better or people == 1:
        verdict = "fails"
    if test.points == 0.0:
        verdict, words = "no_points", ["no points"]
    return RowStamp(
        row=test.row,
        label=ROW_LABELS[test.row],
        verdict=verdict,
        words=words,
        points=test.points,
        seeds=total if siblings else None,
        seeds_same=same if siblings else None,
        placebo=test,
        people=people,
        trips=None if behind is None else behind.trips,
        seed_checks=checks,
    )


def path_people(edited_case: EditedCase, poi: int) -> list[PathPeople]:
    """People and trips behind each two-hop path to a place, strongest path first.

    In a model with additive evidence the user's own trips do not count there.
    """
    rows, source = training_rows(edited_case.predictor), edited_case.source
    found = []
    for path in two_hop_paths(edited_case, poi):
        legs = [rows.users(source, path.middle), rows.users(path.middle, poi)]
        users = np.concatenate(legs)
        if edited_case.config.evidence is not None:
            users = users[users != edited_case.case.user]
        found.append(PathPeople(middle=path.middle, people=len(np.unique(users)), trips=len(users)))
    return found


def row_people(edited_case: EditedCase, poi: int) -> dict[str, RowPeople]:
    """Who is behind each row that rests on training trips; rows without a trip are absent."""
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
    return {row: RowPeople(len(np.unique(found)), len(found)) for row, found in users.items() if len(found)}


def exact_share(a: ScoreDecomposition, b: ScoreDecomposition) -> float:
    """How much of the margin between two places is exact addends rather than opaque network, signs aside.

    Sum of absolute differences over count, recency, window, clip and the evidence terms, divided by the same with core,
    correction and a network's term; 1 where nothing differs.
    """
    exact = [getattr(a, name) - getattr(b, name) for name in ("count", "recency", "window", "clip_loss")]
    opaque = [a.core - b.core, a.correction - b.correction]
    for name in sorted({*a.evidence_terms, *b.evidence_terms}):
        side = opaque if row_of_term(name) in OPAQUE_ROWS else exact
        side.append(a.evidence_terms.get(name, 0.0) - b.evidence_terms.get(name, 0.0))
    whole = sum(map(abs, exact)) + sum(map(abs, opaque))
    return sum(map(abs, exact)) / whole if whole else 1.0
