"""Trainings in the background: one folder for each run, a queue, and one runner on each machine or Slurm."""
