"""The map of one case: path so far, predictions sized by probability, the truth's ring, revisits and two-hop paths."""

from typing import Any

import numpy as np
import pandas as pd
import pydeck as pdk

from analysis.figures.labels import place_labels
from analysis.figures.palette import Palette, rgb
from analysis.formatting import percent, points
from analysis.geography import Camera, screen_offsets
from analysis.records.loaded_dataset import LoadedDataset
from analysis.trajectories.predictions import CasePrediction
from analysis.trajectories.trajectory import Trajectory
from recap import columns as c

SMALLEST_DISC_PX = 9.0
LARGEST_DISC_PX = 27.0
NAMED_CANDIDATES = 3


def walk_deck(
    opened: LoadedDataset,
    trajectory: Trajectory,
    prediction: CasePrediction,
    *,
    camera: Camera,
    map_style: str,
    palette: Palette,
    show_truth: bool = True,
    show_paths: bool = True,
) -> pdk.Deck:
    """The deck of one case.

    Args:
        camera: the same for every case of a trajectory, so that stepping never moves the map.
        map_style: from `basemap_style`, or the address of an online style.
        show_truth: ring and name of the true next place.
        show_paths: two-hop lines to the listed places.
    """
    shown = prediction.candidates[~prediction.candidates["truth"] | (prediction.candidates[c.RANK] <= 10)]
    discs = _discs(opened, shown)
    layers = [
        *(_path_layers(opened, prediction, shown, palette, show_truth) if show_paths else []),
        *_visited_layers(opened, trajectory, int(prediction.case[c.CASE]), palette),
        *_candidate_layers(discs, palette),
        _source_layer(opened, trajectory, int(prediction.case[c.CASE]), palette),
        *(_truth_layers(opened, prediction, discs, palette) if show_truth else []),
        _label_layer(opened, prediction, discs, camera, palette, show_truth),
    ]
    return pdk.Deck(
        layers=layers,
        initial_view_state=pdk.ViewState(
            latitude=round(camera.latitude, 6), longitude=round(camera.longitude, 6), zoom=round(camera.zoom, 3)
        ),
        map_provider="carto",
        map_style=map_style,
        tooltip={"text": "{tip}"},
    )


def disc_radius_px(weight: np.ndarray) -> np.ndarray:
    """Disc radii whose area grows with a share of the largest weight."""
    largest = weight.max() if len(weight) else 1.0
    share = weight / largest if largest > 0 else np.zeros(len(weight))
    return np.maximum(LARGEST_DISC_PX * np.sqrt(share), SMALLEST_DISC_PX)


def _discs(opened: LoadedDataset, shown: pd.DataFrame) -> pd.DataFrame:
    """One row per listed place: position, radius, tooltip."""
    has_probability = shown["probability"].notna().all()
    weight = shown["probability"].to_numpy() if has_probability else 1.0 / shown[c.RANK].to_numpy()
    poi = shown[c.POI].to_numpy()
    if has_probability:
        facts = shown["probability"].map(lambda probability: percent(probability, 1))
    else:
        facts = shown[c.SCORE].map(lambda score: f"score {points(score)}")
    tips = shown[c.RANK].map("{:g}. ".format) + shown["name"] + ": " + facts
    tips += ", " + shown["distance_km"].map("{:.1f} km".format)
    return pd.DataFrame(
        {
            c.POI: poi,
            "at": _positions(opened, poi),
            "r": np.round(disc_radius_px(weight), 1),
            c.RANK: shown[c.RANK].map("{:g}".format),
            "name": shown["name"],
            "revisit": shown["revisit"].to_numpy(),
            "truth": shown["truth"].to_numpy(),
            "tip": tips,
        }
    )


def _candidate_layers(discs: pd.DataFrame, palette: Palette) -> list[pdk.Layer]:
    ordered = discs.iloc[::-1]  # the best on top
    again = ordered[ordered["revisit"]].copy()
    again["shift"] = [[round(0.72 * r, 1), round(-0.72 * r, 1)] for r in again["r"]]
    ink = palette.page if palette.theme == "light" else "#0E151B"
    return [
        _scatter(
            "candidates",
            ordered[["at", "r", "tip", c.POI]],
            fill=rgb(palette.model.fill, 225),
            line=rgb(palette.land),
            line_px=1.5,
        ),
        _text("ranks", ordered[["at", c.RANK]], "rank", rgb(ink), size=12, weight=700),
        _text("revisit-rims", again[["at", "shift"]].assign(dot="●"), "dot", rgb(palette.land), size=25, shift=True),
        _text(
            "revisits", again[["at", "shift"]].assign(dot="●"), "dot", rgb(palette.revisits.fill), size=18, shift=True
        ),
    ]


def _truth_layers(
    opened: LoadedDataset, prediction: CasePrediction, discs: pd.DataFrame, palette: Palette
) -> list[pdk.Layer]:
    target = int(prediction.case[c.TARGET])
    mine = discs[discs["truth"]]
    radius = float(mine["r"].iloc[0]) + 5 if len(mine) else 12.0
    table = pd.DataFrame(
        {
            "at": _positions(opened, np.array([target])),
            "r": [radius],
            "tip": [f"True next place: {opened.labels[target]}, rank {prediction.target_rank:g}"],
        }
    )
    return [_scatter("truth", table, fill=None, line=rgb(palette.truth.fill), line_px=3.0)]


def _visited_layers(opened: LoadedDataset, trajectory: Trajectory, case: int, palette: Palette) -> list[pdk.Layer]:
    """The path so far: segments that darken towards now, and numbered stops."""
    stops = trajectory.stops.iloc[: trajectory.stop_of(case)]
    at = _positions(opened, stops[c.POI].to_numpy())
    steps = len(stops) - 1
    segments = pd.DataFrame(
        {
            "from": at[:-1],
            "to": at[1:],
            "colour": [rgb(palette.ink, 90 + round(150 * (i + 1) / max(steps, 1))) for i in range(steps)],
        }
    )
    numbered = pd.DataFrame({"at": at[:-1], "stop": stops["stop"].iloc[:-1].astype(str), "tip": _stop_tips(stops)[:-1]})
    numbered = numbered.drop_duplicates(subset="stop")
    small = numbered.assign(r=8.0)
    return [
        pdk.Layer(
            "LineLayer",
            id="walked",
            data=_rows(segments),
            get_source_position="from",
            get_target_position="to",
            get_color="colour",
            get_width=2.5,
            width_units=pdk.types.String("pixels"),
            pickable=False,
        ),
        _scatter("stops", small[["at", "r", "tip"]], fill=rgb(palette.land), line=rgb(palette.ink, 220), line_px=1.5),
        _text("stop-numbers", numbered[["at", "stop"]], "stop", rgb(palette.ink), size=10, weight=600),
    ]


def _source_layer(opened: LoadedDataset, trajectory: Trajectory, case: int, palette: Palette) -> pdk.Layer:
    """Where the user is now: a full dot on top of everything but names."""
    stop = trajectory.stops.iloc[[trajectory.stop_of(case) - 1]]
    table = pd.DataFrame({"at": _positions(opened, stop[c.POI].to_numpy()), "r": [8.0], "tip": _stop_tips(stop)})
    return _scatter("source", table, fill=rgb(palette.ink), line=rgb(palette.land), line_px=2.0)


def _path_layers(
    opened: LoadedDataset, prediction: CasePrediction, shown: pd.DataFrame, palette: Palette, show_truth: bool
) -> list[pdk.Layer]:
    """Source -> middle -> place, wider where the product of transition probabilities is larger."""
    wanted = set(shown[c.POI].head(5)) | ({int(prediction.case[c.TARGET])} if show_truth else set())
    paths = prediction.paths[prediction.paths[c.POI].isin(wanted)]
    if paths.empty:
        return []
    source = _positions(opened, np.array([int(prediction.case[c.SOURCE])]))[0]
    middle, place = _positions(opened, paths["middle"].to_numpy()), _positions(opened, paths[c.POI].to_numpy())
    names = [opened.labels[m] for m in paths["middle"]]
    lines = pd.DataFrame(
        {
            "path": [[source, m, p] for m, p in zip(middle, place, strict=True)],
            "w": np.round(1.5 + 4.5 * np.sqrt(paths["product"] / paths["product"].max()), 1),
            "tip": [
                f"via {name}: {a} × {b} training steps"
                for name, a, b in zip(names, paths["count_in"], paths["count_out"], strict=True)
            ],
        }
    )
    dots = pd.DataFrame({"at": middle, "r": 4.0, "tip": lines["tip"]}).drop_duplicates(subset="tip")
    return [
        pdk.Layer(
            "PathLayer",
            id="paths",
            data=_rows(lines),
            get_path="path",
            get_width="w",
            width_units=pdk.types.String("pixels"),
            get_color=rgb(palette.paths.fill, 150),
            pickable=True,
            joint_rounded=True,
            cap_rounded=True,
        ),
        _scatter("middles", dots, fill=rgb(palette.paths.fill), line=rgb(palette.land), line_px=1.0),
    ]


def _label_layer(
    opened: LoadedDataset,
    prediction: CasePrediction,
    discs: pd.DataFrame,
    camera: Camera,
    palette: Palette,
    show_truth: bool,
) -> pdk.Layer:
    """Names of the source, the truth and the best places, on the side where they cover no disc."""
    source = int(prediction.case[c.SOURCE])
    under = discs.loc[discs[c.POI] == source, "r"]
    wanted: dict[int, tuple[str, float]] = {source: (palette.ink, float(under.iloc[0]) + 2 if len(under) else 11.0)}
    if show_truth:
        target = int(prediction.case[c.TARGET])
        mine = discs.loc[discs[c.POI] == target, "r"]
        wanted[target] = (palette.truth.text, float(mine.iloc[0]) + 6 if len(mine) else 18.0)
    for poi, radius in zip(discs[c.POI].head(NAMED_CANDIDATES), discs["r"], strict=False):
        wanted.setdefault(int(poi), (palette.model.text, float(radius) + 2))
    pois = np.array(list(wanted))
    x, y = screen_offsets(camera, opened.latitude[pois], opened.longitude[pois])
    disc_x, disc_y = screen_offsets(camera, opened.latitude[discs[c.POI]], opened.longitude[discs[c.POI]])
    placed = place_labels(
        [opened.labels[poi] for poi in pois],
        x,
        y,
        np.array([gap for _, gap in wanted.values()]),
        obstacles=np.column_stack([disc_x, disc_y, discs["r"]]),
        keep=2 if show_truth else 1,
    )
    table = pd.DataFrame(
        {
            "at": [_positions(opened, pois[[label.index]])[0] for label in placed],
            "name": [label.text for label in placed],
            "shift": [[label.shift_x, label.shift_y] for label in placed],
            "anchor": [label.anchor for label in placed],
            "colour": [rgb(list(wanted.values())[label.index][0]) for label in placed],
        }
    )
    return pdk.Layer(
        "TextLayer",
        id="names",
        data=_rows(table),
        get_position="at",
        get_text="name",
        get_color="colour",
        get_size=14,
        get_pixel_offset="shift",
        get_text_anchor="anchor",
        get_alignment_baseline=pdk.types.String("center"),
        font_family=pdk.types.String('"Source Sans", sans-serif'),
        font_weight=600,
        character_set=pdk.types.String("auto"),
        background=True,
        get_background_color=rgb(palette.land, 225),
        background_padding=[5, 2],
        background_border_radius=4,
        pickable=False,
    )


def _scatter(name: str, data: pd.DataFrame, *, fill: list[int] | None, line: list[int], line_px: float) -> pdk.Layer:
    return pdk.Layer(
        "ScatterplotLayer",
        id=name,
        data=_rows(data),
        get_position="at",
        get_radius="r",
        radius_units=pdk.types.String("pixels"),
        filled=fill is not None,
        get_fill_color=fill or [0, 0, 0, 0],
        stroked=True,
        get_line_color=line,
        get_line_width=line_px,
        line_width_units=pdk.types.String("pixels"),
        pickable=True,
    )


def _text(
    name: str,
    data: pd.DataFrame,
    column: str,
    colour: list[int],
    *,
    size: int,
    weight: int = 400,
    shift: bool = False,
) -> pdk.Layer:
    options: dict[str, Any] = {"get_pixel_offset": "shift"} if shift else {}
    return pdk.Layer(
        "TextLayer",
        id=name,
        data=_rows(data),
        get_position="at",
        get_text=column,
        get_color=colour,
        get_size=size,
        font_family=pdk.types.String('"Source Sans", sans-serif'),
        font_weight=weight,
        character_set=pdk.types.String("auto"),
        get_text_anchor=pdk.types.String("middle"),
        get_alignment_baseline=pdk.types.String("center"),
        pickable=False,
        **options,
    )


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows in the form that pydeck writes out, whatever the version of pandas."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _positions(opened: LoadedDataset, poi: np.ndarray) -> list[list[float]]:
    return [[round(float(opened.longitude[p]), 5), round(float(opened.latitude[p]), 5)] for p in poi]


def _stop_tips(stops: pd.DataFrame) -> list[str]:
    return [
        f"Stop {stop}: {name}, {time:%H:%M}"
        for stop, name, time in zip(stops["stop"], stops["name"], stops["local_time"], strict=True)
    ]
