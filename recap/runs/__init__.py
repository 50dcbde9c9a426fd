"""Trainings in the background: one folder a run, a queue, one runner a machine, or Slurm."""
