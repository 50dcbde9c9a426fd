"""The network of each rival."""

from typing import Final

import torch

from recap.rivals.city import City
from recap.rivals.config import RivalConfig
from recap.rivals.configs import (
    DchlConfig,
    DeepmoveConfig,
    DepoiConfig,
    DprlConfig,
    FlashbackConfig,
    GetnextConfig,
    LotnextConfig,
    MeltConfig,
    MsahgConfig,
    ReplayConfig,
    RotanConfig,
    SasrecConfig,
    SthgcnConfig,
)
from recap.rivals.dchl import Dchl
from recap.rivals.deepmove import Deepmove
from recap.rivals.depoi import Depoi
from recap.rivals.dprl import Dprl
from recap.rivals.flashback import Flashback
from recap.rivals.getnext import Getnext
from recap.rivals.lotnext import Lotnext
from recap.rivals.melt import Melt
from recap.rivals.msahg import Msahg
from recap.rivals.replay import Replay
from recap.rivals.rival import Rival
from recap.rivals.rotan import Rotan
from recap.rivals.sasrec import Sasrec
from recap.rivals.sthgcn import Sthgcn

_NETWORKS: Final[dict[type[RivalConfig], type[Rival]]] = {
    FlashbackConfig: Flashback,
    ReplayConfig: Replay,
    LotnextConfig: Lotnext,
    SasrecConfig: Sasrec,
    MeltConfig: Melt,
    GetnextConfig: Getnext,
    DchlConfig: Dchl,
    DeepmoveConfig: Deepmove,
    DprlConfig: Dprl,
    RotanConfig: Rotan,
    DepoiConfig: Depoi,
    MsahgConfig: Msahg,
    SthgcnConfig: Sthgcn,
}


def build_rival(config: RivalConfig, city: City, dtype: torch.dtype = torch.float32) -> Rival:
    """An untrained network; train in float32, ask for float64 where scores must not depend on the batch."""
    network: Rival = _NETWORKS[type(config)](config, city)
    return network.to(dtype)
