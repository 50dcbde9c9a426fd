"""Robustness checks: a planted signal is stable, a permuted one is not; every rendering shows the same table."""

import dataclasses
import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from analysis.records.removals import describe_removals
from recap.evidence.config import EvidenceConfig

from analysis.explain.check_tables import CheckTables
from analysis.explain.edited_case import build_edited_case
from analysis.explain.edits import parse_edits
from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.explain.net_rows import net_rows
from analysis.explain.paths import two_hop_paths
from analysis.explain.robustness import (
    NUM_DRAWN,
    PermutationTest,
    RowCheck,
    SeedRank,
    check_rows,
    contributions_elsewhere,
    describe_checks,
    row_trips,
)
from analysis.explain.score_parts import decompose_scores
from analysis.explain.seed_replicates import measure_replicates, replicates_folder, train_replicates
from analysis.explain.trips import Trips
from analysis.records.kept_seeds import seed_key, seed_tables
from analysis.report.text import describe_fully
from analysis.sharing.page import render_notebook
from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.evaluation.records import write_records
from recap.model.recap import Recap
from recap.predictor import Predictor
from tests.analysis.planted import predictor_with, small_predictor, train_checkpoint
from tests.test_planted_worlds import city_of
from tests.worlds import small_city, small_training

GROUPS, SOURCES, HELD_OUT = 30, 5, 2
"""So many groups that fewer than one case in twenty belongs to the group of another."""


def two_hop_city(*, signal: bool) -> Dataset:
    """Sources with two middle places of their own that lead to their group's destination.

    Three of five sources of a group lead there directly in training, once each, the others in validation and test.
    Without the signal every source's destination, and that of each of its middles, is drawn at random.
    """
    generator = np.random.default_rng(0)
    training: list[list[str]] = []
    held_out: list[list[str]] = []
    for group in range(GROUPS):
        for number in range(SOURCES):
            source = f"s{group}-{number}"
            ends = [f"d{group}"] * 3 if signal else [f"d{end}" for end in generator.integers(0, GROUPS, 3)]
            for at, end in enumerate(ends[:2]):
                middle = f"m{group}-{number}-{at}"
                training += [[source, middle], [middle, end]]
            (training if number < SOURCES - HELD_OUT else held_out).append([source, ends[2]])
    walks = [(f"user{(at * 7) % 40}", walk) for part in (training, held_out, held_out) for at, walk in enumerate(part)]
    return city_of(walks, len(training), len(held_out))


def with_weight(model: Recap, weight: float) -> None:
    """A model whose only words are the two-hop addends."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        assert model.evidence is not None
        model.evidence.start_from({"others_two_hop": weight})


@cache
def planted(signal: bool) -> tuple[Predictor, dict[int, pd.DataFrame]]:
    """A model of the world, and the tables of four seeds whose weights differ a little."""
    dataset = two_hop_city(signal=signal)
    base = predictor_with(dataset, lambda model: with_weight(model, 1.0), evidence=EvidenceConfig())
    seeds = {}
    for seed, weight in enumerate((0.6, 0.8, 1.2, 1.4)):
        model = Recap.for_dataset(base.model.config, dataset, base.graph, torch.float64)
        with_weight(model, weight)
        seeds[seed] = describe_removals(Predictor(base.checkpoint, dataset, model), base.cases)
    return base, seeds


def two_hop_checks(signal: bool) -> list[RowCheck]:
    predictor, seeds = planted(signal)
    cases = (build_edited_case(predictor, number) for number in range(len(predictor.cases)))
    found = (check_rows(case, tables=CheckTables(seeds=seeds)) for case in cases)
    return [check for checks in found for check in checks if check.row == "two_hop_addends"]


def test_a_planted_signal_is_stable_and_a_permuted_one_is_not() -> None:
    """Two-hop paths over all test cases: they pass the permutation test with the signal, hardly any without."""
    real, permuted = two_hop_checks(signal=True), two_hop_checks(signal=False)
    assert len(real) == GROUPS * HELD_OUT
    assert all(check.permutation is not None and check.permutation.p_value <= 0.05 for check in real)
    assert all(check.seeds_agreeing == len(check.seeds) == 5 for check in real)
    assert sum(check.row == "two_hop_addends" and not check.problems for check in permuted) <= 0.1 * len(real)


@pytest.mark.parametrize("kind", ["paper", "evidence"])
def test_contributions_in_other_cases_are_those_of_their_explanations(kind: str) -> None:
    """One batch gives what each case's own decomposition gives; the same cases are drawn again."""
    predictor = small_predictor(**({} if kind == "paper" else {"evidence": EvidenceConfig()}))
    edited_case = build_edited_case(predictor, 4)
    found = contributions_elsewhere(edited_case, edited_case.target)
    others = [number for number in range(len(predictor.cases)) if number != 4]
    expected: dict[str, list[float]] = {}
    for number in others:
        (entry,) = decompose_scores(build_edited_case(predictor, number), [edited_case.target])
        for row, value in net_rows(entry).items():
            expected.setdefault(row, []).append(value)
    assert len(others) < NUM_DRAWN
    for row, values in expected.items():
        assert np.sort(found[row]) == pytest.approx(np.sort(values), abs=1e-9), row
    again = contributions_elsewhere(edited_case, edited_case.target)
    assert all((again[row] == values).all() for row, values in found.items())


def test_the_table_by_hand() -> None:
    """Every check that fails is named; what does not apply is a dash."""
    seeds = [SeedRank(seed=seed, rank=5, without=without) for seed, without in enumerate((8, 6, 2))]
    check = RowCheck(
        row="two_hop_addends",
        label="Two-hop paths",
        points=1.5,
        seeds=seeds,
        permutation=PermutationTest(reached=9, drawn=99, p_value=0.1),
        trips=Trips(own=0, others=3, people=1),
    )
    assert list(check.cells.values()) == [
        "Two-hop paths",
        "+1.50",
        "5th → 8th",
        "same in 2 of 3",
        "p = 0.100",
        "1 other user, 3 times",
        "seeds disagree; no more than in other cases; one user's trips",
    ]
    bare = RowCheck(row="graph_token", label="Two-hop token", points=None, seeds=[], permutation=None, trips=None)
    assert list(bare.cells.values()) == ["Two-hop token", "–", "–", "–", "–", "–", "yes, seeds not compared"]
    assert describe_checks([check]) == "No contribution passes every check."
    assert describe_checks([check, bare]) == "Stable in 3 seeds: two-hop token."
    assert describe_checks([bare]).endswith("Seeds are not compared.")


def test_users_are_counted_behind_two_hop_paths() -> None:
    """Distinct other users over both halves, by hand from the check-ins."""
    predictor = small_predictor()
    checkins = predictor.dataset.checkins
    poi, user = checkins[c.POI].to_numpy(), checkins[c.USER].to_numpy()
    rows = predictor.dataset.cases(c.TRAIN)
    alone = 0
    for number in range(len(predictor.cases)):
        edited_case = build_edited_case(predictor, number)
        legs = set[tuple[int, int]]()
        for path in two_hop_paths(edited_case, edited_case.target):
            legs |= {(edited_case.source, path.middle), (path.middle, edited_case.target)}
        who = [user[row] for row in rows if (poi[row], poi[row + 1]) in legs]
        others = [one for one in who if one != edited_case.case.user]
        trips = row_trips(edited_case, edited_case.target).get("graph_token")
        expected = Trips(own=len(who) - len(others), others=len(others), people=len(set(others)))
        assert trips == (expected if who else None)
        alone += expected.people == 1
    assert alone


def test_every_rendering_shows_the_table() -> None:
    """Terminal, HTML and JSON; an edited case and another place have no ranks by seed."""
    predictor = small_predictor(evidence=EvidenceConfig())
    table = describe_removals(predictor, predictor.cases)
    wrong = table.assign(rank=table["rank"] + 1, without_core=999.0)
    tables = CheckTables(wrong, {1: table, 2: table})
    told = explain_fully(predictor, 4, counterfactuals=False, checks=True, tables=tables)
    assert told.checks is not None
    assert FullExplanation.model_validate(json.loads(told.model_dump_json())).checks == told.checks
    terminal, page = "\n".join(describe_fully(told)), render_notebook(told)
    for check in told.checks:
        assert [entry.seed for entry in check.seeds][1:] == [1, 2] and check.seeds_agreeing == 3
        assert check.seeds[0] == check.seeds[1].model_copy(update={"seed": check.seeds[0].seed}), (
            "a wrong row is not read"
        )
        assert check.label in terminal and all(cell.replace("'", "&#39;") in page for cell in check.cells.values())
    edited = explain_fully(predictor, 4, counterfactuals=False, checks=True, edits=parse_edits("hour:5"))
    other = explain_fully(predictor, 4, about=told.source, counterfactuals=False, checks=True, tables=tables)
    assert not any(check.seeds for check in (*(edited.checks or []), *(other.checks or [])))
    assert explain_fully(predictor, 4, counterfactuals=False).checks is None


def test_replicates_are_trained_measured_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two more seeds beside a checkpoint; their tables are kept under its hash, and a bundle's are read too."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    dataset = small_city()
    config = small_training(curriculum={"staged": False}, epochs=1, batch_size=4096)
    checkpoint = train_checkpoint(dataset, config, tmp_path / "checkpoint")
    with pytest.raises(ConfigError, match="at least 2, got 1"):
        train_replicates(checkpoint, dataset, 1, torch.device("cpu"), lambda _: None)
    told: list[str] = []
    for _ in range(2):  # the second time there is nothing to do
        train_replicates(checkpoint, dataset, 3, torch.device("cpu"), told.append)
    seeds = [config.seed + 1, config.seed + 2]
    assert told == [f"Training seed {seed}" for seed in seeds]
    tables = measure_replicates(checkpoint, dataset)
    assert list(tables) == seeds
    replicate = Predictor.load(replicates_folder(checkpoint) / f"seed-{seeds[0]}", _saved(dataset, tmp_path / "data"))
    pd.testing.assert_frame_equal(tables[seeds[0]], describe_removals(replicate, replicate.cases))
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "elsewhere"))
    rows = len(tables[seeds[0]])
    assert seed_tables(dataset.hash, checkpoint.hash, rows=rows) == {}
    key = seed_key(dataset.hash, checkpoint.hash, 77)
    write_records(tables[seeds[1]], key.shipped_in(tmp_path / "bundle"), key.metadata)
    shipped = seed_tables(dataset.hash, checkpoint.hash, rows=rows, bundle=tmp_path / "bundle")
    assert list(shipped) == [77] and shipped[77].equals(tables[seeds[1]])
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):  # none that could be made
        monkeypatch.setenv("RECAP_HOME", str(home))
        assert list(seed_tables(dataset.hash, checkpoint.hash, rows=rows, bundle=tmp_path / "bundle")) == [77]
    other = train_checkpoint(dataset, config.override(["batch_size=64"]), tmp_path / "checkpoint-seeds" / "seed-9")
    assert other.manifest.train.seed == config.seed
    with pytest.raises(ConfigError, match="differs in more than its seed"):
        measure_replicates(checkpoint, dataset)


def _saved(dataset: Dataset, folder: Path) -> Path:
    dataclasses.replace(dataset).save(folder)
    return folder
