"""One transition of a user for a picture."""

from dataclasses import replace

from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from recap import columns as c


def share_step(trajectory: Trajectory, prediction: CasePrediction) -> tuple[Trajectory, CasePrediction]:
    """One transition, without the path so far and without other places that the user visited."""
    here = trajectory.stops[c.CASE] == int(prediction.case[c.CASE])
    alone = replace(trajectory, stops=trajectory.stops[here].reset_index(drop=True))
    return alone, replace(prediction, candidates=prediction.candidates.assign(revisit=False))
