"""How the server's threads share the cores; import it wherever `app` loads torch."""

import sys
import threading
from typing import Final

import torch

# Visitors share the cores; two threads on two busy cores were four to ten times slower.
torch.set_num_threads(1)

# An explanation releases Python's lock thousands of times. By default it would wait 5 ms each time for another
# visitor's page.
sys.setswitchinterval(0.0005)

TURNS: Final = threading.Lock()
"""One explanation at a time: in parallel they wait for each other at every step, and all end late."""
