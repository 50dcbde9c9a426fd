"""Records: one row per case, what is known of it and how a scorer ranked its target, in bounded memory."""

import weakref
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from recap import columns as c
from recap.baselines.counting import VisitCount
from recap.data.dataset import Dataset
from recap.errors import RecapError, ScoreError
from recap.evaluation import scoring
from recap.evaluation.cases import describe_cases
from recap.evaluation.metrics import GAP_GROUPS
from recap.evaluation.records import read_records, write_records
from recap.evaluation.scoring import evaluate, rank_cases, score_cases
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors, Histories
from recap.scores import Scores
from tests.checkins import START, split_dataset
from tests.worlds import small_city

TRAIN, TEST = c.TRAIN, c.TEST

# Rows 0-2: user 0 trains on 0 1 2, rows 3-6: and is tested on 2 -> 0 -> 3 -> 2. Rows 7-9: user 1 trains on 1 3 1.
# Train transitions: 0->1, 1->2, 1->3, 3->1. Two steps from 0: 0->1->2 and 0->1->3; from 3: 3->1->2 and 3->1->3.
WALKS = [
    (0, [(0, TRAIN), (1, TRAIN), (2, TRAIN)]),
    (0, [(2, TEST), (0, TEST), (3, TEST), (2, TEST)]),
    (1, [(1, TRAIN), (3, TRAIN), (1, TRAIN)]),
]


@cache
def world() -> tuple[Dataset, TransitionGraph]:
    dataset = split_dataset(WALKS, num_pois=4)
    dataset.pois[c.TRAIN_CHECKINS] = [1, 3, 1, 1]
    return dataset, TransitionGraph.from_dataset(dataset)


class Broken:
    """Scores every POI by its number, except that one of the last case is not a number."""

    name, reads_target_time = "broken", False

    def score(self, batch: Histories) -> Scores:
        total = torch.arange(4.0).repeat(len(batch), 1)
        total[-1, 1] = torch.nan
        return Scores({"number": total})


def test_cases_are_described_by_hand() -> None:
    """Cases (3, 4), (4, 5), (5, 6): 2 -> 0, 0 -> 3, 3 -> 2."""
    cases = describe_cases(*world())
    assert cases["case"].tolist() == [0, 1, 2]
    assert cases["row"].tolist() == cases["position"].tolist() == [3, 4, 5]
    assert cases["user"].tolist() == [0, 0, 0]
    assert cases["trajectory"].tolist() == [1, 1, 1]
    assert cases["time"].tolist() == [START + pd.Timedelta(hours=hours) for hours in (3, 4, 5)]
    assert cases["source"].tolist() == [2, 0, 3]
    assert cases["target"].tolist() == [0, 3, 2]
    assert cases["transition_count"].tolist() == [0, 0, 0]
    assert cases["destination_count"].tolist() == [1, 1, 1]
    # 0 and 2 were visited in training, 3 never by user 0.
    assert cases["in_history"].tolist() == [True, False, True]
    # 2 leads nowhere; 0 -> 1 -> 3 and 3 -> 1 -> 2 take two steps.
    assert cases["within_two_hops"].tolist() == [False, True, True]
    assert cases["two_step_walk"].tolist() == [False, True, True]
    last = describe_cases(*world(), protocol="trajectory_last")
    assert (last["case"].item(), last["row"].item()) == (2, 5), "its number under any protocol"


def test_what_a_scorer_said_of_each_case() -> None:
    """Visit count at 2 -> 0: user 0 was at 0 once, 1 once, 2 twice; 0 ties with 1, which is more popular."""
    dataset, _ = world()
    records = score_cases(VisitCount(dataset), describe_cases(*world()), CheckinTensors.from_dataset(dataset))
    first = records.iloc[0]
    assert (first["num_better"], first["num_tied"], first["rank"], first["reciprocal_rank"]) == (2, 1, 3.0, 1 / 3)
    assert (first["score"], first["part_rest"], first["part_visits"]) == (1.0, 0.0, 1.0)
    assert first["top_pois"].tolist() == [2, 1, 0, 3]
    assert first["top_scores"].tolist() == [2.0, 1.0, 1.0, 0.0]
    # At 0 -> 3 the target was never visited: behind 0 (2 visits), 2 (2) and 1 (1).
    assert records["rank"].tolist()[1] == 4.0
    assert records["part_visits"].tolist()[1] == 0.0


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, _ = world()
    cases, checkins = describe_cases(*world()), CheckinTensors.from_dataset(dataset)
    all_ = score_cases(VisitCount(dataset), cases, checkins)
    monkeypatch.setattr(scoring, "_MOST_SCORES", 1)
    one = score_cases(VisitCount(dataset), cases, checkins)
    pd.testing.assert_frame_equal(one, all_)
    ranked = rank_cases(VisitCount(dataset), cases, checkins)
    pd.testing.assert_frame_equal(ranked, all_[ranked.columns])


def test_long_pasts_are_scored_in_smaller_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch's pasts pass the limit by one past at most; every case is scored once, in order."""
    city = small_city()
    rows, checkins = torch.from_numpy(city.cases(c.TEST, "every_next")), CheckinTensors.from_dataset(city)
    monkeypatch.setattr(scoring, "_MOST_CHECKINS", 60)
    batches = list(scoring.bounded_batches(rows, checkins))
    assert torch.equal(torch.cat(batches), rows) and 1 < len(batches) < len(rows)
    pasts = [row_B - checkins.first_T[row_B] + 1 for row_B in batches]
    assert all(int(past_B.sum()) <= 60 + int(past_B[0]) for past_B in pasts)


def test_nan_is_refused_and_nothing_ranked() -> None:
    with pytest.raises(ScoreError, match="'broken' returned NaN for 1 of 3 cases"):
        evaluate(Broken(), *world())


def test_evaluation_sums_up_its_records() -> None:
    """Group sizes are those of the records, hashes and protocol those asked for."""
    evaluation = evaluate(VisitCount(world()[0]), *world(), protocol="trajectory_last")
    summary = evaluation.summary()
    assert (summary["model"], summary["protocol"]) == ("visit_count", "trajectory_last")
    assert summary["dataset_hash"] == "0" * 64
    assert [summary[group]["n"] for group in ("all", "head", "tail", "unseen")] == [1, 0, 1, 1]
    assert summary["all"]["mrr"] == pytest.approx(evaluation.records["reciprocal_rank"].mean())
    assert evaluation.seconds > 0


def test_a_draw_of_cases_is_part_of_all_of_them() -> None:
    """Two of three cases, each as it is among all, and said so; as many as there are, or more, is all of them."""
    every = describe_cases(*world())
    drawn = describe_cases(*world(), most=2)
    assert len(drawn) == 2
    pd.testing.assert_frame_equal(drawn, every[every["row"].isin(drawn["row"])].reset_index(drop=True))
    pd.testing.assert_frame_equal(describe_cases(*world(), most=3), every)
    some, whole = (evaluate(VisitCount(world()[0]), *world(), most=most) for most in (2, 3))
    assert (some.drawn_from, some.summary()["drawn_from"], some.summary()["all"]["n"]) == (3, 3, 2)
    assert whole.drawn_from is None and "drawn_from" not in whole.summary()


def test_records_survive_the_disk_with_their_metadata(tmp_path: Path) -> None:
    records = evaluate(VisitCount(world()[0]), *world()).records
    metadata = {"dataset_hash": "0" * 64, "protocol": "every_step", "model": "visit_count"}
    path = tmp_path / "new folder" / "records.parquet"
    write_records(records, path, metadata)
    again, found = read_records(path)
    assert found == metadata
    again["time"] = again["time"].astype(records["time"].dtype)  # Parquet knows no whole seconds
    lists = ["top_pois", "top_scores"]
    pd.testing.assert_frame_equal(again.drop(columns=lists), records.drop(columns=lists))
    for name in lists:
        np.testing.assert_array_equal(np.stack(again[name].tolist()), np.stack(records[name].tolist()))
    assert [file.name for file in path.parent.iterdir()] == ["records.parquet"]


def test_refuses_what_is_no_records_file(tmp_path: Path) -> None:
    """Text with a Parquet name, and a file that is not there."""
    path = tmp_path / "records.parquet"
    path.write_text("no parquet")
    for wrong in (path, tmp_path / "missing.parquet"):
        with pytest.raises(RecapError, match="is not a records file"):
            read_records(wrong)


def test_every_next_is_split_by_the_gap_before_it() -> None:
    """A day's gap still counts as up to 24 hours, a minute more does not; both groups add up to all."""
    times = START + pd.to_timedelta([0, 1, 25, 25 + 24 + 1 / 60], unit="h")
    table = {c.USER: [0] * 4, c.POI: [0, 1, 0, 1], c.TIME: times, c.TRAJECTORY: [0, 0, 0, 1], c.SPLIT: [0, 2, 2, 2]}
    dataset, graph = world()
    checkins = pd.DataFrame(table).assign(**{c.TZ_OFFSET_MINUTES: [0] * 4, c.SOURCE_ROW: range(4)})
    checkins = checkins.astype({name: kind for name, kind in dataset.checkins.dtypes.items() if name in checkins})
    dataset = Dataset(checkins, dataset.pois, dataset.users, dataset.manifest)
    evaluation = evaluate(VisitCount(dataset), dataset, graph, protocol="every_next")
    assert evaluation.records["gap_hours"].tolist() == pytest.approx([1, 24, 24 + 1 / 60])
    counts = {name: values["n"] for name, values in evaluation.metrics.items() if name in ("all", *GAP_GROUPS)}
    assert counts == {"all": 3, "gap_up_to_24h": 2, "gap_over_24h": 1}
    assert "gap_hours" not in evaluate(VisitCount(dataset), dataset, graph).records


def test_the_scores_of_one_batch_are_gone_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ranks holds the parts and totals of one batch at a time."""
    dataset, _ = world()
    alive: list[int] = []
    made: list[weakref.ref[Scores]] = []

    class Watching(VisitCount):
        def score(self, histories: Histories) -> Scores:
            alive.append(sum(1 for reference in made if reference() is not None))
            made.append(weakref.ref(scores := super().score(histories)))
            return scores

    monkeypatch.setattr(scoring, "_MOST_SCORES", 2 * dataset.num_pois)  # batches of two
    for rank in (score_cases, rank_cases):
        rank(Watching(dataset), pd.DataFrame({"row": [3] * 6}), CheckinTensors.from_dataset(dataset))
    assert alive == [0] * 6
