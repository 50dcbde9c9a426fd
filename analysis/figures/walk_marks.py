"""The marks of one case's map as tables, for `walk_map`.

Pixels are right of and below the map's middle at its opening camera. Where discs overlap, the better one is on top and
its tip names the others. Names that would cover a disc are left out.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.labels import label_table
from analysis.formatting import percent, points, rank_number
from analysis.geography import Camera, screen_offsets
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from analysis.workspace import Workspace
from recap import columns as c

SMALLEST_DISC_PX = 9.0
LARGEST_DISC_PX = 24.0
SOURCE_PX = 8.0
STOP_PX = 8.0
RING_PX = 5.0
CHOSEN_PX = 4.0
"""Distance of the chosen place's ring from its disc or from the truth's ring."""
LONE_RING_PX = 12.0
NAMED_CANDIDATES = 3
NARROW = (270.0, 264.0)
"""Half the width and height of the narrowest map in pixels; names that fit there are never cut off."""
WIDE = (380.0, 264.0)
"""The same for a map at 1440 pixels, which has space for more names."""
PICTURE = (360.0, 256.0)
"""The same for a picture."""
ZOOM_BUTTONS = np.array([[350.0, -230.0, 42.0], [240.0, -230.0, 42.0]])
"""Position of the map's buttons at either width: x, y, radius."""
CREDIT = np.array([[x, 254.0, 10.0] for x in range(60, 390, 20)])
"""Position of the credit of a wide map, in a row of discs: x, y, radius."""


@dataclass(frozen=True, eq=False)
class WalkMarks:
    """The marks of one case.

    Attributes:
        walked: stops up to now in time order: ``at`` ([longitude, latitude]), ``x, y`` in pixels, ``stop, tip``.
        stops: numbered stops, which cover no other mark: ``at, x, y, r, stop, tip``.
        source: one row, ``at, x, y, r, tip``.
        discs: one row per listed place, best first: ``at, x, y, r, poi, name, rank`` (text), ``revisit, truth, tip``
            and ``covered`` (whether a better disc or the source covers its middle).
        ring: around the truth, one row or none: ``at, x, y, r, tip``.
        two_hops: ``path`` (three positions), ``w`` in pixels, ``tip``.
        middles: ``at, x, y, r, tip``.
        names: ``at, x, y, text, shift, anchor, of`` (source, truth or model).
    """

    camera: Camera
    walked: pd.DataFrame
    stops: pd.DataFrame
    source: pd.DataFrame
    discs: pd.DataFrame
    ring: pd.DataFrame
    two_hops: pd.DataFrame
    middles: pd.DataFrame
    names: pd.DataFrame

    @property
    def strength(self) -> np.ndarray:
        """Opacity of each segment of the path, from 0 to 1; the latest is strongest."""
        return 0.78 ** np.arange(len(self.walked) - 1)[::-1]

    def chosen(self, poi: int | None) -> pd.DataFrame:
        """A ring around a place's disc: ``at, r, tip``; no row if it has no disc."""
        disc = self.discs[self.discs[c.POI] == poi]
        return disc[["at", "tip"]].assign(r=disc["r"] + RING_PX * disc["truth"] + CHOSEN_PX)

    @property
    def round_marks(self) -> np.ndarray:
        """x, y and radius of all round marks."""
        tables = [self.source, self.discs, self.ring, self.stops]
        return np.concatenate([table[["x", "y", "r"]].to_numpy(float).reshape(-1, 3) for table in tables])


def walk_marks(
    opened: Workspace,
    trajectory: Trajectory,
    prediction: CasePrediction,
    *,
    camera: Camera,
    show_truth: bool = True,
    show_paths: bool = True,
    picture: bool = False,
    lower_px: int = 0,
) -> WalkMarks:
    """Place one case's marks for a camera, without parts that the model does not use.

    Args:
        lower_px: how much lower the map is than Walk's.
        picture: for a PNG, which has one fixed size.
    """
    walked = _walked(opened, trajectory, int(prediction.case[c.ROW]), camera)
    source = walked.iloc[[-1]].assign(r=SOURCE_PX)
    discs = _discs(opened, prediction, camera, show_truth)
    ring = _ring(opened, prediction, camera, discs) if show_truth else discs.head(0)
    source, discs, stops = _stops(walked, source, discs, ring)
    source, discs = _stacked(source, discs)
    show_paths = show_paths and prediction.reads_paths
    two_hops, middles = _two_hops(opened, prediction, camera, show_truth and show_paths, show_paths)
    marks = WalkMarks(camera, walked, stops, source, discs, ring, two_hops, middles, pd.DataFrame())
    return replace(marks, names=_names(opened, prediction, marks, picture, lower_px / 2))


def disc_radius_px(weight: np.ndarray) -> np.ndarray:
    """Disc radii; the area grows with the share of the largest weight."""
    largest = weight.max() if len(weight) else 1.0
    share = weight / largest if largest > 0 else np.zeros(len(weight))
    return np.maximum(LARGEST_DISC_PX * np.sqrt(share), SMALLEST_DISC_PX)


def positions(longitude: np.ndarray, latitude: np.ndarray) -> list[list[float]]:
    """Pairs of longitude and latitude, to a tenth of a metre."""
    return [[round(float(lon), 6), round(float(lat), 6)] for lon, lat in zip(longitude, latitude, strict=True)]


def placed(opened: Workspace, poi: np.ndarray, camera: Camera) -> pd.DataFrame:
    """Places on a map: ``at`` ([longitude, latitude]), ``x, y`` in pixels."""
    x, y = screen_offsets(camera, opened.latitude[poi], opened.longitude[poi])
    return pd.DataFrame({"at": positions(opened.longitude[poi], opened.latitude[poi]), "x": x, "y": y})


def _walked(opened: Workspace, trajectory: Trajectory, row: int, camera: Camera) -> pd.DataFrame:
    table = trajectory.stops.iloc[: trajectory.stop_of(row)]
    tips = [
        f"Stop {stop}: {name}, {time:%H:%M}"
        for stop, name, time in zip(table["stop"], table["name"], table["local_time"], strict=True)
    ]
    facts: dict[str, Any] = {c.POI: table[c.POI].to_numpy(), "stop": table["stop"].astype(str).to_numpy(), "tip": tips}
    return placed(opened, table[c.POI].to_numpy(), camera).assign(**facts)


def _stops(
    walked: pd.DataFrame, source: pd.DataFrame, discs: pd.DataFrame, ring: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The source, the listed places, and numbered stops that cover nothing.

    If numbers would overlap, the latest stays. A mark's tip lists the stops at its place.
    """
    together = walked.groupby(c.POI)["tip"].agg("\n".join).to_dict()
    lines = [[together[poi]] if poi in together else [] for poi in discs[c.POI]]
    discs = discs.assign(tip=["\n".join([tip, *stops]) for tip, stops in zip(discs["tip"], lines, strict=True)])
    taken = [tuple(row) for table in (source, discs, ring) for row in table[["x", "y", "r"]].to_numpy(float)]
    kept: list[int] = []
    for row in range(len(walked) - 2, -1, -1):
        x, y = float(walked["x"].iloc[row]), float(walked["y"].iloc[row])
        if all(math.hypot(x - other_x, y - other_y) >= STOP_PX + r for other_x, other_y, r in taken):
            taken.append((x, y, STOP_PX))
            kept.append(row)
    stops = walked.assign(r=STOP_PX, tip=walked[c.POI].map(together).to_numpy())
    source = source.assign(tip=stops["tip"].iloc[-1])
    return source.reset_index(drop=True), discs, stops.iloc[sorted(kept)].reset_index(drop=True)


def _discs(opened: Workspace, prediction: CasePrediction, camera: Camera, show_truth: bool) -> pd.DataFrame:
    listed = prediction.candidates.head(prediction.num_best)
    facts = _disc_facts(listed, show_truth)
    discs = placed(opened, listed[c.POI].to_numpy(), camera).assign(**facts)
    return discs if prediction.reads_visits else discs.assign(revisit=False)


def _ring(opened: Workspace, prediction: CasePrediction, camera: Camera, discs: pd.DataFrame) -> pd.DataFrame:
    """The truth's ring around its disc, or else around its place."""
    target = int(prediction.case[c.TARGET])
    own = discs.loc[discs["truth"], "r"]
    radius = float(own.iloc[0]) + RING_PX if len(own) else LONE_RING_PX
    tip = f"True next place: {opened.labels[target]}, rank {rank_number(prediction.target_rank)}"
    return placed(opened, np.array([target]), camera).assign(r=radius, tip=tip)


def _stacked(source: pd.DataFrame, discs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Find discs whose middle is under another mark, and add them to that mark's tip."""
    marks = pd.concat([source, discs], ignore_index=True)
    x, y, r, tips = (marks[name].tolist() for name in ("x", "y", "r", "tip"))
    on_top = list(range(len(marks)))  # of each mark the one that is seen at its middle
    for mark in range(1, len(marks)):
        above = next((top for top in range(mark) if math.hypot(x[mark] - x[top], y[mark] - y[top]) < r[top]), mark)
        on_top[mark] = on_top[above]
        if above != mark:
            tips[on_top[mark]] += f"\n{marks['tip'].iloc[mark]}"
    covered = [top != mark for mark, top in enumerate(on_top)]
    return source.assign(tip=tips[:1]), discs.assign(tip=tips[1:], covered=covered[1:])


def _disc_facts(listed: pd.DataFrame, show_truth: bool) -> dict[str, Any]:
    has_probability = bool(listed["probability"].notna().all())
    weight = listed["probability"].to_numpy() if has_probability else 1.0 / listed[c.RANK].to_numpy()
    if has_probability:
        facts = listed["probability"].map(lambda probability: percent(probability, 1))
    else:
        facts = listed[c.SCORE].map(lambda score: f"score {points(score)}")
    ranks = listed[c.RANK].map(rank_number)
    tips = ranks + ". " + listed["name"] + ": " + facts
    return {
        c.POI: listed[c.POI].to_numpy(),
        "name": listed["name"].to_numpy(),
        c.RANK: ranks.to_numpy(),
        "revisit": listed["revisit"].to_numpy(),
        "truth": listed["truth"].to_numpy() & show_truth,
        "r": np.round(disc_radius_px(weight), 1),
        "tip": (tips + ", " + listed["distance_km"].map("{:.1f} km".format)).to_numpy(),
    }


def _two_hops(
    opened: Workspace, prediction: CasePrediction, camera: Camera, to_truth: bool, show_paths: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    wanted = set(prediction.candidates.head(prediction.num_best)[c.POI].head(5)) if show_paths else set()
    wanted |= {int(prediction.case[c.TARGET])} if to_truth else set()
    paths = prediction.paths[prediction.paths[c.POI].isin(wanted)]
    source = placed(opened, np.array([int(prediction.case[c.SOURCE])]), camera).iloc[0]
    middles, ends = (placed(opened, paths[name].to_numpy(np.int64), camera) for name in ("middle", c.POI))
    tips = [
        f"via {opened.labels[middle]}: {a} × {b} training transitions"
        for middle, a, b in zip(paths["middle"], paths["count_in"], paths["count_out"], strict=True)
    ]
    largest = paths["product"].max() if len(paths) else 1.0
    width = np.round(1.5 + 4.5 * np.sqrt(paths["product"].to_numpy(float) / largest), 1)
    ways = [[source["at"], middle, end] for middle, end in zip(middles["at"], ends["at"], strict=True)]
    lines = pd.DataFrame({"path": ways, "w": width, "tip": tips})
    return lines, middles.assign(r=4.0, tip=tips).drop_duplicates(subset="tip")


def _names(
    opened: Workspace, prediction: CasePrediction, marks: WalkMarks, picture: bool, cut_px: float
) -> pd.DataFrame:
    truth = opened.labels[int(prediction.case[c.TARGET])] if len(marks.ring) else ""
    here = marks.discs[c.POI] == int(prediction.case[c.SOURCE])
    wanted = pd.concat(
        [
            marks.source.assign(text=opened.labels[int(prediction.case[c.SOURCE])], of="source"),
            marks.ring.assign(text=truth, of="truth"),
            marks.discs[~(marks.discs["truth"] | here)]
            .head(NAMED_CANDIDATES)
            .rename(columns={"name": "text"})
            .assign(of="model"),
        ],
        ignore_index=True,
    )
    cut = np.array([0.0, cut_px, 0.0])
    return label_table(
        wanted,
        wanted["text"].tolist(),
        obstacles=marks.round_marks if picture else np.vstack([marks.round_marks, ZOOM_BUTTONS + cut, CREDIT - cut]),
        half_size=PICTURE if picture else (WIDE[0], WIDE[1] - cut_px),
        narrowest=None if picture else (NARROW[0], NARROW[1] - cut_px),
    )
