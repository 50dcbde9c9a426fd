"""Camera of a case's map."""

from collections.abc import Sequence

import numpy as np

from analysis.geography import Camera, fit_camera
from analysis.trajectories.predictions import CasePrediction
from analysis.workspace import Workspace
from recap import columns as c

FITTED_PREDICTIONS = 5
OUTLIER, NEAR_KM = 4.0, 0.5
CLOSEST_ZOOM = 16.0
NARROWEST_PX = 550
"""Width of the map in the narrowest window that is not a phone's; wider maps show more at the sides."""
PICTURE_PX = 720
"""Width of a picture or a film of the map."""
MAP_HEIGHT_PX = 540
NEXT_HEIGHT_PX = 420
"""The map of the next place, which has more below it."""
MARGIN_PX = 46


def fit_prediction(
    opened: Workspace,
    prediction: CasePrediction,
    *,
    show_truth: bool,
    width_px: int = NARROWEST_PX,
    height_px: int = MAP_HEIGHT_PX,
    also: Sequence[int] = (),
) -> Camera:
    """The camera on the source, the first five predictions and, only while it is shown, the truth; and on ``also``.

    Of the five, outliers several times as far away as half of them are left out; otherwise near places would be one
    dot.
    """
    best = prediction.candidates.head(min(prediction.num_best, FITTED_PREDICTIONS))
    distance_km = best["distance_km"].to_numpy(float)
    reach_km = OUTLIER * max(float(np.median(distance_km)), NEAR_KM) if len(best) else 0.0
    truth = [int(prediction.case[c.TARGET])] if show_truth else []
    near = best[c.POI][distance_km <= reach_km]
    poi = np.array([int(prediction.case[c.SOURCE]), *near, *truth, *also], dtype=np.int64)
    size = {"width_px": width_px, "height_px": height_px, "padding_px": MARGIN_PX}
    return fit_camera(opened.latitude[poi], opened.longitude[poi], max_zoom=CLOSEST_ZOOM, **size)
