"""Check-ins that evaluation cannot use are stored apart: cases and histories lack them, predictions have them."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from recap import columns as c
from recap.asking.open_model import open_for_prediction
from recap.asking.prediction import choose, predict
from recap.data.card import dataset_card
from recap.data.dataset import TABLES, Dataset, hash_tables
from recap.data.extension import extend_dataset
from recap.data.preparation import prepare_dataset
from recap.data.schema import check_tables
from recap.errors import ChecksumError, DatasetError
from recap.machine.printable import markdown_text
from recap.training.run import train
from tests.checkins import LENIENT, raw_table
from tests.recap.published.variants import small_config
from tests.worlds import habit_rows

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
    whole = extend_dataset(data).dataset
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
        "knows users and places of training only and does without 1 check-in that evaluation leaves out."
    )
