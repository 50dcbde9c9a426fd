"""The `recap` command and the pages."""

import os

# torch's threads must sleep, not spin, while they wait: on a busy machine spinning takes several times as long.
# OpenMP reads this when torch is loaded, so it is set before anything else; whoever sets it is left alone.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KMP_BLOCKTIME", "0")
