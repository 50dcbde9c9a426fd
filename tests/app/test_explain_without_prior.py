"""Explain on models without the revisit prior: what it does not have it neither shows nor blames."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from recap.evidence.config import EvidenceConfig, HabitsConfig, WeighingConfig

from recap.config import Config
from recap.training.run import train
from tests.app.app_driver import check_calm, open_view, point_app_at, texts
from tests.worlds import small_city, small_training

CPU = torch.device("cpu")
OF_THE_PRIOR = ("Prior and correction are part of", "Prior not clipped", "With prior and correction")


def shown(monkeypatch: pytest.MonkeyPatch, city_folder: Path, tmp_path: Path, **changes: Any) -> Any:
    """Explain on a model that was trained for a moment, with these parts changed."""
    model = {name: value.model_dump() if isinstance(value, Config) else value for name, value in changes.items()}
    stages = {"prior_epoch": 1, "correction_epoch": 1, "warm_epoch": 1, "warm_weight": 0.0}
    assert train(small_city(), small_training(model=model, curriculum=stages), tmp_path / "model", device=CPU)
    point_app_at(monkeypatch, city_folder, tmp_path / "model")
    app = open_view("explain", case="3")
    check_calm(app)
    return app


@pytest.mark.parametrize("has_evidence", [True, False])
def test_no_prior(monkeypatch: pytest.MonkeyPatch, city_folder: Path, tmp_path: Path, *, has_evidence: bool) -> None:
    """Visits act through the evidence or not at all; no limit, no gate and no switch of a prior that is not there."""
    evidence = {"evidence": EvidenceConfig(weighing=WeighingConfig()), "core_scope": "nowhere"} if has_evidence else {}
    app = shown(monkeypatch, city_folder, tmp_path, use_history=False, **evidence)
    told = texts(app)
    assert ("these visits act through the features of own visits" in told) == has_evidence
    assert ("so these visits do not act on the scores" in told) != has_evidence
    assert not any(words in told for words in OF_THE_PRIOR)
    visits = next(table.value for table in app.dataframe if "Last, steps ago" in table.value.columns)
    assert "Gate" not in visits.columns and "Its effect" not in visits.columns
    pills = next(group for group in app.button_group if group.key == "edit_parts")
    assert not any("abit" in option.content for option in pills.proto.options)


def test_no_state(monkeypatch: pytest.MonkeyPatch, city_folder: Path, tmp_path: Path) -> None:
    """A network over clues that reads no h_t: no token is offered or blamed, and an edit can be searched."""
    evidence = EvidenceConfig(
        sessions=True,
        habits=HabitsConfig(hours=True),
        weighing=WeighingConfig(by_step=False, by_state=False, network=4, layers=2, scaled=True),
    )
    app = shown(
        monkeypatch,
        city_folder,
        tmp_path,
        use_history=False,
        use_graph=False,
        core_scope="nowhere",
        evidence=evidence,
    )
    assert "token" not in re.sub("Inactive at this epoch.*", "", texts(app)).lower()
    left_out = next(table.value for table in app.dataframe if "Without" in table.value.columns)
    assert "Token alone masked" not in left_out.columns
    assert left_out["Without"].str.contains(", 1 back").any()  # as if it had not happened: its clues go
    assert not left_out["Without"].str.contains("current check-in|token|walker").any()  # the walker's own token
    app.button(key="search").click().run()
    check_calm(app)


def test_a_prior_that_an_edit_switches_off(monkeypatch: pytest.MonkeyPatch, city_folder: Path, tmp_path: Path) -> None:
    """In a model with a core and evidence, whose ledger has no row of own visits, they act through the clues too."""
    shown(monkeypatch, city_folder, tmp_path, evidence=EvidenceConfig())
    app = open_view("explain", case="3", edits="off:prior")
    check_calm(app)
    told = texts(app)
    assert "these visits act through the features of own visits" in told and "do not act" not in told


def test_a_prior_is_told(monkeypatch: pytest.MonkeyPatch, city_folder: Path, tmp_path: Path) -> None:
    """The same model with its prior has all of them."""
    app = shown(
        monkeypatch, city_folder, tmp_path, evidence=EvidenceConfig(weighing=WeighingConfig()), core_scope="nowhere"
    )
    told = texts(app)
    assert all(words in told for words in OF_THE_PRIOR) and "do not act" not in told
    visits = next(table.value for table in app.dataframe if "Last, steps ago" in table.value.columns)
    assert {"Gate", "Its effect"} <= set(visits.columns)
    pills = next(group for group in app.button_group if group.key == "edit_parts")
    labels = {option.content for option in pills.proto.options}
    assert {"Prior", "Visit count", "Recency", "Recent window"} <= labels
