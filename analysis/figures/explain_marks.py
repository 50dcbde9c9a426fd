"""The marks of an explanation's map, as tables."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.explain.explanation import CaseExplanation
from analysis.figures.labels import label_table
from analysis.figures.walk_marks import positions
from analysis.geography import Camera, fit_camera, screen_offsets
from analysis.workspace import Workspace
from recap import columns as c

RADIUS = {"source": 6.0, "truth": 11.0, "model": 9.0, "other": 9.0}
MIDDLE_PX = 5.0


@dataclass(frozen=True, eq=False)
class ExplainMarks:
    """The marks of an explanation; x and y are pixels right of and below the map's middle.

    Attributes:
        places: source, target and runner-up: ``of`` (source, truth, model, other), ``name, at, x, y, r, tip``.
        middles: of two-hop paths: ``at, x, y, r, tip``.
        two_hops: ``path`` (three positions), ``x, y`` (three each), ``w`` in pixels, ``tip``.
        names: ``at, x, y, text, shift, anchor, of``.
    """

    camera: Camera
    places: pd.DataFrame
    middles: pd.DataFrame
    two_hops: pd.DataFrame
    names: pd.DataFrame


def explain_marks(
    explanation: CaseExplanation, opened: Workspace, *, size: tuple[int, int], narrowest: int = 10_000
) -> ExplainMarks:
    """Place an explanation on a map of ``size`` pixels that shows its source, both places and all middles."""
    paths = explanation.paths
    poi = np.array([explanation.source, explanation.target, explanation.runner_up, *(path.middle for path in paths)])
    camera = fit_camera(
        opened.latitude[poi], opened.longitude[poi], width_px=min(size[0], narrowest), height_px=size[1]
    )
    x, y = screen_offsets(camera, opened.latitude[poi], opened.longitude[poi])
    at = positions(opened.longitude[poi], opened.latitude[poi])
    middles = pd.DataFrame(
        {"at": at[3:], "x": x[3:], "y": y[3:], "r": MIDDLE_PX, "tip": [path.name for path in paths], c.POI: poi[3:]}
    )
    two_hops = pd.DataFrame(
        {
            "path": [[at[0], middle, at[1]] for middle in at[3:]],
            "x": [[x[0], middle, x[1]] for middle in x[3:]],
            "y": [[y[0], middle, y[1]] for middle in y[3:]],
            "w": [round(1.5 + 6 * path.share, 1) for path in paths],
            "tip": [
                f"via {path.name}: {path.count_in:,} of {path.total_in:,} and {path.count_out:,} of {path.total_out:,} "
                "training transitions"
                for path in paths
            ],
        }
    )
    places = _places(explanation, at[:3], x[:3], y[:3])
    room = (min(size[0], narrowest) / 2 - 4, size[1] / 2 - 4)
    return ExplainMarks(camera, places, middles, two_hops, _names(places, middles, size, room))


def _places(explanation: CaseExplanation, at: list[list[float]], x: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    names = [explanation.source_name, explanation.target_name, explanation.b.name]
    of = ["source", *explanation.roles]
    return pd.DataFrame(
        {
            c.POI: [explanation.source, explanation.target, explanation.runner_up],
            "of": of,
            "name": names,
            "tip": names,
            "r": [RADIUS[role] for role in of],
            "at": at,
            "x": x,
            "y": y,
        }
    )


def _names(
    places: pd.DataFrame, middles: pd.DataFrame, size: tuple[int, int], narrowest: tuple[float, float]
) -> pd.DataFrame:
    wanted = places.iloc[[1, 2, 0]]
    return label_table(
        wanted,
        wanted["name"].tolist(),
        obstacles=np.concatenate([table[["x", "y", "r"]].to_numpy(float) for table in (places, middles)]),
        half_size=(size[0] / 2 - 4, size[1] / 2 - 4),
        narrowest=narrowest,
    )
