"""A register renames the whole page and changes no number on it."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from analysis.registers import FIELD_WORDS, REGISTERS, Words
from recap import columns as c
from recap.data.dataset import Dataset
from tests.app.app_driver import check_calm, open_view, point_app_at, texts

BUNDLE = Path(__file__).parents[2] / "checkpoints" / "demo-city"
VIEWS = ("explain", "walk", "long_tail", "overview", "compare", "cases", "runs")
PAPER = "Paper's words"


@pytest.fixture
def city(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled city: its model has every part, its records and ablations are there."""
    point_app_at(monkeypatch, BUNDLE / "dataset", BUNDLE / "checkpoint")


def charts(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def said(app: AppTest) -> str:
    """Everything a reader reads or hears: texts, tables' heads and words, controls, charts' words."""
    words = [texts(app)]
    for table in app.dataframe:
        words += map(str, table.value.columns)
        words += [str(cell) for name in table.value for cell in table.value[name] if isinstance(cell, str)]
    for kind in ("metric", "button", "toggle", "selectbox", "slider", "pills", "segmented_control", "expander"):
        for element in app.get(kind):
            words += [str(getattr(element, "label", "")), str(getattr(element.proto, "help", ""))]
            words += [str(option) for option in getattr(element.proto, "options", [])]
    for chart, spec in zip(app.get("plotly_chart"), charts(app), strict=True):
        words += [str(chart.proto.alt)] if hasattr(chart.proto, "alt") else []
        words += [str(note.get("text", "")) for note in spec["layout"].get("annotations", [])]
        words += [str(tick) for trace in spec["data"] if trace.get("orientation") == "h" for tick in trace["y"]]
        words += [json.dumps(axis) for name, axis in spec["layout"].items() if name.startswith(("xaxis", "yaxis"))]
    return without_code(without_places("\n".join(words)))


def without_code(text: str) -> str:
    """Without commands to type, whose words are fixed."""
    return re.sub(r"`[^`]*`", "", text)


def without_places(text: str) -> str:
    """The page without the names of its places: Wren Gardens Gate is no gate of a model."""
    names = Dataset.load(BUNDLE / "dataset").pois[c.POI_NAME]
    return re.sub(rf"\b(?:{'|'.join(re.escape(name) for name in names)})\b", "", text)


def numbers(app: AppTest) -> list[Any]:
    """Every number of tables, metrics and charts, in order."""
    found: list[Any] = []
    for table in app.dataframe:
        digits = table.value.astype(object).map(
            lambda cell: cell if isinstance(cell, float | int) else re.findall(r"[\d.]+", str(cell))
        )
        found.append(pd.DataFrame(digits).to_numpy().tolist())
    found += [metric.value for metric in app.metric]
    found += [[trace.get("x"), trace.get("base")] for spec in charts(app) for trace in spec["data"]]
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_plain_pages_speak_no_field_words(city: None, view: str) -> None:
    """Neither residual nor gate nor forward pass, and none of their kin; the paper's page has some of them."""
    app = open_view(view, case="3")
    check_calm(app)
    found = re.findall(rf"\b(?:{FIELD_WORDS})\b", said(app), flags=re.IGNORECASE)
    assert not found, sorted(set(found))
    paper = open_view(view, case="3", register=PAPER)
    assert re.findall(rf"\b(?:{FIELD_WORDS})\b", said(paper), flags=re.IGNORECASE)


@pytest.mark.parametrize("view", VIEWS)
def test_a_register_changes_no_number(city: None, view: str) -> None:
    """Tables, metrics and charts hold the same numbers in the same order."""
    plain, paper = open_view(view, case="3"), open_view(view, case="3", register=PAPER)
    assert str(numbers(plain)) == str(numbers(paper))
    assert said(plain) != said(paper)


def test_the_register_is_kept_across_views(city: None) -> None:
    """Chosen on one page it speaks on the next, and the address carries it."""
    app = open_view("walk", case="3", register=PAPER)
    app.button(key="explain").click().run()
    check_calm(app)
    assert app.query_params["register"] in (PAPER, [PAPER])
    assert "Two hops that reach it" in texts(app)


def test_links_of_either_register_mean_the_same(city: None) -> None:
    """A filter's label in plain words and in the paper's chooses the same cases."""
    counts = set()
    for label in ("Found by two-step trips", "Found by two hops"):
        for register in ("Plain words", PAPER):
            app = open_view("walk", show=label, register=register)
            check_calm(app)
            counts.add(re.findall(r"[\d,]+ of [\d,]+ cases", texts(app))[0])
    assert len(counts) == 1 and not counts.pop().startswith("3,984")


def test_every_phrase_has_plain_words() -> None:
    """The table itself holds no field word on its plain side, and both sides have the same gaps.

    The words of sentences are held by tests/analysis/explain/test_sentences.py.
    """
    from analysis.registers import _PHRASES

    for key, (plain, paper) in _PHRASES.items():
        assert not re.search(
            rf"\b(?:{FIELD_WORDS})\b", re.sub(r"{\w+}", "", without_code(plain)), flags=re.IGNORECASE
        ), key
        assert set(re.findall(r"{\w+}", plain)) == set(re.findall(r"{\w+}", paper)), key
    assert [Words(register).is_plain for register in REGISTERS] == [True, True, False]
