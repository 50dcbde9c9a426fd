"""Later check-ins join a dataset: histories grow, everything that training knew stays."""

import numpy as np
import pandas as pd
import pytest
import torch

from recap import columns as c
from recap.data.dataset import TABLES, Dataset
from recap.data.extension import extend_dataset
from recap.data.schema import check_tables
from recap.errors import DataError
from recap.history.graph import TransitionGraph
from recap.history.tensors import CheckinTensors, Histories
from recap.model.config import Stage
from recap.model.recap import Recap
from recap.model.scorer import RecapScorer
from tests.checkins import raw_table, small_dataset
from tests.worlds import CURVES, small_city, small_recap


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
    found = extend_dataset(shortened(city, dropped), raw)
    assert found.line == "Added 6 check-ins and 0 new users."
    same = [c.USER, c.POI, c.TIME, c.TZ_OFFSET_MINUTES, c.TRAJECTORY, c.SPLIT]
    pd.testing.assert_frame_equal(found.dataset.checkins[same], city.checkins[same])
    assert np.flatnonzero(found.dataset.checkins[c.HISTORY_ONLY]).tolist() == dropped.tolist()
    check_tables("extended", **{name: getattr(found.dataset, name) for name in TABLES})


def test_unknown_users_and_places_follow_the_known_ones() -> None:
    """Hours 0 to 2 are known; one row repeats, two users and a place of a new category are unknown."""
    known = small_dataset([("u", "a0", 0), ("u", "b0", 1), ("u", "a0", 2), ("v", "a0", 0), ("v", "b0", 1)])
    raw = raw_table([("y", "a0", 9), ("v", "b0", 1), ("x", "z0", 7), ("u", "z0", 30), ("u", "b0", 5), ("v", "a0", 3)])
    found = extend_dataset(known, raw)
    data = found.dataset
    assert data.users[c.USER_ID].tolist() == ["u", "v", "x", "y"]
    assert data.pois[c.POI_ID].tolist() == ["a0", "b0", "z0"]
    assert data.pois[c.CATEGORY_INDEX].tolist() == [0, 1, 2] and data.pois[c.TRAIN_CHECKINS].iloc[2] == 0
    assert data.pois[c.LATITUDE].iloc[2] == raw[c.LATITUDE].iloc[2]
    assert "".join(data.pois[c.POI_ID].iloc[poi][0] for poi in data.checkins[c.POI]) == "ababzabaza"
    assert data.checkins[c.TRAJECTORY].tolist() == [0, 0, 0, 0, 1, 2, 2, 2, 3, 4]  # 25 hours between b0 and z0
    check_tables("extended", **{name: getattr(data, name) for name in TABLES})
    assert found.line == (
        "Added 5 check-ins and 2 new users; ignored 1 row up to their user's last known check-in; 2 visits to 1 "
        "place outside the data set, which only models with curves predict."
    )


def test_within_one_second_the_file_decides() -> None:
    known = small_dataset([("u", "a0", 0), ("u", "b0", 1), ("u", "a0", 2)])
    data = extend_dataset(known, raw_table([("u", "b0", 3), ("u", "a0", 3), ("u", "b0", 3)])).dataset
    assert data.checkins[c.POI].tolist()[-3:] == [1, 0, 1]


def test_a_file_older_than_the_data_set_is_refused() -> None:
    known = small_dataset([("u", "a0", 0), ("u", "b0", 1), ("u", "a0", 2)])
    with pytest.raises(DataError, match=r"none of the 2 check-ins is later than its user's last one in the data set"):
        extend_dataset(known, raw_table([("u", "b0", 1), ("u", "b0", 2)]))


def test_known_users_score_known_places_as_before() -> None:
    """A new user with a new place of a new category leaves every curve feature of others as it was, to the last bit."""
    city = small_city()
    raw = raw_table([("stranger", "q9", 5_000), ("stranger", "a0", 5_001), ("stranger", "b1", 5_002)])
    data = extend_dataset(city, raw).dataset
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
