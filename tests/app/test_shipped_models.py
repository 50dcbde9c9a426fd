"""The demo city ships records of published models: they can be chosen like a model, and say what they are."""

from pathlib import Path

from analysis.records.imported import find_predictions
from app.components.card import _parts
from recap.checkpoint import Checkpoint
from recap.data.dataset import Dataset
from tests.app.app_driver import calm_view, check_calm, texts
from tests.learn_worlds import DEMO


def test_published_models_of_the_demo_city(home: Path, demo_city: None) -> None:
    """RECAP against LoTNext in Compare (Figures 1 and 7 among its charts) and in Long tail, a case of it in Walk."""
    shipped = {item.name: item.key for item in find_predictions(Dataset.load(DEMO / "dataset").hash)}
    name = "LoTNext, trained here"
    key = shipped[name]
    compared = calm_view("compare", a=key)
    assert "LoTNext" in compared.title[0].value and "imported" not in compared.title[0].value
    long_tail = calm_view("long_tail", reference=key)
    assert long_tail.selectbox(key="pick_reference").value == key and name in texts(long_tail)
    long_tail.selectbox(key="pick_reference").set_value("nearest").run()
    check_calm(long_tail.switch_page("views/compare.py").run())
    assert long_tail.selectbox(key="pick_a").value == "nearest", "Compare opens on the pair chosen last"
    walk = calm_view("walk", case="3", predictions=key)
    assert "LoTNext, as published: trained on this city" in texts(walk)


def test_the_card_names_no_inactive_part_that_the_model_lacks() -> None:
    """The default has no correction, so it cannot be inactive."""
    shipped = Checkpoint.load(DEMO / "checkpoint")
    assert _parts(shipped)["Inactive at this epoch"] == "nothing"
    assert ("pretrained" in _parts(shipped)["Start of the curves"]) == (shipped.manifest.started_from is not None)
