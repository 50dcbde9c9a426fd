"""Every published model at a size that a test can afford, with each of its options."""

from functools import cache
from typing import Any, Final

import torch

from recap.data.dataset import Dataset
from recap.history.tensors import CheckinTensors
from recap.published.configs import PUBLISHED, PublishedConfig, published_config
from recap.published.network import City, PublishedNetwork
from recap.published.registry import build_published
from tests.worlds import shake, small_city

SMALL: Final[dict[str, dict[str, Any]]] = {
    "flashback": {"dim": 6, "window": 12},
    "replay": {"dim": 6, "window": 12},
    "lotnext": {"dim": 6, "window": 12},
    "sasrec": {"dim": 6, "window": 12, "blocks": 2},
    "melt": {"dim": 6, "window": 12, "blocks": 2},
    "getnext": {"dim": 6, "side_dim": 4, "feedforward_dim": 10, "window": 12},
    "deepmove": {"dim": 6, "slot_dim": 4, "user_dim": 5, "hidden_dim": 7, "window": 12},
    "dprl": {"dim": 6, "regions": 5, "window": 12},
    "rotan": {"dim": 6, "feedforward_dim": 10, "layers": 2, "window": 12},
    "depoi": {"dim": 6, "window": 12, "anchors": 5},
    "dchl": {"dim": 6, "near_places": 40, "contrast_places": 5, "radius_km": 5.0},
    "msahg": {"dim": 6, "near_places": 40, "contrast_places": 5, "radius_km": 5.0},
    "sthgcn": {"dim": 5, "heads": 2, "window": 12, "own_trajectories": 3, "other_trajectories": 3},
}
"""Small sizes by name; none of them is the number of places or users of the small city."""


def small_config(name: str, **changes: Any) -> PublishedConfig:
    """A published model's configuration, small, with further fields replaced."""
    config = published_config(name)
    return type(config).parse(config.model_dump() | SMALL.get(name, {}) | changes)


def variants() -> list[PublishedConfig]:
    """Every published model under every value of its options."""
    found = []
    for name in PUBLISHED:
        options = list(published_config(name).options)
        found += [small_config(name)]
        found += [small_config(name, **{option: not published_config(name).options[option]}) for option in options]
    return found


def variant_id(config: PublishedConfig) -> str:
    return config.label.replace(" ", "_")


@cache
def shaken(config: PublishedConfig, seed: int = 0) -> PublishedNetwork:
    """An untrained published model of the small city whose weights all differ, in float64 and in evaluation mode."""
    return shaken_in(City.of(small_city()), config, seed)


def shaken_in(city: City, config: PublishedConfig, seed: int = 0) -> PublishedNetwork:
    """The same for any city."""
    torch.manual_seed(seed)
    model = build_published(config, city, torch.float64)
    model.prepare(city)
    model.begin_epoch(config.epochs, fresh=True)  # every part acts
    shake(model, seed)
    return model.eval()


def table(dataset: Dataset, **changed: torch.Tensor) -> CheckinTensors:
    """A dataset's check-ins with some columns (user, poi, seconds, local_seconds, trajectory) replaced."""
    own = CheckinTensors.from_dataset(dataset)
    columns = {
        "user": own.user_T,
        "poi": own.poi_T,
        "seconds": own.seconds_T,
        "local_seconds": own.local_seconds_T,
        "trajectory": own.trajectory_T,
    }
    arrays: dict[str, Any] = {name: value.numpy() for name, value in (columns | changed).items()}
    return CheckinTensors.from_arrays(**arrays)
