"""Every table that a view or a command writes: shared by default, as recorded only with a column that says so."""

from collections.abc import Callable

import pandas as pd
import pytest

from analysis.long_tail.misses import describe_misses
from analysis.sharing.places import masked_places
from analysis.sharing.tables import EXACT, PRIVACY, is_personal, share_table, to_csv
from analysis.sharing.walks import share_step
from analysis.trajectories.predictions import predict_case
from analysis.trajectories.trajectory import read_trajectory
from recap import columns as c
from recap.privacy import Generalisation
from tests.analysis.sharing.demo import CITY, explained, opened, predictor, secrets
from tests.analysis.sharing.scanner import scan

CASE = 700


def kept(kind: str) -> pd.DataFrame:
    key = f"{predictor().dataset.hash[:16]}-{predictor().checkpoint.hash[:24]}-test-{kind}.parquet"
    return pd.read_parquet(CITY / "records" / key)


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "Evaluation records": lambda: kept("every_step").drop(columns=[c.TOP_POIS, c.TOP_SCORES]),
    "records with lists": lambda: kept("every_step").head(50),
    "Misses": lambda: describe_misses(opened().dataset, opened().cases, kept("ablations")),
    "Ablations": lambda: kept("ablations"),
    "Stops": lambda: read_trajectory(opened(), CASE).stops,
    "Past visits": lambda: pd.DataFrame([e.model_dump() for e in explained(7, full=True).visits[0].visits]),
    "Candidates": lambda: pd.json_normalize([entry.model_dump() for entry in explained(CASE).candidates]),
    "Predictions": lambda: predict_case(opened().with_model("markov"), CASE).candidates,
}
"""Tables as the view or the command hands them over."""


@pytest.mark.parametrize("name", TABLES)
def test_a_written_table_leaks_nothing(name: str) -> None:
    """No id, index of a case or rare place, and no time; the file says how it was generalised."""
    whole = TABLES[name]()
    shared = share_table(whole, opened())
    assert scan(to_csv(shared.head(600)), secrets()) == []
    assert not {c.CASE, c.ROW, c.TRAJECTORY, c.POSITION, "stop", "visit"} & set(shared.columns)
    assert shared[PRIVACY].str.startswith("generalised: k = 5").all() and len(shared) == len(whole)
    for column in {c.POI, c.SOURCE, c.TARGET, "middle", "first"} & set(shared.columns):
        assert not pd.api.types.is_numeric_dtype(shared[column])


@pytest.mark.parametrize("name", TABLES)
def test_as_recorded_only_with_a_column_that_says_so(name: str) -> None:
    whole = TABLES[name]()
    exact = share_table(whole, opened(), exact=True)
    assert (exact[PRIVACY] == EXACT).all()
    pd.testing.assert_frame_equal(exact.drop(columns=PRIVACY), whole)


def test_numbers_of_the_model_stay() -> None:
    """Scores and ranks are the same numbers, in another order."""
    whole = TABLES["Evaluation records"]()
    shared = share_table(whole, opened())
    for column in (c.RANK, c.SCORE, c.part_column("core")):
        assert sorted(shared[column]) == sorted(whole[column])
    assert shared[c.RANK].tolist() != whole[c.RANK].tolist()
    assert shared[c.USER].nunique() == whole[c.USER].nunique()


def test_a_picture_of_a_step_shows_neither_the_way_nor_the_haunts() -> None:
    """One stop is left, no disc is marked as visited before, and rare places stand and have masked names."""
    prediction = predict_case(opened().with_model("visit_count"), CASE)
    trajectory = read_trajectory(opened(), CASE)
    alone, masked = share_step(trajectory, prediction)
    assert len(alone.stops) == 1 and alone.stops[c.CASE].tolist() == [CASE]
    assert prediction.candidates["revisit"].any() and not masked.candidates["revisit"].any()
    places = masked_places(opened(), Generalisation())
    pictured, rare = places.opened(opened()), int(places.is_cell.argmax())
    assert pictured.labels[rare] == places.name[rare] != opened().labels[rare]
    assert (pictured.latitude[rare], pictured.longitude[rare]) == places.at(rare)


def test_a_table_of_counts_stays_as_it_is() -> None:
    counts = pd.DataFrame({"group": ["all", "tail"], "n": [10, 4], "hr20": [0.5, 0.25]})
    assert not is_personal(counts)
    pd.testing.assert_frame_equal(share_table(counts, opened()), counts)
