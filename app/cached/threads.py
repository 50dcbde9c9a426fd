"""How many threads the app's models compute with; imported by every module of `app.cached` that loads torch."""

import torch

# Of the whole server: its visitors share the cores. Two threads on two busy cores were four to ten times slower.
torch.set_num_threads(1)
