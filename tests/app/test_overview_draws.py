"""Overview on many test cases: a draw at once, said so; more in the background; at the end exactly the whole."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from analysis.records.growing_records import DrawnRecords, Rank, Ranker, grow_records
from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.named_scorer import NamedScorer
from app.cached import datasets, reading, refining
from app.settings import MOST_SCORES_VARIABLE, AppSettings
from app.sources import Source, find_sources
from recap import columns as c
from recap.baselines import COUNTING_BASELINES
from recap.checkpoint import Checkpoint
from recap.errors import RecapError
from tests.app.app_driver import check_calm, open_view, point_app_at, texts


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, city_folder: Path, city_checkpoint: Path) -> Source:
    """The small city, in a folder of its own for the user, where already ten scores are too many to wait for."""
    point_app_at(monkeypatch, city_folder, city_checkpoint, read_only=False)
    monkeypatch.setenv("RECAP_HOME", str(tmp_path))
    monkeypatch.setenv(MOST_SCORES_VARIABLE, "10")
    refining.growing.clear()
    return find_sources(AppSettings.from_environment())[0]


class Gate:
    """Draws of which each but the first waits until it is let through."""

    def __init__(self, source: Source, checkpoint: Path, failing: str = "") -> None:
        self.opened = LoadedDataset.load(source.dataset_folder)
        self.go_on, self.failing = threading.Event(), failing
        model = NamedScorer.of_checkpoint(Checkpoint.load(checkpoint), self.opened)
        baselines = {name: NamedScorer.of_baseline(name, self.opened) for name in reversed(COUNTING_BASELINES)}
        self.records = {
            key: scorer.score(self.opened) for key, scorer in ({str(source.checkpoint_hash): model} | baselines).items()
        }

    def draw(self, report: refining.Report) -> Iterator[DrawnRecords]:
        rankers = {key: Ranker(self._look_up(table)) for key, table in self.records.items()}
        sizes = [20, len(self.opened.cases)]
        for drawn in grow_records(self.opened.cases, rankers, num_pois=10, sizes=sizes):
            report(drawn.num_drawn, drawn.num_cases)
            yield drawn
            self.go_on.wait(60)
            if self.failing:
                raise RecapError(self.failing)

    def _look_up(self, table: pd.DataFrame) -> Rank:
        return lambda cases: table.iloc[cases[c.CASE].to_numpy()]


def groups(app: AppTest) -> pd.DataFrame:
    """The accuracies that the page shows."""
    return next(table.value for table in app.dataframe if "lead_lower" in table.value).reset_index(drop=True)


def test_a_draw_first_then_the_whole(source: Source, city_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every figure is of the 20 drawn cases, which is said with the interval; then all cases, and the note goes."""
    gate = Gate(source, city_checkpoint)
    draws, total = refining.growing(source), len(gate.opened.cases)
    draws.start(gate.draw)
    draws.wait_for_draw()
    app = open_view("overview")
    check_calm(app)
    assert f"From 20 of {total:,} test cases, drawn at random: HR@20" in texts(app)
    shown = groups(app)
    assert set(shown.loc[shown["group"] == "all", "n"]) == {20}
    assert f"of {total:,} test cases ranked" in app.get("progress")[0].proto.text
    first = shown[shown["group"] == "all"].iloc[0]
    assert f"{first['value']:.3f}, 95 % interval {first['lower']:.3f} to {first['upper']:.3f}." in texts(app)

    gate.go_on.set()
    assert draws.wait_for_end()
    app.run()
    check_calm(app)
    assert "drawn" not in texts(app) and not app.get("progress")
    monkeypatch.setenv(MOST_SCORES_VARIABLE, "")  # as small data are shown
    small = open_view("overview")
    pd.testing.assert_frame_equal(groups(app), groups(small), check_exact=True)
    assert app.title[0].value == small.title[0].value


def test_the_background_keeps_what_it_made(source: Source, city_checkpoint: Path) -> None:
    """The app's own thread ranks all cases and keeps the records; then nothing is drawn any more."""
    assert refining.is_refined(source)
    draws = refining.refine(source)
    assert draws.wait_for_end() and not draws.failure
    assert not refining.is_refined(source)
    assert draws.share == 1.0
    app = open_view("long_tail")
    check_calm(app)
    assert "being ranked" not in texts(app)


def test_a_failure_is_told(source: Source, city_checkpoint: Path) -> None:
    """The figures of the draw stay, the reason stands beside them, and one may try again."""
    gate = Gate(source, city_checkpoint, failing="the disk is full")
    draws = refining.growing(source)
    draws.start(gate.draw)
    gate.go_on.set()
    draws.wait_for_end()
    app = open_view("overview")
    check_calm(app)
    assert "Ranking further cases stopped: the disk is full." in texts(app)
    assert "From 20 of" in texts(app)
    app.button(key="refine-again").click().run()
    assert refining.growing(source).wait_for_end()
    assert not refining.growing(source).failure


def test_walk_filters_the_draw(source: Source, city_checkpoint: Path) -> None:
    """Missed cases are those of the draw, which is said, and no cause is claimed; unseen steps need no ranks at all."""
    gate = Gate(source, city_checkpoint)
    draws, total = refining.growing(source), len(gate.opened.cases)
    draws.start(gate.draw)
    draws.wait_for_draw()
    assert draws.latest is not None
    drawn = draws.latest.models[str(source.checkpoint_hash)]
    app = open_view("walk", show="missed")
    check_calm(app)
    assert f"Of the 20 test cases drawn so far; {total:,} in all." in texts(app)
    assert f"{int((drawn[c.RANK] > 20).sum()):,} of {total:,} cases" in texts(app)
    pills = next(group for group in app.get("button_group") if "show" in group.proto.id)
    assert pills.proto.options[-2].content == "Found, visited before"
    unseen = open_view("walk", show="unseen")
    check_calm(unseen)
    count = int((gate.opened.cases[c.TRANSITION_COUNT] == 0).sum())
    assert f"{count:,} of {total:,} cases" in texts(unseen) and "drawn so far" not in texts(unseen)
    gate.go_on.set()


def test_long_tail_waits_for_all_cases(source: Source, city_checkpoint: Path) -> None:
    """No bar of the long tail is made of a draw."""
    gate = Gate(source, city_checkpoint)
    refining.growing(source).start(gate.draw)
    app = open_view("long_tail")
    check_calm(app)
    assert app.title[0].value == "All test cases are being ranked"
    assert not app.get("plotly_chart")
    gate.go_on.set()


def test_a_large_dataset_is_read_beside(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first view tells sizes from the files' headers; once the dataset is read, it shows what it always does."""
    monkeypatch.setenv(MOST_SCORES_VARIABLE, "")
    monkeypatch.setattr("app.cached.reading.LARGE_CHECKINS", 0)
    monkeypatch.setattr("app.cached.reading.PATIENCE_S", 0.0)
    datasets.open_dataset.clear()
    reading.reading_of.clear()
    app = open_view("overview")
    check_calm(app)
    size = LoadedDataset.load(source.dataset_folder).dataset
    known = f"{len(size.checkins):,} check-ins at {size.num_pois:,} places are being read"
    assert app.title[0].value == known or app.title[0].value.startswith("RECAP finds")  # read within the blink
    assert reading.reading_of(source).is_over(60)
    app.run()
    check_calm(app)
    assert app.title[0].value.startswith("RECAP finds")
