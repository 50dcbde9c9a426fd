"""How the server's threads share the cores."""

import sys
import threading
from functools import cache
from typing import Final

TURNS: Final = threading.Lock()
"""One explanation at a time: in parallel they wait for each other at every step, and all end late."""


@cache
def share_cores() -> None:
    """Call it before a model is used. Visitors share the cores: two torch threads on two busy cores were four to ten
    times slower. And an explanation releases Python's lock thousands of times: by default it would wait 5 ms each time
    for another visitor's page.
    """
    import torch  # here: views of kept records need none

    torch.set_num_threads(1)
    sys.setswitchinterval(0.0005)
