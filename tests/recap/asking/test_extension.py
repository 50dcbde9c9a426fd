"""Later check-ins join a dataset, which keeps all that training knew; what evaluation cannot use is stored apart."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from recap import columns as c
from recap.asking.extension import extend_dataset
from recap.asking.open_model import open_for_prediction
from recap.asking.prediction import choose, predict
from recap.data.dataset import TABLES, Dataset, hash_tables
from recap.data.inspection import dataset_card
from recap.data.preparation import prepare_dataset
from recap.data.schema import check_tables
from recap.errors import ChecksumError, DataError, DatasetError
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors, Histories
from recap.machine.printable import markdown_text
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from recap.training.run import train
from tests.checkins import LENIENT, raw_table, small_dataset
from tests.recap.published.variants import small_config
from tests.worlds import CURVES, habit_rows, small_city, small_recap


def raw_rows(dataset: Dataset, rows: np.ndarray) -> pd.DataFrame:
    """Some check-ins of a dataset as a reader would return them."""
    table = dataset.checkins.iloc[rows].reset_index(drop=True)
    places = dataset.pois.iloc[table[c.POI]].reset_index(drop=True)
    users = dataset.users.iloc[table[c.USER]].reset_index(drop=True)
    described = places[[c.POI_ID, c.CATEGORY_ID, c.CATEGORY, c.LATITUDE, c.LONGITUDE]]
    return pd.concat([users, described, table[[c.TZ_OFFSET_MINUTES, c.TIME]]], axis=1)


def shortened(dataset: Dataset, dropped: np.ndarray) -> Dataset:
    """The dataset without some users' last rows."""
    left = dataset.checkins[~dataset.checkins.index.isin(dropped)].reset_index(drop=True)
    return Dataset(left, dataset.pois, dataset.users, dataset.manifest)


def last_rows(dataset: Dataset, users: list[int], count: int = 2) -> np.ndarray:
    user = dataset.checkins[c.USER].to_numpy()
    return np.concatenate([np.flatnonzero(user == one)[-count:] for one in users])


def test_what_was_cut_off_comes_back() -> None:
    """Three users' last two test check-ins, in the file's reverse order of users: the table is the one before."""
    city = small_city()
    tested = city.checkins[city.checkins[c.SPLIT] == c.TEST].groupby(c.USER).size()
    dropped = last_rows(city, tested.index[tested >= 2].tolist()[:3])
    raw = raw_rows(city, np.concatenate([dropped[4:], dropped[:4]]))
    data, added = extend_dataset(shortened(city, dropped), raw)
    assert added == "Added 6 check-ins and 0 new users."
    same = [c.USER, c.POI, c.TIME, c.TZ_OFFSET_MINUTES, c.TRAJECTORY, c.SPLIT]
    pd.testing.assert_frame_equal(data.checkins[same], city.checkins[same])
    assert np.flatnonzero(data.checkins[c.HISTORY_ONLY]).tolist() == dropped.tolist()
    check_tables("extended", **{name: getattr(data, name) for name in TABLES})


def test_unknown_users_and_places_follow_the_known_ones() -> None:
    """Hours 0 to 2 are known; one row repeats, two users and a place of a new category are unknown."""
    known = small_dataset([("u", "a0", 0), ("u", "b0", 1), ("u", "a0", 2), ("v", "a0", 0), ("v", "b0", 1)])
    raw = raw_table([("y", "a0", 9), ("v", "b0", 1), ("x", "z0", 7), ("u", "z0", 30), ("u", "b0", 5), ("v", "a0", 3)])
    data, added = extend_dataset(known, raw)
    assert data.users[c.USER_ID].tolist() == ["u", "v", "x", "y"]
    assert data.pois[c.POI_ID].tolist() == ["a0", "b0", "z0"]
    assert data.pois[c.CATEGORY_INDEX].tolist() == [0, 1, 2] and data.pois[c.TRAIN_CHECKINS].iloc[2] == 0
    assert data.pois[c.LATITUDE].iloc[2] == raw[c.LATITUDE].iloc[2]
    assert "".join(data.pois[c.POI_ID].iloc[poi][0] for poi in data.checkins[c.POI]) == "ababzabaza"
    assert data.checkins[c.TRAJECTORY].tolist() == [0, 0, 0, 0, 1, 2, 2, 2, 3, 4]  # 25 hours between b0 and z0
    check_tables("extended", **{name: getattr(data, name) for name in TABLES})
    assert added == (
        "Added 5 check-ins and 2 new users; ignored 1 row up to their user's last known check-in; 2 visits to 1 "
        "place outside the data set, which only models with curves predict."
    )


def test_within_one_second_the_file_decides() -> None:
    known = small_dataset([("u", "a0", 0), ("u", "b0", 1), ("u", "a0", 2)])
    data, _ = extend_dataset(known, raw_table([("u", "b0", 3), ("u", "a0", 3), ("u", "b0", 3)]))
    assert data.checkins[c.POI].tolist()[-3:] == [1, 0, 1]


def test_a_file_older_than_the_data_set_is_refused() -> None:
    known = small_dataset([("u", "a0", 0), ("u", "b0", 1), ("u", "a0", 2)])
    with pytest.raises(DataError, match=r"none of the 2 check-ins is later than its user's last one in the data set"):
        extend_dataset(known, raw_table([("u", "b0", 1), ("u", "b0", 2)]))


def test_known_users_score_known_places_as_before() -> None:
    """A new user with a new place of a new category leaves every curve feature of others as it was, to the last bit."""
    city = small_city()
    raw = raw_table([("stranger", "q9", 5_000), ("stranger", "a0", 5_001), ("stranger", "b1", 5_002)])
    data, _ = extend_dataset(city, raw)
    model = small_recap(city, core_scope="nowhere", use_correction=False, use_graph=False, **CURVES)
    assert not model.config.has_encoder
    larger = Recap(model.config, data, TransitionGraph.from_dataset(data), torch.float64)
    larger.load_state_dict(model.state_dict())
    rows = torch.from_numpy(city.cases(c.TEST))
    before, after = (
        RecapScorer(recap, Stage()).score(Histories(CheckinTensors.from_dataset(dataset), rows)).total
        for recap, dataset in ((model, city), (larger, data))
    )
    assert torch.equal(after[:, : city.num_pois], before)
    stranger = Histories(CheckinTensors.from_dataset(data), len(data.checkins) - torch.tensor([3, 1]))
    assert torch.isfinite(RecapScorer(larger, Stage()).score(stranger).total).all()
    from_here_BK = larger.curves.features.of(stranger).by_category_JBK[1]
    assert from_here_BK[0].abs().max() < 1e-12 < from_here_BK[1].abs().max()  # nothing is known of the new category


KNOWN = [(user, "abc"[hour % 3], hour + late) for user, late in (("u", 0.0), ("v", 0.5)) for hour in range(30)]
"""Two users; training ends at hour 24."""
UNSEEN = [("u", "new", 26.2), ("v", "other", 30.7), ("x", "a", 28.1), ("x", "new", 29.9), ("u", "b", 60.0)]
"""A stop between two known ones, a last stop, a new user, and at the end a known place after a long gap."""


def prepared(rows: list[tuple[str, str, float]]) -> Dataset:
    return prepare_dataset(raw_table(rows), LENIENT, name="small", source_format="test")


def test_evaluation_does_not_see_them() -> None:
    """Users, places, cases and the hash are those of a table without them; the report counts them."""
    rows = KNOWN + UNSEEN
    data = prepared(rows)
    assert data.unseen is not None and data.users[c.USER_ID].tolist() == ["u", "v"]
    assert list(zip(data.unseen[c.USER_ID], data.unseen[c.POI_ID], strict=True)) == [
        row[:2] for row in (UNSEEN[0], *UNSEEN[1:4])
    ]
    assert data.unseen[c.SOURCE_ROW].tolist() == [60, 61, 62, 63]
    report = data.manifest.report
    assert report.dropped["unseen_user"] == 2 and report.dropped["unseen_poi"] == 2
    assert data.unseen_line == (
        "Evaluation leaves out 4 check-ins: 1 user and 2 places are not in training. Predictions use them."
    )
    assert markdown_text(data.unseen_line) in dataset_card(data)
    assert prepared(KNOWN).unseen is None and prepared(KNOWN).unseen_line == ""


def test_predictions_see_every_row_in_order() -> None:
    """Sorted by user, time and file; trajectories are cut at the gaps of the whole file; splits are the file's."""
    data = prepared(KNOWN + UNSEEN)
    whole, _ = extend_dataset(data)
    check_tables("whole", **{name: getattr(whole, name) for name in TABLES})
    ids = [
        whole.users[c.USER_ID].to_numpy()[whole.checkins[c.USER]],
        whole.pois[c.POI_ID].to_numpy()[whole.checkins[c.POI]],
    ]
    expected = sorted(KNOWN + UNSEEN, key=lambda row: (row[0], row[2]))
    assert list(zip(*ids, strict=True)) == [row[:2] for row in expected]
    assert whole.checkins[c.TRAJECTORY].nunique() == 4  # u, u after 34 hours, v, x
    assert whole.checkins[c.HISTORY_ONLY].sum() == 4 and set(whole.checkins[c.SPLIT]) == {0, 1, 2}
    assert whole.extends == data.hash != whole.hash
    assert whole.poi_labels[-1].endswith("(never visited in training)") and "never" not in whole.poi_labels[0]


def test_the_folder_holds_them(tmp_path: Path) -> None:
    """A folder without them opens as before; a changed, missing or impossible table is refused."""
    data = prepared(KNOWN + UNSEEN)
    data.save(tmp_path / "with")
    opened = Dataset.load(tmp_path / "with")
    assert opened.unseen is not None and data.unseen is not None and opened.hash == data.hash
    pd.testing.assert_frame_equal(opened.unseen, data.unseen, check_dtype=False)
    prepared(KNOWN).save(tmp_path / "without")
    assert Dataset.load(tmp_path / "without").unseen is None
    assert not (tmp_path / "without" / "unseen.parquet").exists()
    (tmp_path / "with" / "unseen.parquet").unlink()
    with pytest.raises(ChecksumError, match=r"unseen\.parquet is missing"):
        Dataset.load(tmp_path / "with")
    for column, value, expected in ((c.LATITUDE, 91.0, "-90 to 90"), (c.SPLIT, 0, "1 to 2")):
        forged = data.unseen.assign(**{column: value})
        manifest = data.manifest.model_copy(update={"unseen_hash": hash_tables(forged)})
        replace(data, unseen=forged, manifest=manifest).save(tmp_path / column)
        with pytest.raises(DatasetError, match=expected):
            Dataset.load(tmp_path / column)


@pytest.mark.parametrize("name", ["pretrained", "visit_count"])
def test_predictions_are_those_with_the_files_own_checkins(name: str) -> None:
    """The same users, last stops and lists, whether the dataset or the file gives the last check-ins."""
    rows = habit_rows(num_users=12, num_walks=12)
    late = max(hour for _, _, hour in rows)
    begins = [("late", poi, late + at) for at, poi in enumerate(["a0", "b0", "fresh"])]
    raw = raw_table([*rows, *begins, ("user0", "elsewhere", late + 5)])
    data = prepare_dataset(raw, LENIENT, name="habits", source_format="test")
    (alone, quiet), (added, said) = open_for_prediction(name, data), open_for_prediction(name, data, raw)
    found, again = (pd.concat(list(predict(model, choose(model)))) for model in (alone, added))
    pd.testing.assert_frame_equal(found, again)
    assert quiet == [] and said[0].startswith("Added 0 check-ins and 0 new users; ignored")
    assert set(found[c.USER_ID]) == set(raw[c.USER_ID])
    km = found.groupby(c.USER_ID)["km"].min()
    assert (name == "pretrained") == ("fresh" in set(found[c.POI_ID])) == (km["late"] == 0)


def test_a_model_that_knows_its_users_by_heart_goes_on_without_them(tmp_path: Path) -> None:
    data = prepared([*habit_rows(), ("stranger", "a0", 9_000.0)])
    assert train(data, small_config("lotnext").with_epochs(1), tmp_path / "lotnext", device=torch.device("cpu"))
    opened, (note,) = open_for_prediction(tmp_path / "lotnext", data)
    assert len(choose(opened)) == data.num_users
    assert note.endswith(
        "knows only users and places of its training, so it does not use 1 check-in that evaluation leaves out."
    )
