"""The network of each published model."""

from typing import Final

import torch

from recap.published.configs import PublishedConfig
from recap.published.depoi import Depoi
from recap.published.hypergraphs import Dchl, Msahg
from recap.published.lotnext import Lotnext
from recap.published.network import City, PublishedNetwork
from recap.published.recurrent import Deepmove, Dprl, Flashback, Replay
from recap.published.sasrec import Melt, Sasrec
from recap.published.sthgcn import Sthgcn
from recap.published.transformers import Getnext, Rotan

_NETWORKS: Final[dict[str, type[PublishedNetwork]]] = {
    kind.__name__.lower(): kind for kind in (
        Flashback, Replay, Lotnext, Sasrec, Melt, Getnext, Dchl, Deepmove, Dprl, Rotan, Depoi, Msahg, Sthgcn,
    )
}  # fmt: skip
"""Name in a configuration -> network."""


def build_published(config: PublishedConfig, city: City, dtype: torch.dtype = torch.float32) -> PublishedNetwork:
    """An untrained network; in float64, scores do not depend on the batch."""
    return _NETWORKS[config.network](config, city).to(dtype)
