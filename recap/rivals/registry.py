"""All rivals: the typed union of their configurations, and the network of each."""

from typing import Annotated, Final

import torch
from pydantic import Field

from recap.errors import ConfigError
from recap.rivals.city import City
from recap.rivals.config import RivalConfig
from recap.rivals.dchl import Dchl, DchlConfig
from recap.rivals.flashback import Flashback, FlashbackConfig
from recap.rivals.getnext import Getnext, GetnextConfig
from recap.rivals.lotnext import Lotnext, LotnextConfig
from recap.rivals.replay import Replay, ReplayConfig
from recap.rivals.rival import Rival
from recap.rivals.sasrec import Sasrec, SasrecConfig

AnyRival = Annotated[
    FlashbackConfig | ReplayConfig | LotnextConfig | SasrecConfig | GetnextConfig | DchlConfig,
    Field(discriminator="rival"),
]

_NETWORKS: Final[dict[type[RivalConfig], type[Rival]]] = {
    FlashbackConfig: Flashback,
    ReplayConfig: Replay,
    LotnextConfig: Lotnext,
    SasrecConfig: Sasrec,
    GetnextConfig: Getnext,
    DchlConfig: Dchl,
}
RIVALS: Final[dict[str, type[RivalConfig]]] = {kind.model_fields["rival"].default: kind for kind in _NETWORKS}
"""Name -> class of configuration, in the order of docs/rivals.md."""


def rival_config(name: str) -> RivalConfig:
    """A rival with its published values, by name.

    Raises:
        ConfigError: unknown name.
    """
    if name not in RIVALS:
        raise ConfigError(f"unknown model {name!r}; choose one of recap, {', '.join(RIVALS)}")
    return RIVALS[name]()  # type: ignore[call-arg]  # every rival has defaults for all fields


def build_rival(config: RivalConfig, city: City, dtype: torch.dtype = torch.float32) -> Rival:
    """An untrained network; train in float32, ask for float64 where scores must not depend on the batch."""
    network: Rival = _NETWORKS[type(config)](config, city)  # type: ignore[call-arg]  # each takes its own configuration
    return network.to(dtype)
