"""Predictions from elsewhere: exact ranks within a list, every fault counted, nothing guessed."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.compare.importing import import_predictions
from analysis.records.accuracy import metric_values
from analysis.records.imported import find_predictions, keep_predictions, shown_name
from analysis.workspace import Workspace
from recap import columns as c
from recap.errors import ConfigError, DataError
from tests.worlds import small_city


@pytest.fixture(scope="module")
def city() -> Workspace:
    """The small city."""
    return Workspace.of(small_city())


def whole_lists(city: Workspace) -> pd.DataFrame:
    """Every place of every case, best first, by the visit counter."""
    scored = city.with_model("visit_count").score()
    ids = city.dataset.pois[c.POI_ID].astype(str).to_numpy()
    rows = [
        (case, ids[poi], -float(at))
        for case, pois in zip(scored[c.CASE], scored[c.TOP_POIS], strict=True)
        for at, poi in enumerate(pois)
    ]
    return pd.DataFrame(rows, columns=[c.CASE, c.POI_ID, c.SCORE])


def written(rows: pd.DataFrame, tmp_path: Path) -> Path:
    """The rows as CSV."""
    path = tmp_path / "predictions.csv"
    rows.to_csv(path, index=False)
    return path


def test_ranks_are_those_of_the_lists(city: Workspace, tmp_path: Path) -> None:
    """Lists of the ten best: hits at 1, 5 and 10 are the counter's own wherever it has no ties at the truth."""
    rows = whole_lists(city)
    short = rows.groupby(c.CASE).head(10)
    records, report, digest = import_predictions(written(short, tmp_path), city)
    position = rows.assign(at=rows.groupby(c.CASE).cumcount() + 1)
    ids = city.dataset.pois[c.POI_ID].astype(str).to_numpy()
    truth = position[position[c.POI_ID] == ids[city.cases[c.TARGET].to_numpy()[position[c.CASE]]]]
    true_rank = truth.set_index(c.CASE)["at"].reindex(range(len(city.cases)), fill_value=10**6).to_numpy()
    for k in (1, 5, 10):
        assert metric_values(records, f"hr{k}").tolist() == (true_rank <= k).astype(float).tolist()
    assert (report.shortest, report.longest, report.cases) == (10, 10, len(city.cases))
    outside = records[~records[c.IN_LIST]]
    assert report.findings["not_in_list"].count == len(outside) > 0
    assert (outside[c.RANK] == city.dataset.num_pois).all()  # behind every place: no hit, MRR a lower bound
    with pytest.raises(ConfigError, match="shortest list has 10 places"):
        metric_values(records, "hr20")
    shuffled = short.sample(frac=1, random_state=0)
    assert import_predictions(written(shuffled, tmp_path), city)[2] == digest


def test_ties_are_exact(city: Workspace, tmp_path: Path) -> None:
    """Three equal scores with the truth among them: better 0, tied 3, mean rank 2, and the report counts the case."""
    rows = whole_lists(city)
    ids = city.dataset.pois[c.POI_ID].astype(str).to_numpy()
    target = ids[int(city.cases[c.TARGET].iloc[0])]
    others = [place for place in ids if place != target][:3]
    tied = pd.DataFrame({c.CASE: 0, c.POI_ID: [target, *others], c.SCORE: [5.0, 5.0, 5.0, 1.0]})
    records, report, _ = import_predictions(written(pd.concat([tied, rows[rows[c.CASE] > 0]]), tmp_path), city)
    first = records.iloc[0]
    assert [first[c.NUM_BETTER], first[c.NUM_TIED], first[c.RANK]] == [0, 3, 2.0]
    assert report.findings["ties"].examples == ("0",) and report.findings["ties_with_truth"].count == 1
    assert report.findings["ties_at_the_end"].count == 0


def test_every_fault_is_counted_with_examples(city: Workspace, tmp_path: Path) -> None:
    """One line with all of them, and nothing imported."""
    rows = whole_lists(city)
    bad = pd.DataFrame(
        {
            c.CASE: [1, 1, 2, 99_999],
            c.POI_ID: ["nowhere", rows[c.POI_ID][rows[c.CASE] == 1].iloc[0], "zoo", "zoo"],
            c.SCORE: ["0.5", "0.1", "nan", "0.5"],
        }
    )
    path = written(pd.concat([rows[rows[c.CASE] > 0].astype({c.SCORE: str}), bad]), tmp_path)
    with pytest.raises(DataError) as refused:
        import_predictions(path, city)
    line = str(refused.value)
    for part in (
        "1 rows of cases that the dataset does not have (99999, …)",
        "1 scores that are not finite numbers (2, …)",
        "1 rows with places that the dataset does not know (nowhere, …)",
        "1 cases with two lists, or with one place twice (1, …)",
        "1 test cases without a list (0, …)",
    ):
        assert part in line
    assert "\n" not in line


def test_options_say_what_to_do(city: Workspace, tmp_path: Path) -> None:
    """A missing case counts as not found, an unknown place is left out, only where an option says so."""
    rows = whole_lists(city)
    extra = pd.DataFrame({c.CASE: [1], c.POI_ID: ["nowhere"], c.SCORE: [9.0]})
    path = written(pd.concat([rows[rows[c.CASE] > 0], extra]), tmp_path)
    records, report, _ = import_predictions(path, city, missing_as_miss=True, drop_unknown=True)
    assert not records[c.IN_LIST].iloc[0] and metric_values(records, "hr10")[0] == 0.0
    assert report.findings["missing_cases"].count == report.findings["unknown_pois"].count == 1
    clean = import_predictions(written(rows[rows[c.CASE] > 0], tmp_path), city, missing_as_miss=True)[0]
    assert records[c.RANK].tolist() == clean[c.RANK].tolist()


def test_wide_parquet_and_indices(city: Workspace, tmp_path: Path) -> None:
    """Lists in one row a case, with our indices: the same records as the long file."""
    rows = whole_lists(city)
    index = {place: at for at, place in enumerate(city.dataset.pois[c.POI_ID].astype(str))}
    wide = rows.assign(pois=rows[c.POI_ID].map(index)).groupby(c.CASE).agg({"pois": list, c.SCORE: list})
    wide = wide.rename(columns={c.SCORE: "scores"}).reset_index()
    path = tmp_path / "wide.parquet"
    wide.to_parquet(path)
    records, _, digest = import_predictions(path, city)
    expected, _, same = import_predictions(written(rows, tmp_path), city)
    assert records[c.RANK].tolist() == expected[c.RANK].tolist() and digest == same
    pd.concat([wide, wide.iloc[[3]]]).to_parquet(path)
    with pytest.raises(DataError, match=r"1 cases with two lists, or with one place twice \(3, …\)"):
        import_predictions(path, city)
    wide.assign(scores=[scores[:-1] for scores in wide["scores"]]).to_parquet(path)
    with pytest.raises(DataError, match="both lists need the same length"):
        import_predictions(path, city)


def test_a_rank_against_the_scores_is_refused(city: Workspace, tmp_path: Path) -> None:
    """A second place with a higher score than the first is a contradiction, not a choice of ours."""
    rows = whole_lists(city)
    rows[c.RANK] = rows.groupby(c.CASE).cumcount() + 1
    import_predictions(written(rows, tmp_path), city)
    rows.loc[rows[c.CASE] == 4, c.SCORE] *= -1
    with pytest.raises(DataError, match=r"1 cases whose rank column contradicts their scores \(4, …\)"):
        import_predictions(written(rows, tmp_path), city)


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "case,score\n0,1\n", "\0\1\2"])
def test_other_files_are_refused(city: Workspace, tmp_path: Path, content: str) -> None:
    """The line names the columns that there should be."""
    path = tmp_path / "predictions.csv"
    path.write_text(content)
    with pytest.raises(DataError, match="case, poi_id"):
        import_predictions(path, city)


def test_kept_by_dataset_and_found_by_name(city: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept records come back; the same content is kept once; a damaged file is left out; names are refused or found."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path / "home"))
    records, _, digest = import_predictions(written(whole_lists(city), tmp_path), city)
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


@pytest.mark.parametrize("listed", [5, 10, None])
@pytest.mark.parametrize("drop", [False, True])
def test_places_numbered_from_one(listed: int | None, drop: bool, city: Workspace, tmp_path: Path) -> None:
    """Refused with that reason, whether or not the last place is in a list; dropping one row would keep the shift."""
    rows = whole_lists(city)
    rows = rows if listed is None else rows.groupby(c.CASE).head(listed)
    index = pd.Index(city.dataset.pois[c.POI_ID].astype(str)).get_indexer(pd.Index(rows[c.POI_ID]))
    right = rows.drop(columns=c.POI_ID).assign(**{c.POI: index})
    import_predictions(written(right, tmp_path), city)
    high = written(right.assign(**{c.POI: index + 1}), tmp_path)
    with pytest.raises(DataError, match="every place index is one too high") as refused:
        import_predictions(high, city, drop_unknown=drop)
    assert "--drop-unknown" not in str(refused.value)
