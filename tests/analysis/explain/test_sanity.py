"""Stamps and sanity checks: on a planted world they hold, with the signal permuted they fail."""

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.explain.edited_case import build_edited_case
from analysis.explain.paths import two_hop_paths
from analysis.explain.placebo import NUM_PLACEBOS, PLACEBO_LEVEL, placebo_tests
from analysis.explain.sanity import describe_sanity, permute_weights, sanity_report, summarise_stamps
from analysis.explain.sanity_table import COLUMNS, sanity_markdown, table_rows
from analysis.explain.score_parts import decompose_scores
from analysis.explain.siblings import (
    measure_siblings,
    permute_labels,
    siblings_folder,
    train_on_permuted_labels,
    train_siblings,
)
from analysis.explain.stamps import (
    NO_PLACEBO,
    NO_SEEDS,
    ONE_PERSON,
    RowStamp,
    exact_share,
    path_people,
    row_people,
    stamp_rows,
)
from analysis.records.kept_seeds import seed_key, seed_tables
from analysis.records.removals import describe_removals
from analysis.records.score_rows import OPAQUE_ROWS, ROWS
from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.evaluation.records import write_records
from recap.evidence.config import EvidenceConfig
from recap.model.recap import Recap
from recap.predictor import Predictor
from tests.analysis.planted import predictor_with, small_predictor, train_checkpoint
from tests.test_planted_worlds import city_of
from tests.worlds import small_city, small_training

GROUPS, SOURCES, HELD_OUT = 30, 5, 2
"""So many groups that fewer than one placebo in twenty stands in the group of the case."""


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
    """A model of the world, and the tables of four siblings whose weights differ a little."""
    dataset = two_hop_city(signal=signal)
    base = predictor_with(dataset, lambda model: with_weight(model, 1.0), evidence=EvidenceConfig())
    siblings = {}
    for seed, weight in enumerate((0.6, 0.8, 1.2, 1.4)):
        model = Recap.for_dataset(base.model.config, dataset, base.graph, torch.float64)
        with_weight(model, weight)
        siblings[seed] = describe_removals(Predictor(base.checkpoint, dataset, model), base.cases)
    return base, siblings


def two_hop_stamps(signal: bool) -> list[RowStamp]:
    predictor, siblings = planted(signal)
    found = []
    for number in range(len(predictor.cases)):
        edited_case = build_edited_case(predictor, number)
        stamps = stamp_rows(edited_case, edited_case.target, seeds=siblings)
        found += [stamp for stamp in stamps if stamp.row == "two_hop_addends"]
    return found


def test_a_planted_signal_holds_and_a_permuted_one_fails() -> None:
    """The stamp of two-hop paths over all test cases: it holds with the signal, and fails in nine of ten without."""
    real, permuted = two_hop_stamps(signal=True), two_hop_stamps(signal=False)
    assert len(real) == len(permuted) == GROUPS * HELD_OUT
    assert all(stamp.verdict == "holds" and "holds in 5 of 5 seeds" in stamp.words for stamp in real)
    assert sum(stamp.verdict == "holds" for stamp in permuted) <= 0.1 * len(permuted)


def test_a_sibling_of_another_mind_is_told() -> None:
    """One of four siblings with the opposite sign: "holds in 4 of 5 seeds", and only partly."""
    predictor, siblings = planted(signal=True)
    contrary = siblings[0].assign(points_two_hop_addends=-siblings[0]["points_two_hop_addends"])
    edited_case = build_edited_case(predictor, 0)

    def stamp(seeds: dict[int, pd.DataFrame] | None, poi: int | None = None) -> RowStamp:
        stamps = stamp_rows(edited_case, edited_case.target if poi is None else poi, seeds=seeds)
        return next(entry for entry in stamps if entry.row == "two_hop_addends")

    told = stamp(siblings | {0: contrary})
    assert (told.verdict, told.seeds, told.seeds_same) == ("partly", 5, 4) and "holds in 4 of 5 seeds" in told.words
    alone = stamp(None)
    assert alone.verdict == "partly" and NO_SEEDS in alone.words and alone.seeds is None
    other = stamp(siblings, poi=int(edited_case.source))
    assert other.seeds is None, "sibling tables tell of the truth alone"


@pytest.mark.parametrize("kind", ["paper", "evidence"])
def test_placebos_start_from_the_points_of_the_table(kind: str) -> None:
    """A row's own points are those of the removal table; there are at least 200 placebos; the bar is their quantile."""
    predictor = small_predictor(**({} if kind == "paper" else {"evidence": EvidenceConfig()}))
    table = describe_removals(predictor, predictor.cases)
    assert NUM_PLACEBOS >= 200 and PLACEBO_LEVEL == 0.95
    for number in (0, 5, 11):
        edited_case = build_edited_case(predictor, number)
        tests = {test.row: test for test in placebo_tests(edited_case, edited_case.target)}
        expected = {row for row in ROWS if row not in OPAQUE_ROWS} | {"graph_token"}
        assert set(tests) == (expected if kind == "evidence" else {"own_visits", "graph_token"})
        for row, test in tests.items():
            assert len(test.placebos) == NUM_PLACEBOS and len(set(test.placebos)) > 1
            assert test.points == pytest.approx(table[f"points_{row}"][number], abs=1e-9)
            side = -1 if test.points < 0 else 1
            beaten = np.mean(side * np.array(test.placebos) < side * test.points - 1e-12)
            assert test.beaten == pytest.approx(beaten)
        again = placebo_tests(edited_case, edited_case.target)
        assert [test.placebos for test in again] == [test.placebos for test in tests.values()]


def test_people_are_counted_behind_paths() -> None:
    """Distinct walkers over both halves, by hand from the check-ins; one person's trips are called so."""
    predictor = small_predictor()
    checkins = predictor.dataset.checkins
    poi, user = checkins[c.POI].to_numpy(), checkins[c.USER].to_numpy()
    rows = predictor.dataset.cases(c.TRAIN)
    lonely = 0
    for number in range(len(predictor.cases)):
        edited_case = build_edited_case(predictor, number)
        target, everyone = edited_case.target, set[int]()
        for path, people in zip(two_hop_paths(edited_case, target), path_people(edited_case, target), strict=True):
            legs = [(edited_case.source, path.middle), (path.middle, target)]
            walkers = [user[row] for row in rows for leg in legs if (poi[row], poi[row + 1]) == leg]
            assert (people.people, people.trips) == (len(set(walkers)), path.count_in + path.count_out)
            assert (people.stamp == ONE_PERSON) == (people.people == 1)
            everyone |= set(walkers)
            lonely += people.people == 1
        behind = row_people(edited_case, target).get("graph_token")
        assert (0 if behind is None else behind.people) == len(everyone)
    assert lonely


def test_exact_share_of_a_margin() -> None:
    """Exact parts +2 and -1, core +1: three of four points; no difference at all is wholly explained."""
    (entry,) = decompose_scores(build_edited_case(small_predictor(), 0), [0])
    zero = dict.fromkeys(("count", "recency", "window", "clip_loss", "core", "correction"), 0.0)
    rival = entry.model_copy(update={**zero, "evidence_terms": {}})
    place = rival.model_copy(update={"count": 2.0, "core": 1.0, "evidence_terms": {"distance": -1.0}})
    assert exact_share(place, rival) == pytest.approx(0.75) and exact_share(rival, rival) == 1.0


def test_permuted_weights_move_what_rests_on_them() -> None:
    """Permuting the core moves core points and no exact row; permuting the token moves the token."""
    predictor = small_predictor(evidence=EvidenceConfig())
    base = describe_removals(predictor, predictor.cases)
    core = describe_removals(permute_weights(predictor, ["core"]), predictor.cases)
    token = describe_removals(permute_weights(predictor, ["graph_token"]), predictor.cases)
    for row in ROWS:
        same = np.allclose(core[f"points_{row}"], base[f"points_{row}"], atol=1e-12)
        assert same == (row != "core"), row
    assert not np.allclose(token["points_graph_token"], base["points_graph_token"], atol=1e-3)
    assert np.allclose(token["points_two_hop_addends"], base["points_two_hop_addends"], atol=1e-12)


def test_the_report_tells_low_results_plainly() -> None:
    """Shares of what was measured, nothing where it was not; the table, the card and the sentences agree."""
    predictor, siblings = planted(signal=True)
    report = sanity_report(predictor, seeds=siblings, sample=6)
    row = next(entry for entry in report.rows if entry.row == "two_hop_addends")
    assert (report.n, report.seeds, row.n) == (6, 5, 6) and row.holds == row.better_than_placebo == 1.0
    alone = sanity_report(predictor, sample=6)
    row = next(entry for entry in alone.rows if entry.row == "two_hop_addends")
    assert alone.seeds == 1 and row.holds is None and row.same_sign is None
    card = sanity_markdown(alone)
    assert card.splitlines()[0] + " A" == sanity_markdown(alone, "A").splitlines()[0]
    assert NO_SEEDS in card and all(name in card for name in COLUMNS) and len(table_rows(alone)) == len(alone.rows)
    assert describe_sanity(alone)[0].startswith("Over 6 test cases, 200 placebos each, seeds not measured.")
    assert NO_PLACEBO == "no better than placebo" and not summarise_stamps([])


def test_tied_places_count_by_chance() -> None:
    """A model that cannot tell any two places apart has the truth among its first 20 as often as chance does."""
    predictor = predictor_with(
        two_hop_city(signal=False), lambda model: with_weight(model, 0.0), evidence=EvidenceConfig()
    )
    (permuted, *_) = sanity_report(predictor, sample=2, placebos=2).permuted
    assert permuted.hr20 == permuted.hr20_permuted == pytest.approx(20 / predictor.dataset.num_pois)


def test_permuted_labels_keep_how_often_places_are_visited() -> None:
    """Training check-ins draw each other's places; validation and test stay, and so does every count of a place."""
    dataset = small_city()
    permuted = permute_labels(dataset, 1)
    assert permuted.hash != dataset.hash
    before, after = dataset.checkins[c.POI], permuted.checkins[c.POI]
    assert before.value_counts().equals(after.value_counts().reindex(before.value_counts().index))
    assert (before != after).sum() > len(before) / 3
    rows = dataset.cases(c.TEST) + 1
    assert (before.iloc[rows].to_numpy() == after.iloc[rows].to_numpy()).all()


def test_siblings_are_trained_measured_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two more seeds beside a checkpoint; their tables are kept under its hash, and a bundle's are read too."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    dataset = small_city()
    config = small_training(curriculum={"staged": False}, epochs=1, batch_size=4096)
    checkpoint = train_checkpoint(dataset, config, tmp_path / "checkpoint")
    with pytest.raises(ConfigError, match="at least 2, got 1"):
        train_siblings(checkpoint, dataset, 1, torch.device("cpu"), lambda _: None)
    told: list[str] = []
    for _ in range(2):  # the second time there is nothing to do
        train_siblings(checkpoint, dataset, 3, torch.device("cpu"), told.append)
    seeds = [config.seed + 1, config.seed + 2]
    assert told == [f"Training seed {seed}" for seed in seeds]
    tables = measure_siblings(checkpoint, dataset)
    assert list(tables) == seeds
    sibling = Predictor.load(siblings_folder(checkpoint) / f"seed-{seeds[0]}", _saved(dataset, tmp_path / "data"))
    pd.testing.assert_frame_equal(tables[seeds[0]], describe_removals(sibling, sibling.cases))
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
    permuted = train_on_permuted_labels(checkpoint, dataset, torch.device("cpu"), told.append)
    assert told[-1] == "Training on permuted labels" and permuted.dataset.hash == dataset.hash
    other = train_checkpoint(dataset, config.override(["batch_size=64"]), tmp_path / "checkpoint-siblings" / "seed-9")
    assert other.manifest.train.seed == config.seed
    with pytest.raises(ConfigError, match="differs in more than its seed"):
        measure_siblings(checkpoint, dataset)


def _saved(dataset: Dataset, folder: Path) -> Path:
    dataclasses.replace(dataset).save(folder)
    return folder
