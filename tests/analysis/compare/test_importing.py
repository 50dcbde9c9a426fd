"""Predictions from elsewhere: exact ranks within a list, every fault counted, nothing guessed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.compare.importing import ImportReport, import_predictions
from analysis.records.accuracy import metric_values
from analysis.records.imported import find_predictions, keep_predictions, shown_name
from analysis.workspace import Workspace
from recap import columns as c
from recap.errors import ConfigError, DataError
from tests.worlds import small_city

Import = Callable[..., tuple[pd.DataFrame, ImportReport, str]]


@pytest.fixture(scope="module")
def city() -> Workspace:
    """The small city."""
    return Workspace.of(small_city())


@pytest.fixture
def imported(city: Workspace, tmp_path: Path) -> Import:
    """Imports rows from a CSV, or Parquet where places are indices."""

    def write_and_import(rows: pd.DataFrame, **options: Any) -> tuple[pd.DataFrame, ImportReport, str]:
        path = tmp_path / "predictions"
        _ = rows.to_parquet(path) if c.POI in rows else rows.to_csv(path, index=False)
        return import_predictions(path, city, **options)

    return write_and_import


@pytest.fixture(scope="module")
def rows(city: Workspace) -> pd.DataFrame:
    """Every place of every case, best first, by the visit counter."""
    scored = city.with_model("visit_count").score()
    places = scored.set_index(c.CASE)[c.TOP_POIS].explode().reset_index(name=c.POI)
    ids = city.dataset.pois[c.POI_ID].astype(str).to_numpy()[places[c.POI].to_numpy(np.int64)]
    return pd.DataFrame({c.CASE: places[c.CASE], c.POI_ID: ids, c.SCORE: -1.0 * places.groupby(c.CASE).cumcount()})


def indices(city: Workspace, rows: pd.DataFrame) -> np.ndarray:
    """Our index of each place."""
    return np.asarray(pd.Index(city.dataset.pois[c.POI_ID].astype(str)).get_indexer(pd.Index(rows[c.POI_ID])))


def test_ranks_are_those_of_the_lists(city: Workspace, rows: pd.DataFrame, imported: Import) -> None:
    """Lists of the ten best: hits at 1, 5 and 10 are the counter's own wherever it has no ties at the truth."""
    short = rows.groupby(c.CASE).head(10)
    records, report, digest = imported(short)
    is_truth = indices(city, rows) == city.cases[c.TARGET].to_numpy()[rows[c.CASE]]
    true_rank = (1 - rows[is_truth].set_index(c.CASE)[c.SCORE]).reindex(range(len(city.cases)), fill_value=10**6)
    for k in (1, 5, 10):
        assert metric_values(records, f"hr{k}").tolist() == (true_rank <= k).astype(float).tolist()
    assert (report.shortest, report.longest, report.cases) == (10, 10, len(city.cases))
    outside = records[~records[c.IN_LIST]]
    assert report.findings["not_in_list"].count == len(outside) > 0
    assert (outside[c.RANK] == city.dataset.num_pois).all()  # behind every place: no hit, MRR a lower bound
    with pytest.raises(ConfigError, match="shortest list has 10 places"):
        metric_values(records, "hr20")
    assert imported(short.sample(frac=1, random_state=0))[2] == digest


def test_ties_are_exact(city: Workspace, rows: pd.DataFrame, imported: Import) -> None:
    """Three equal scores with the truth among them: better 0, tied 3, mean rank 2, and the report counts the case."""
    ids = city.dataset.pois[c.POI_ID].astype(str)
    target = ids[int(city.cases[c.TARGET].iloc[0])]
    places = [target, *ids[ids != target][:3]]
    tied = pd.DataFrame({c.CASE: 0, c.POI_ID: places, c.SCORE: [5.0, 5.0, 5.0, 1.0]})
    records, report, _ = imported(pd.concat([tied, rows[rows[c.CASE] > 0]]))
    assert records.iloc[0][[c.NUM_BETTER, c.NUM_TIED, c.RANK]].tolist() == [0, 3, 2.0]
    assert report.findings["ties"].examples == ("0",) and report.findings["ties_with_truth"].count == 1
    assert report.findings["ties_at_the_end"].count == 0


def test_every_fault_is_counted_with_examples(rows: pd.DataFrame, imported: Import) -> None:
    """One line with all of them, and nothing imported."""
    places = ["nowhere", rows[c.POI_ID][rows[c.CASE] == 1].iloc[0], "zoo", "zoo"]
    scores = ["0.5", "0.1", "nan", "0.5"]
    bad = pd.DataFrame({c.CASE: [1, 1, 2, 99_999], c.POI_ID: places, c.SCORE: scores})
    with pytest.raises(DataError) as refused:
        imported(pd.concat([rows[rows[c.CASE] > 0].astype({c.SCORE: str}), bad]))
    for part in (
        "1 rows of cases that the dataset does not have (99999, …)",
        "1 scores that are not finite numbers (2, …)",
        "1 rows with places that the dataset does not know (nowhere, …)",
        "1 cases with one place twice (1, …)",
        "1 test cases without a list (0, …)",
    ):
        assert part in str(refused.value)
    assert "\n" not in str(refused.value)


def test_options_say_what_to_do(rows: pd.DataFrame, imported: Import) -> None:
    """A missing case counts as not found, an unknown place is left out, only where an option says so."""
    later = rows[rows[c.CASE] > 0]
    extra = pd.DataFrame({c.CASE: [1], c.POI_ID: ["nowhere"], c.SCORE: [9.0]})
    records, report, _ = imported(pd.concat([later, extra]), missing_as_miss=True, drop_unknown=True)
    assert not records[c.IN_LIST].iloc[0] and metric_values(records, "hr10")[0] == 0.0
    assert report.findings["missing_cases"].count == report.findings["unknown_pois"].count == 1
    assert records[c.RANK].tolist() == imported(later, missing_as_miss=True)[0][c.RANK].tolist()


def test_indices_mean_the_same_places(city: Workspace, rows: pd.DataFrame, imported: Import) -> None:
    records, _, digest = imported(rows.assign(poi=indices(city, rows)).drop(columns=c.POI_ID))
    expected, _, same = imported(rows)
    assert records[c.RANK].tolist() == expected[c.RANK].tolist() and digest == same


def test_a_rank_against_the_scores_is_refused(rows: pd.DataFrame, imported: Import) -> None:
    """A second place with a higher score than the first is a contradiction, not a choice of ours."""
    ranked = rows.assign(rank=1 - rows[c.SCORE])
    imported(ranked)
    ranked.loc[ranked[c.CASE] == 4, c.SCORE] *= -1
    with pytest.raises(DataError, match=r"1 cases whose rank column contradicts their scores \(4, …\)"):
        imported(ranked)


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "case,score\n0,1\n", "\0\1\2"])
def test_other_files_are_refused(city: Workspace, tmp_path: Path, content: str) -> None:
    """The line names the columns that there should be."""
    path = tmp_path / "predictions.csv"
    path.write_text(content)
    with pytest.raises(DataError, match="case, poi_id"):
        import_predictions(path, city)


def test_kept_by_dataset_and_found_by_name(city: Workspace, rows: pd.DataFrame, imported: Import, home: Path) -> None:
    """Kept records come back; the same content is kept once; a damaged file is left out; names are refused or found."""
    records, _, digest = imported(rows)
    kept = keep_predictions(records, city.dataset.hash, "theirs", digest)
    keep_predictions(records, city.dataset.hash, "renamed", digest)
    (found,) = find_predictions(city.dataset.hash)
    assert (found.key, found.name) == (kept.key, "renamed")
    read = found.read(len(city.cases))
    assert read[c.RANK].tolist() == records[c.RANK].tolist()
    assert np.array_equal(read[c.TOP_POIS].iloc[0], records[c.TOP_POIS].iloc[0])
    assert city.with_model("renamed").key == city.with_model(kept.key).key == kept.key
    assert find_predictions("0" * 64) == []
    with pytest.raises(ConfigError, match="neither a checkpoint folder nor one of"):
        city.with_model("theirs")
    for name in ("markov", "Markov", " \n "):
        with pytest.raises(ConfigError, match="should differ from all models"):
            shown_name(name)
    kept.path.write_bytes(b"PAR1 nothing")
    assert find_predictions(city.dataset.hash) == []


@pytest.mark.parametrize("listed", [5, 10, 20])
@pytest.mark.parametrize("drop", [False, True])
def test_places_numbered_from_one(
    listed: int, drop: bool, city: Workspace, rows: pd.DataFrame, imported: Import
) -> None:
    """Refused with that reason, whether or not the last place is in a list; dropping one row would keep the shift."""
    short = rows.groupby(c.CASE).head(listed)
    right = short.drop(columns=c.POI_ID).assign(**{c.POI: indices(city, short)})
    imported(right)
    with pytest.raises(DataError, match="every place index is one too high") as refused:
        imported(right.assign(**{c.POI: right[c.POI] + 1}), drop_unknown=drop)
    assert "--drop-unknown" not in str(refused.value)
