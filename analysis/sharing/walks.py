"""One transition of a user for a picture."""

from dataclasses import replace

from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from recap import columns as c


def share_step(trajectory: Trajectory, prediction: CasePrediction) -> tuple[Trajectory, CasePrediction]:
    """One transition, without the path so far and without other places that the user visited."""
    row = int(prediction.case[c.ROW])
    here = trajectory.stops["stop"] == trajectory.stop_of(row)
    alone = replace(trajectory, first_row=row, stops=trajectory.stops[here].reset_index(drop=True))
    return alone, replace(prediction, candidates=prediction.candidates.assign(revisit=False))
