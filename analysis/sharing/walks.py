"""One step of a walk as a picture may show it."""

from dataclasses import replace

from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from recap import columns as c


def share_step(trajectory: Trajectory, prediction: CasePrediction) -> tuple[Trajectory, CasePrediction]:
    """One step of a walk for a picture: without the way there, and without where else the user had been."""
    here = trajectory.stops[c.CASE] == int(prediction.case[c.CASE])
    alone = replace(trajectory, stops=trajectory.stops[here].reset_index(drop=True))
    return alone, replace(prediction, candidates=prediction.candidates.assign(revisit=False))
