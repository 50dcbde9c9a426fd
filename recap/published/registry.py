"""The network of each published model."""

from typing import Final

import torch

from recap.published.city import City
from recap.published.configs import PublishedConfig
from recap.published.depoi import Depoi
from recap.published.hypergraphs import Dchl, Msahg
from recap.published.lotnext import Lotnext
from recap.published.network import PublishedNetwork
from recap.published.recurrent import Deepmove, Dprl, Flashback, Replay
from recap.published.sasrec import Melt, Sasrec
from recap.published.sthgcn import Sthgcn
from recap.published.transformers import Getnext, Rotan

_KINDS: Final[tuple[type[PublishedNetwork], ...]] = (
    Flashback, Replay, Lotnext, Sasrec, Melt, Getnext, Dchl, Deepmove, Dprl, Rotan, Depoi, Msahg, Sthgcn,
)  # fmt: skip
_NETWORKS: Final = {kind.__name__.lower(): kind for kind in _KINDS}
"""Name in a configuration -> network."""


def build_published(config: PublishedConfig, city: City, dtype: torch.dtype = torch.float32) -> PublishedNetwork:
    """An untrained network; in float64, scores do not depend on the batch."""
    network: PublishedNetwork = _NETWORKS[config.network](config, city)
    return network.to(dtype)
