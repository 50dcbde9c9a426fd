"""Places on a plane, and the map of misses: small tables, the privacy of cells, and refusals."""

import numpy as np
import pandas as pd
import pytest

from analysis.figures.embedding_map import OTHER, plot_embedding
from analysis.figures.miss_map import miss_deck
from analysis.figures.palette import DARK, LIGHT
from analysis.long_tail.miss_map import miss_cells
from analysis.long_tail.place_embedding import category_agreement, project_places, shown_places
from analysis.records.case_selection import CaseSelection
from analysis.records.evaluation_records import evaluation_records
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from recap import columns as c
from recap.errors import ConfigError
from tests.worlds import small_city


def two_clusters() -> np.ndarray:
    """Forty places: the even ones point east, the odd ones north, each a little aside."""
    rng = np.random.default_rng(0)
    middle = np.eye(6)[np.arange(40) % 2]
    return 5 * middle + 0.1 * rng.standard_normal((40, 6))


@pytest.mark.parametrize("how", ["pca", "tsne"])
def test_clusters_stay_apart_on_the_plane(how: str) -> None:
    """Two clusters are two clusters on both planes, and the same embeddings give the same plane again."""
    plane = project_places(two_clusters(), how)  # type: ignore[arg-type]
    xy = plane[["x", "y"]].to_numpy()
    even, odd = xy[::2], xy[1::2]
    between = np.linalg.norm(even.mean(axis=0) - odd.mean(axis=0))
    assert between > 2 * max(np.ptp(even, axis=0).max(), np.ptp(odd, axis=0).max()) / 2
    pd.testing.assert_frame_equal(plane, project_places(two_clusters(), how))  # type: ignore[arg-type]


def test_agreement_of_neighbours_and_chance() -> None:
    """Categories that follow the clusters agree wholly; chance is 19 of the 39 other places."""
    category = np.array(["cafe", "bar"] * 20)
    assert category_agreement(two_clusters(), category) == pytest.approx((1.0, 19 / 39))


def test_cells_of_few_people_are_not_shown() -> None:
    """Every shown cell has cases of at least the asked number of people, and counts add up."""
    opened = LoadedDataset.of(small_city())
    records = evaluation_records(
        opened, "visit_count", lambda: NamedScorer.of_baseline("visit_count", opened), keep=False
    )
    everything = miss_cells(opened, records, 1, min_users=1)
    assert everything["cases"].sum() == len(records)
    assert everything["missed"].sum() == (records[c.RANK] > 1).sum()
    assert (everything["share"] == everything["missed"] / everything["cases"]).all()
    few = miss_cells(opened, records, 1, min_users=3)
    assert len(few) < len(everything) and (few["users"] >= 3).all()
    people = int(records[c.USER].nunique())
    assert miss_cells(opened, records, 1, min_users=people + 1).empty
    deck = miss_deck(everything, k=1, map_style="data:,", palette=LIGHT)
    assert "cases missed at 1" in deck.to_json()


def test_figure_names_frequent_categories() -> None:
    """Eight categories have a colour and a shape, the rest is grey; every mark carries its place."""
    table = pd.DataFrame(
        {
            c.POI: range(45),
            "name": [f"Place {number}" for number in range(45)],
            c.CATEGORY: [f"Kind {number}" for number in range(9) for _ in range(9 - number)],
            "x": 0.0,
            "y": 0.0,
        }
    )
    for palette in (LIGHT, DARK):
        figure = plot_embedding(table, palette)
        traces = figure.data
        # Plain lists: a packed array comes back from a click without its first element.
        assert all(isinstance(row, list) for trace in figure.to_dict()["data"] for row in trace["customdata"])
        assert [trace.name for trace in traces] == [OTHER, *(f"Kind {number}" for number in range(8))]
        assert len(traces[0].x) == 1
        assert sorted(int(poi) for trace in traces for poi in np.ravel(trace.customdata)) == list(range(45))


def test_a_place_is_a_selection() -> None:
    """``poi:17`` opens the cases from or to it, and nothing else."""
    opened = LoadedDataset.of(small_city())
    chosen = CaseSelection.parse("poi:2")
    assert chosen == CaseSelection.of_poi(2) and chosen.text == "poi:2"
    mask = chosen.mask(opened.cases)
    assert mask.any() and mask.tolist() == ((opened.cases[c.SOURCE] == 2) | (opened.cases[c.TARGET] == 2)).tolist()
    with pytest.raises(ConfigError, match="poi:17"):
        CaseSelection.parse("poi:x")


def test_shown_places_and_counters() -> None:
    """A small catalogue is shown whole, in order; a counter has no embeddings."""
    opened = LoadedDataset.of(small_city())
    assert shown_places(opened).tolist() == list(range(opened.dataset.num_pois))
    with pytest.raises(ConfigError, match="no place embeddings"):
        NamedScorer.of_baseline("markov", opened).place_embedding()
