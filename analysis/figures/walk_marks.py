"""What a map of one case shows, as tables; `walk_map` draws them in a browser and `map_image` as a picture.

Pixels are right of and below the map's middle at its opening camera. There no disc overlaps another: later ones move to
a free spot, with a line back to their place, and a name that would cover a disc is left out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.labels import place_labels
from analysis.figures.spread import spread_discs
from analysis.formatting import percent, points, rank_number
from analysis.geography import Camera, from_screen, screen_offsets
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from analysis.workspace import Workspace
from recap import columns as c

SMALLEST_DISC_PX = 9.0
LARGEST_DISC_PX = 27.0
SOURCE_PX = 8.0
STOP_PX = 8.0
RING_PX = 5.0
CHOSEN_PX = 4.0
"""How far the ring of the chosen place lies outside the disc, or outside the truth's ring."""
LONE_RING_PX = 12.0
NAMED_CANDIDATES = 3
NARROW = (186.0, 244.0)
"""Half the width and height in pixels within which marks stay, and names that find room there: a projector's map."""
WIDE = (308.0, 244.0)
"""The same of a map at 1440 pixels, where further names stay."""
PICTURE = (360.0, 256.0)
"""The same of a picture or a film, which nobody makes narrower."""
ZOOM_BUTTONS = np.array([[273.0, -210.0, 42.0], [153.0, -210.0, 42.0]])
"""Where the browser's map has its buttons at either width: x, y, radius."""


@dataclass(frozen=True, eq=False)
class WalkMarks:
    """The marks of one case.

    Attributes:
        walked: every stop up to now in time order: ``at`` ([longitude, latitude]), ``x, y`` in pixels, ``stop, tip``.
        stops: the numbered ones, of which none lies over another mark: ``at, x, y, r, stop, tip``.
        source: one row, ``at, x, y, r, tip``.
        discs: one row per listed place, best first: ``poi, name, rank`` (text), ``revisit, truth, tip``, ``r`` in
            pixels, where it is drawn (``at, x, y``), its true place (``true_at, true_x, true_y``), ``moved``.
        ring: around the truth, one row or none: ``at, x, y, true_at, true_x, true_y, r, moved, tip``.
        two_hops: ``path`` (three positions), ``x, y`` (three each), ``w`` in pixels, ``tip``.
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
        """How strongly each segment of the walk is drawn, from 0 to 1, the latest most."""
        return 0.78 ** np.arange(len(self.walked) - 1)[::-1]

    @property
    def leaders(self) -> pd.DataFrame:
        """Lines from moved discs back to their places."""
        moved = [table[table["moved"]] for table in (self.discs, self.ring)]
        columns = ["at", "x", "y", "true_at", "true_x", "true_y"]
        return pd.concat([table[columns] for table in moved], ignore_index=True).drop_duplicates(subset=["x", "y"])

    def chosen(self, poi: int | None) -> pd.DataFrame:
        """A ring around the disc of a place: ``at, r, tip``; no row where it has none."""
        disc = self.discs[self.discs[c.POI] == poi]
        return disc[["at", "tip"]].assign(r=disc["r"] + RING_PX * disc["truth"] + CHOSEN_PX)

    @property
    def round_marks(self) -> np.ndarray:
        """Rows of x, y and radius of everything round that a name must not cover."""
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
) -> WalkMarks:
    """Lay out one case for a camera; while the truth is hidden, nothing hangs on it.

    Args:
        picture: for `map_image`, which has one size, rather than for a browser's map, which has many.
    """
    walked = _walked(opened, trajectory, int(prediction.case[c.CASE]), camera)
    source = walked.iloc[[-1]].assign(r=SOURCE_PX)
    discs, ring = _discs_and_ring(opened, prediction, camera, source, show_truth, PICTURE if picture else NARROW)
    source, discs, stops = _stops(walked, source, discs, ring)
    two_hops, middles = _two_hops(opened, prediction, camera, show_truth and show_paths, show_paths)
    marks = WalkMarks(camera, walked, stops, source, discs, ring, two_hops, middles, pd.DataFrame())
    return WalkMarks(
        camera, walked, stops, source, discs, ring, two_hops, middles, _names(opened, prediction, marks, picture)
    )


def disc_radius_px(weight: np.ndarray) -> np.ndarray:
    """Disc radii whose area grows with a share of the largest weight."""
    largest = weight.max() if len(weight) else 1.0
    share = weight / largest if largest > 0 else np.zeros(len(weight))
    return np.maximum(LARGEST_DISC_PX * np.sqrt(share), SMALLEST_DISC_PX)


def positions(longitude: np.ndarray, latitude: np.ndarray) -> list[list[float]]:
    """Pairs in the order that maps take, to a tenth of a metre."""
    return [[round(float(lon), 6), round(float(lat), 6)] for lon, lat in zip(longitude, latitude, strict=True)]


def _at(opened: Workspace, poi: np.ndarray, camera: Camera) -> pd.DataFrame:
    x, y = screen_offsets(camera, opened.latitude[poi], opened.longitude[poi])
    return pd.DataFrame({"at": positions(opened.longitude[poi], opened.latitude[poi]), "x": x, "y": y})


def _walked(opened: Workspace, trajectory: Trajectory, case: int, camera: Camera) -> pd.DataFrame:
    """Every stop up to now: ``at, x, y, poi, stop, tip``."""
    table = trajectory.stops.iloc[: trajectory.stop_of(case)]
    tips = [
        f"Stop {stop}: {name}, {time:%H:%M}"
        for stop, name, time in zip(table["stop"], table["name"], table["local_time"], strict=True)
    ]
    facts: dict[str, Any] = {c.POI: table[c.POI].to_numpy(), "stop": table["stop"].astype(str).to_numpy(), "tip": tips}
    return _at(opened, table[c.POI].to_numpy(), camera).assign(**facts)


def _stops(
    walked: pd.DataFrame, source: pd.DataFrame, discs: pd.DataFrame, ring: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The source, the listed places, and the numbered stops where nothing else is drawn.

    Of numbers that would lie over each other the latest stays; a mark's tip tells of the stops at its own place.
    """
    said = [walked.loc[walked[c.POI] == poi, "tip"].tolist() for poi in discs[c.POI]]
    discs = discs.assign(tip=["\n".join([tip, *stops]) for tip, stops in zip(discs["tip"], said, strict=True)])
    taken = [tuple(row) for table in (source, discs, ring) for row in table[["x", "y", "r"]].to_numpy(float)]
    kept: list[int] = []
    for row in range(len(walked) - 2, -1, -1):
        x, y = float(walked["x"].iloc[row]), float(walked["y"].iloc[row])
        if all(np.hypot(x - other_x, y - other_y) >= STOP_PX + r for other_x, other_y, r in taken):
            taken.append((x, y, STOP_PX))
            kept.append(row)
    together = walked.groupby(c.POI)["tip"].agg("\n".join)
    told = walked.assign(r=STOP_PX, tip=walked[c.POI].map(together).to_numpy())
    source = source.assign(tip=told["tip"].iloc[-1])
    return source.reset_index(drop=True), discs, told.iloc[sorted(kept)].reset_index(drop=True)


def _discs_and_ring(
    opened: Workspace,
    prediction: CasePrediction,
    camera: Camera,
    source: pd.DataFrame,
    show_truth: bool,
    room: tuple[float, float],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Listed places and the truth's ring, spread together."""
    listed = prediction.candidates.head(prediction.num_best)
    discs = _at(opened, listed[c.POI].to_numpy(), camera).assign(**_disc_facts(listed, show_truth))
    truth = discs["truth"].to_numpy()
    lone = show_truth and not truth.any()
    ring = discs[truth].copy()
    if lone:
        ring = _at(opened, np.array([int(prediction.case[c.TARGET])]), camera).assign(r=LONE_RING_PX - RING_PX)
    ring["r"] = ring["r"] + RING_PX
    if show_truth:
        target = opened.labels[int(prediction.case[c.TARGET])]
        ring["tip"] = f"True next place: {target}, rank {rank_number(prediction.target_rank)}"
    else:
        ring["tip"] = ""
    whole = discs["r"].to_numpy() + RING_PX * truth
    true_x, true_y = (pd.concat([discs[name], ring[name]] if lone else [discs[name]]).to_numpy(float) for name in "xy")
    radius = np.concatenate([whole, ring["r"]]) if lone else whole
    fixed = source[["x", "y", "r"]].to_numpy(float)
    x, y = spread_discs(true_x, true_y, radius, fixed=fixed, half_size=room)
    discs = _moved(discs, x[: len(discs)], y[: len(discs)], camera)
    ring = _moved(ring, x[-1:], y[-1:], camera) if lone else _moved(ring, x[truth], y[truth], camera)
    return discs, ring


def _moved(table: pd.DataFrame, x: np.ndarray, y: np.ndarray, camera: Camera) -> pd.DataFrame:
    """The table with true places renamed and drawn ones beside them."""
    table = table.reset_index(drop=True).rename(columns={"at": "true_at", "x": "true_x", "y": "true_y"})
    latitude, longitude = from_screen(camera, x, y)
    moved = np.hypot(x - table["true_x"], y - table["true_y"]) > 0.5
    drawn = [a if far else b for a, b, far in zip(positions(longitude, latitude), table["true_at"], moved, strict=True)]
    return table.assign(at=pd.Series(drawn, dtype=object), x=x, y=y, moved=moved)


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
    """Source -> middle -> place, wider where the product of transition probabilities is larger."""
    wanted = set(prediction.candidates.head(prediction.num_best)[c.POI].head(5)) if show_paths else set()
    wanted |= {int(prediction.case[c.TARGET])} if to_truth else set()
    paths = prediction.paths[prediction.paths[c.POI].isin(wanted)]
    source = _at(opened, np.array([int(prediction.case[c.SOURCE])]), camera).iloc[0]
    middles, ends = (_at(opened, paths[name].to_numpy(np.int64), camera) for name in ("middle", c.POI))
    tips = [
        f"via {opened.labels[middle]}: {a} × {b} training steps"
        for middle, a, b in zip(paths["middle"], paths["count_in"], paths["count_out"], strict=True)
    ]
    largest = paths["product"].max() if len(paths) else 1.0
    width = np.round(1.5 + 4.5 * np.sqrt(paths["product"].to_numpy(float) / largest), 1)
    along = {
        name: [[source[name], middle, end] for middle, end in zip(middles[name], ends[name], strict=True)]
        for name in ("at", "x", "y")
    }
    lines = pd.DataFrame({"path": along["at"], "x": along["x"], "y": along["y"], "w": width, "tip": tips})
    return lines, middles.assign(r=4.0, tip=tips).drop_duplicates(subset="tip")


def _names(opened: Workspace, prediction: CasePrediction, marks: WalkMarks, picture: bool) -> pd.DataFrame:
    """Names of the source, the truth and the best places, each where it covers no disc."""
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
    placed = place_labels(
        wanted["text"].tolist(),
        wanted["x"].to_numpy(float),
        wanted["y"].to_numpy(float),
        wanted["r"].to_numpy(float) + 1,
        obstacles=marks.round_marks if picture else np.vstack([marks.round_marks, ZOOM_BUTTONS]),
        half_size=PICTURE if picture else WIDE,
        narrowest=None if picture else NARROW,
    )
    names = wanted.iloc[[label.index for label in placed]][["at", "x", "y", "of"]].reset_index(drop=True)
    names["text"] = [label.text for label in placed]
    names["shift"] = pd.Series([[label.shift_x, label.shift_y] for label in placed], dtype=object)
    names["anchor"] = [label.anchor for label in placed]
    return names
