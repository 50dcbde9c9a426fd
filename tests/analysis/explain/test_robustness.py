"""Robustness checks: seeds from kept tables, the permutation test against other cases, whose transitions."""

import numpy as np
import pytest

from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.explain.explain_case import explain_case
from analysis.explain.paths import training_rows, two_hop_paths
from analysis.explain.robustness import (
    NUM_DRAWN,
    PermutationTest,
    RowCheck,
    SeedRank,
    check_rows,
    contributions_elsewhere,
    describe_checks,
)
from analysis.records.ablations import describe_ablations, slug
from recap.features.catalogue import PATHS, TRANSITIONS
from tests.analysis.planted import MODELS, small_predictor

RECAP = MODELS["recap"]


@pytest.mark.parametrize("changes", [{}, RECAP], ids=["paper", "recap"])
def test_checks_are_those_of_the_explanation(changes: dict[str, object]) -> None:
    """Points and ranks are the explanation's; other seeds come from their tables, for the case as it was alone."""
    predictor = small_predictor(**changes)
    table = describe_ablations(predictor, predictor.cases)
    explained = explain_case(predictor, 3, checks=True, seeds={1: table, 2: table})
    assert explained.checks
    ranks = {entry.name: entry.rank for entry in explained.without}
    recorded = table.iloc[3]
    for check in explained.checks:
        assert check.points == pytest.approx(explained.a.groups.get(check.row))
        assert [(entry.rank, entry.without) for entry in check.seeds] == [(explained.target_rank, ranks[check.row])] * 3
        assert recorded[f"without_{slug(check.row)}"] == ranks[check.row]
        assert check.seeds_agreeing == 3 and len(check.cells) == 7
    edited = build_edited_case(predictor, 3, parse_edits("hour:5"))
    assert all(len(check.seeds) == 1 for check in check_rows(edited, {1: table}))


def test_contributions_elsewhere_are_those_of_other_cases() -> None:
    """The same place, other cases, by one explanation each."""
    predictor = small_predictor(**RECAP)
    case = build_edited_case(predictor, 3)
    found = contributions_elsewhere(case)
    rows = np.delete(predictor.cases["row"].to_numpy(), 3)
    drawn = np.random.default_rng(3).choice(rows, min(NUM_DRAWN, len(rows)), replace=False)
    number = int(predictor.cases.index[predictor.cases["row"] == drawn[0]][0])
    entry = explain_case(predictor, number, about=case.target, counterfactuals=False).a
    assert {name: values[0] for name, values in found.items()} == pytest.approx(entry.groups)
    assert all(len(values) == len(drawn) for values in found.values())


def test_whose_transitions() -> None:
    """Other users of the transitions behind paths and the direct transition."""
    predictor = small_predictor(**RECAP)
    rows = training_rows(predictor)
    for number in range(6):
        case = build_edited_case(predictor, number)
        own = {case.moment.user}
        checks = {check.row: check for check in check_rows(case)}
        if TRANSITIONS in checks:
            direct = set(rows.users(case.source, case.target).tolist()) - own
            assert checks[TRANSITIONS].users == (len(direct) or None)
        if PATHS in checks:
            legs = [(case.source, path.middle) for path in two_hop_paths(case, case.target)]
            legs += [(path.middle, case.target) for path in two_hop_paths(case, case.target)]
            users = {int(user) for leg in legs for user in rows.users(*leg)} - own
            assert checks[PATHS].users == len(users)


def test_what_fails_is_said() -> None:
    """Seeds that disagree, a contribution like elsewhere, one user's transitions."""
    seeds = [SeedRank(seed=0, rank=2, without=5), SeedRank(seed=1, rank=2, without=2)]
    chance = PermutationTest(reached=99, drawn=199, p_value=0.5)
    weak = RowCheck(row="two-hop paths", points=0.2, seeds=seeds, permutation=chance, users=1)
    assert weak.problems == ["seeds disagree", "other cases get as much", "one user's transitions"]
    assert weak.cells["Seeds"] == "1 of 2 agrees" and weak.cells["Without it"] == "2nd → 5th"
    good = RowCheck(row="past visits", points=1.0, seeds=[seeds[0]] * 2, permutation=None, users=None)
    assert describe_checks([weak, good]) == "Stable in 2 seeds: past visits."
    assert describe_checks([weak]) == "No contribution passes every check."
