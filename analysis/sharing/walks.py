"""One transition of a user for a picture."""

from collections.abc import Sequence
from dataclasses import replace

from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from recap import columns as c


def share_step(
    trajectory: Trajectory, prediction: CasePrediction, labels: Sequence[str]
) -> tuple[Trajectory, CasePrediction]:
    """One transition, with places by masked labels, without the path so far and other places that the user visited."""
    row = int(prediction.case[c.ROW])
    here = trajectory.stops["stop"] == trajectory.stop_of(row)
    alone = replace(trajectory, first_row=row, stops=trajectory.stops[here].reset_index(drop=True))
    named = [labels[int(poi)] for poi in prediction.candidates[c.POI]]
    return alone, replace(prediction, candidates=prediction.candidates.assign(revisit=False, name=named))
