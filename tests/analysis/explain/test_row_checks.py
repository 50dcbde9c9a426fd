"""How a row was checked, in words and drawn: literal stamps, arithmetic by hand, the same texts in every rendering."""

import json
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from analysis.explain.check_tables import CheckTables
from analysis.explain.explanation import FullExplanation, explain_fully
from analysis.explain.placebo import PlaceboTest
from analysis.explain.row_checks import describe_checks, describe_people, describe_placebos, describe_seeds
from analysis.explain.stamp_table import path_lines, shown_first
from analysis.explain.stamps import RowStamp, SeedCheck
from analysis.figures.palette import LIGHT
from analysis.figures.row_checks import plot_placebos, plot_seeds
from analysis.notebook import open_checkpoint
from analysis.records.removals import describe_removals
from analysis.report.text import describe_fully
from analysis.sharing.page import render_notebook
from recap.evaluation.records import write_records
from recap.evidence.config import EvidenceConfig
from recap.predictor import Predictor
from tests.analysis.planted import small_predictor

PLACEBO = PlaceboTest(
    row="two_hop_addends", points=1.86, placebos=[0.1, 0.2, 0.3, 2.0], beaten=0.75, reached=1, p_value=0.4, bar=1.745
)


def stamp(**changes: Any) -> RowStamp:
    """Two-hop paths that hold in two of three seeds."""
    values: dict[str, Any] = {
        "row": "two_hop_addends",
        "label": "Two-hop paths",
        "verdict": "partly",
        "words": ["holds in 2 of 3 seeds"],
        "points": 1.86,
        "seeds": 3,
        "seeds_same": 2,
        "placebo": PLACEBO,
        "people": 9,
        "trips": 14,
        "seed_checks": [
            SeedCheck(seed=7, points=1.86, rank=16.0, without=212.0),
            SeedCheck(seed=8, points=1.5, rank=14.0, without=14.0),
            SeedCheck(seed=9, points=-0.2, rank=19.0, without=None),
        ],
    }
    return RowStamp(**(values | changes))


def test_words_by_hand() -> None:
    """Ranks and points of each seed, one of four placebos, nine people."""
    assert describe_seeds(stamp()) == (
        "Rank with → without, by seed: 7 16th → 212th; 8 14th → 14th; 9 19th → –. Points: +1.86, +1.50, −0.20; same "
        "sign as here in 2 of 3."
    )
    assert describe_placebos(stamp()) == (
        "1 of 4 placebos reaches +1.86, p = 0.400; 95 % stay below +1.75. Placebos: the same walker standing "
        "elsewhere, at another time of the week."
    )
    assert describe_people(stamp()) == "9 other people, 14 training trips."
    assert describe_people(stamp(row="graph_token", people=1, trips=1)) == "One person, 1 training trip."
    alone = stamp(seed_checks=stamp().seed_checks[:1])
    assert describe_seeds(alone) == "Seeds not measured; this one, rank with → without: 7 16th → 212th."
    assert describe_seeds(stamp(seed_checks=[])).startswith("Seeds: not measured for an edited case")
    none = PLACEBO.model_copy(update={"reached": 0, "p_value": 0.2})
    assert describe_placebos(stamp(placebo=none)).startswith("None of 4 placebos reaches +1.86, p = 0.200")
    against = stamp(points=-1.0, placebo=PLACEBO.model_copy(update={"reached": 2, "bar": -0.5}))
    assert "2 of 4 placebos reach −1.00, p = 0.400; 95 % stay above −0.50" in describe_placebos(against)
    assert describe_placebos(stamp(row="core", placebo=None)).startswith("No placebo")
    assert describe_placebos(stamp(verdict="no_points")).startswith("The row gives this place nothing")


def test_the_dumbbells_and_the_histogram_hold_the_numbers() -> None:
    """One line and one or two marks a seed; four placebos in the bars, the row's own points marked."""
    seeds = go.Figure(plot_seeds(stamp(), LIGHT).to_dict())  # plotly checks what was drawn unchecked
    lines = [trace for trace in seeds.data if trace.mode == "lines"]
    marks = [trace.text for trace in seeds.data if trace.mode != "lines"]
    assert [list(line.x) for line in lines] == [[16.0, 212.0], [14.0, 14.0], [19.0, 19.0]]
    assert marks == ["16", "212", "14", "19"] and list(seeds.layout.yaxis.ticktext) == ["7", "8", "9"]
    placebos = go.Figure(plot_placebos(stamp(), LIGHT).to_dict())
    assert sum(placebos.data[0].y) == 4 and list(placebos.data[2].x) == [1.86]
    assert [note.text for note in placebos.layout.annotations] == ["<b>+1.86</b>"]


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Predictor, CheckTables]:
    """A model with evidence and the tables of two siblings that say what it says."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    predictor = small_predictor(evidence=EvidenceConfig())
    table = describe_removals(predictor, predictor.cases)
    return predictor, CheckTables(table, {1: table, 2: table})


def test_every_rendering_says_the_same(shipped: tuple[Predictor, CheckTables]) -> None:
    """Terminal, HTML page and JSON hold the texts and numbers of each row; kept ranks are the computed ones."""
    predictor, tables = shipped
    told = explain_fully(predictor, 4, counterfactuals=False, checks=True, tables=tables)
    alone = explain_fully(predictor, 4, counterfactuals=False, checks=True)
    assert told.checks is not None and alone.checks is not None
    assert told.checks.without == alone.checks.without
    terminal, page = "\n".join(describe_fully(told)), render_notebook(told)
    again = FullExplanation.model_validate(json.loads(told.model_dump_json()))
    assert again.checks == told.checks
    for one in told.checks.stamps:
        assert [check.seed for check in one.seed_checks][1:] == [1, 2]
        assert one.seed_checks[0].without == told.checks.without[_source(one.row)]  # type: ignore[index]
        for text in describe_checks(one):
            assert text in terminal and text.replace("'", "&#39;") in page
    assert shown_first(told.checks) in {one.row for one in told.checks.stamps}
    names = [path.name for path in told.path_evidence]
    assert len(path_lines(told.checks, "graph_token", names)) == min(len(names), 5)
    assert path_lines(told.checks, "popularity", names) == []


def _source(row: str) -> str:
    return {"own_visits": "own_revisits"}.get(row, row)


def test_a_notebook_reads_the_tables_that_were_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, city_folder: Path, city_checkpoint: Path
) -> None:
    """Seeds kept in the cache stand in the notebook's explanation and in its HTML."""
    from analysis.records.kept_seeds import seed_key

    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    predictor = Predictor.load(city_checkpoint, city_folder)
    table = describe_removals(predictor, predictor.cases)
    key = seed_key(predictor.dataset.hash, predictor.checkpoint.hash, 5)
    write_records(table, key.cached(), key.metadata)
    told = open_checkpoint(city_checkpoint, city_folder).explain(2, counterfactuals=False, checks=True)
    assert told.checks is not None and told.checks.stamps[0].seeds == 2
    html = told._repr_html_()
    assert html is not None and "by seed" in html


def test_a_table_that_tells_of_another_rank_is_not_believed(shipped: tuple[Predictor, CheckTables]) -> None:
    """A kept row whose rank is not the one computed here is computed anew."""
    predictor, tables = shipped
    assert tables.removals is not None
    wrong = tables.removals.assign(rank=tables.removals["rank"] + 1, without_core=999.0)
    told = explain_fully(predictor, 4, counterfactuals=False, checks=True, tables=CheckTables(wrong))
    assert told.checks is not None and told.checks.without is not None
    assert told.checks.without["core"] == tables.removals["without_core"][4]
