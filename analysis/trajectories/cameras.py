"""What a map of a case looks at: the next place and what is predicted for it, or the whole walk."""

import numpy as np

from analysis.geography import Camera, fit_camera
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from analysis.workspace import Workspace
from recap import columns as c

FITTED_PREDICTIONS = 5
CLOSEST_ZOOM = 16.0
NARROWEST_PX = 380
"""Width of the map where it stands beside the list on a projector of 960 pixels; wider maps show more at the sides."""
PICTURE_PX = 720
"""Width of a picture or a film of the map."""
MAP_HEIGHT_PX = 500
MARGIN_PX = 46


def fit_prediction(
    opened: Workspace, prediction: CasePrediction, *, show_truth: bool, width_px: int = NARROWEST_PX
) -> Camera:
    """The camera on the source, the first five predictions and, only while it is shown, the truth."""
    return _fit(opened, _ahead(prediction, show_truth), width_px)


def fit_walk(
    opened: Workspace,
    trajectory: Trajectory,
    prediction: CasePrediction,
    *,
    show_truth: bool,
    width_px: int = NARROWEST_PX,
) -> Camera:
    """The camera on every stop up to now too; later stops would give the truth away."""
    stops = trajectory.stops[c.POI].to_numpy()[: trajectory.stop_of(int(prediction.case[c.CASE]))]
    return _fit(opened, np.concatenate([stops, _ahead(prediction, show_truth)]), width_px)


def _ahead(prediction: CasePrediction, show_truth: bool) -> np.ndarray:
    best = prediction.candidates.head(prediction.num_best)[c.POI].to_numpy()[:FITTED_PREDICTIONS]
    truth = [int(prediction.case[c.TARGET])] if show_truth else []
    return np.array([int(prediction.case[c.SOURCE]), *best, *truth], dtype=np.int64)


def _fit(opened: Workspace, poi: np.ndarray, width_px: int) -> Camera:
    return fit_camera(
        opened.latitude[poi],
        opened.longitude[poi],
        width_px=width_px,
        height_px=MAP_HEIGHT_PX,
        padding_px=MARGIN_PX,
        max_zoom=CLOSEST_ZOOM,
    )
