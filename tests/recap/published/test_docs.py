"""The example of docs/published-models.md trains, seals, opens and keeps the laws."""

import re
from pathlib import Path

import pytest
import torch

from recap import columns as c
from recap.graph import TransitionGraph
from recap.history import CheckinTensors, Histories
from recap.published import registry
from recap.published.city import City
from recap.published.configs import PUBLISHED
from recap.published.network import PublishedScorer
from recap.training.published_trainer import PublishedTrainer
from tests.recap.published.variants import table
from tests.worlds import small_city

PAGE = (Path(__file__).parents[3] / "docs" / "published-models.md").read_text(encoding="utf-8")


def test_the_example_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executed as printed and put into the table of networks, it learns to beat chance and never looks ahead."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, type] = {}
    exec(code, names)  # noqa: S102 - our own page
    config = names["BigramConfig"]()
    monkeypatch.setitem(registry._NETWORKS, config.network, names["Bigram"])
    city = small_city()
    trainer = PublishedTrainer(city, config, tmp_path, torch.device("cpu"))
    assert trainer.run() and trainer.progress.best is not None
    assert trainer.progress.best["val"]["hr1"] > 2 / city.num_pois
    own, row = CheckinTensors.from_dataset(city), int(city.cases(c.TEST)[0])
    changed = table(city, poi=torch.where(torch.arange(len(own.poi_T)) > row, 0, own.poi_T))
    model = registry.build_published(config, City.of(city, TransitionGraph.from_dataset(city)), torch.float64)
    scores = [
        PublishedScorer(model).score(Histories(checkins, torch.tensor([row]))).total for checkins in (own, changed)
    ]
    assert torch.equal(*scores)


def test_the_page_names_every_published_model() -> None:
    """Each model of the registry has its paragraph."""
    assert re.findall(r"^\*\*`(\w+)`\*\*", PAGE, re.MULTILINE) == list(PUBLISHED)
