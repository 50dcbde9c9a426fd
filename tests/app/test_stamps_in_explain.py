"""Explain's section "Does it hold?": the library's stamps, with and without sibling seeds."""

import json
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st

from analysis.explain.check_tables import CheckTables
from analysis.explain.checks import CaseChecks
from analysis.explain.explanation import explain_fully
from analysis.explain.row_checks import describe_checks
from analysis.explain.stamp_table import shown_first, stamp_finding, stamp_lines
from analysis.records.kept_seeds import seed_key
from analysis.records.removals import describe_removals
from analysis.records.score_rows import ROW_LABELS
from analysis.registers import Words
from app.cached import explanations
from app.cached.checking import Checking, Report
from app.settings import AppSettings
from app.sources import find_sources
from recap.errors import CaseError, RecapError
from recap.evaluation.records import write_records
from recap.predictor import Predictor
from tests.app.app_driver import check_calm, open_view, point_app_at, texts


@pytest.fixture
def predictor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, city_folder: Path, city_checkpoint: Path) -> Predictor:
    """The app pointed at the small city and its checkpoint, with a cache of its own."""
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    point_app_at(monkeypatch, city_folder, city_checkpoint)
    st.cache_resource.clear()  # whether seeds are there is looked up anew only after a while
    return Predictor.load(city_checkpoint, city_folder)


def shown_table(app) -> pd.DataFrame:  # type: ignore[no-untyped-def]
    return next(table.value for table in app.dataframe if "Does it hold?" in table.value.columns)


def test_among_many_places_the_checks_follow_the_answer(predictor: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made beside the page, which tells how far they are, and are the same once they are there."""
    told = explain_fully(predictor, 3, counterfactuals=False, checks=True)
    monkeypatch.setattr(explanations, "MANY_PLACES", 0)
    gate, make = threading.Event(), explanations.check_case

    def gated(*args: Any, **kwargs: Any) -> CaseChecks:
        gate.wait(60)
        return make(*args, **kwargs)

    monkeypatch.setattr(explanations, "check_case", gated)
    app = open_view("explain", case="3")
    check_calm(app)
    assert app.title[0].value and not [table for table in app.dataframe if "Does it hold?" in table.value.columns]
    gate.set()
    source = find_sources(AppSettings.from_environment())[0]
    assert explanations.check(source, explanations.explain(source, 3, about=None, against=None, hide_truth=False)) == (
        told.checks
    )
    app.run()
    check_calm(app)
    lines = stamp_lines(told.checks, told.target_rank, [path.name for path in told.path_evidence])
    assert shown_table(app)["Over mean"].tolist() == [line.points for line in lines]


def test_checks_that_fail_are_told() -> None:
    """A thread that dies silently would look busy."""

    def fail(report: Report) -> CaseChecks:
        report(1, 4)
        raise CaseError("there is no POI 9")

    checking = Checking(fail)
    with pytest.raises(RecapError, match="there is no POI 9"):
        checking.wait()
    assert checking.is_over and checking.share == 0.25


def check_table(predictor: Predictor, seeds: dict[int, pd.DataFrame], **params: str) -> list[list[str]]:
    """The view's table, bar and finding are those of the library; gives the chips."""
    told = explain_fully(predictor, 3, counterfactuals=False, checks=True, tables=CheckTables(seeds=seeds))
    assert told.checks is not None
    app = open_view("explain", case="3", **params)
    check_calm(app)
    lines = stamp_lines(told.checks, told.target_rank, [path.name for path in told.path_evidence])
    table = shown_table(app)
    words = Words("stakeholder")
    named = {label: words.row(key, label) for key, label in ROW_LABELS.items()}
    assert table["Row"].tolist() == [named.get(line.label, line.label) for line in lines]
    assert table["Over mean"].tolist() == [line.points for line in lines]
    assert table["Rank without"].tolist() == [line.rank for line in lines]
    chips = [list(chips) for chips in table["Does it hold?"]]
    assert chips == [[words.sentence(chip) for chip in line.chips] for line in lines]
    assert words.sentence(stamp_finding(told.checks)) in texts(app).replace("\\", "")
    chosen = app.selectbox(key="checked_row")
    assert chosen.value == shown_first(told.checks)
    for stamp in told.checks.stamps:
        app.selectbox(key="checked_row").select(stamp.row).run()
        check_calm(app)
        said = texts(app).replace("\\", "")
        assert all(words.sentence(text) in said for text in describe_checks(stamp))
    bars = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    assert any("Explained exactly" in note["text"] for bar in bars for note in bar["layout"].get("annotations", []))
    return chips


def test_stamps_without_siblings_say_so(predictor: Predictor) -> None:
    """No sibling was trained: nothing holds, and the finding says that seeds were not measured."""
    chips = check_table(predictor, {})
    assert any("trainings not measured" in chip for row in chips for chip in row)
    assert not any("●" in chip for row in chips for chip in row)


def test_stamps_with_siblings_count_the_seeds(predictor: Predictor) -> None:
    """Tables of two siblings that agree, as a bundle ships them: rows say three seeds."""
    table = describe_removals(predictor, predictor.cases)
    for seed in (1, 2):
        key = seed_key(predictor.dataset.hash, predictor.checkpoint.hash, seed)
        write_records(table, key.cached(), key.metadata)
    chips = check_table(predictor, {1: table, 2: table})
    assert any("3 of 3 trainings" in chip for row in chips for chip in row)


def test_an_edited_case_has_stamps_without_ranks(predictor: Predictor) -> None:
    """Removal ranks tell of the case as it was."""
    app = open_view("explain", case="3", edits="hour:5")
    check_calm(app)
    assert set(shown_table(app)["Rank without"]) <= {"–", ""}
