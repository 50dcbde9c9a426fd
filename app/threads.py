"""How the server's threads share the cores; imported by everything in `app` that loads torch."""

import sys
import threading
from typing import Final

import torch

# Of the whole server: its visitors share the cores. Two threads on two busy cores were four to ten times slower.
torch.set_num_threads(1)

# An explanation is thousands of small steps of torch, each of which gives Python's lock away and asks for it back. By
# default it waits 5 ms each time while another visitor's page is put together.
sys.setswitchinterval(0.0005)

TURNS: Final = threading.Lock()
"""One explanation at a time: in parallel they wait for each other at every step, and all end late."""
