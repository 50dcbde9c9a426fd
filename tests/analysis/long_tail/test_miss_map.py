"""The map of misses: counts, and the privacy of cells."""

from analysis.figures.miss_map import miss_deck
from analysis.figures.palette import LIGHT
from analysis.long_tail.miss_map import miss_cells
from analysis.workspace import Workspace
from recap import columns as c
from tests.worlds import small_city


def test_cells_of_few_people_are_not_shown() -> None:
    """Every shown cell has cases of at least the asked number of people, and counts add up."""
    opened = Workspace.of(small_city())
    records = opened.with_model("visit_count").records_with_lists()
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
