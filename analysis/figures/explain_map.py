"""The map of an explanation: where the user is, the two places compared, and the two-hop paths between."""

from typing import Any

import numpy as np
import pydeck as pdk

from analysis.explain.explanation import FullExplanation
from analysis.figures.palette import Palette, rgb
from analysis.geography import fit_camera
from analysis.records.loaded_dataset import LoadedDataset

MAP_SIZE = (520, 330)


def explain_deck(explanation: FullExplanation, opened: LoadedDataset, *, map_style: str, palette: Palette) -> pdk.Deck:
    """Paths in green (wider for a larger share), the source a full dot, the truth a ring, predictions discs."""
    middles = [path.middle for path in explanation.path_evidence]
    shown = np.array([explanation.source, explanation.target, explanation.rival, *middles])
    camera = fit_camera(opened.latitude[shown], opened.longitude[shown], width_px=MAP_SIZE[0], height_px=MAP_SIZE[1])

    def at(poi: int) -> list[float]:
        return [round(float(opened.longitude[poi]), 5), round(float(opened.latitude[poi]), 5)]

    paths = [
        {
            "path": [at(explanation.source), at(path.middle), at(explanation.target)],
            "w": round(1.5 + 6 * path.share, 1),
            "tip": f"via {path.name}: {path.count_in:,} and {path.count_out:,} training steps, share {path.share:.3f}",
        }
        for path in explanation.path_evidence
    ]
    dots = [
        {"at": at(path.middle), "r": 5, "tip": path.name, "fill": rgb(palette.paths.fill), "line": rgb(palette.land)}
        for path in explanation.path_evidence
    ]
    marks = [(explanation.source, 8, rgb(palette.ink), rgb(palette.land), explanation.source_name)]
    pair = ((explanation.rival, explanation.contrast.b.name), (explanation.target, explanation.target_name))
    for (poi, name), role in zip(pair, reversed(explanation.roles), strict=True):
        fill = rgb(palette.of_role(role).fill)
        ring = role == "truth"
        marks.append(
            (poi, 11 if ring else 9, [0, 0, 0, 0] if ring else fill, fill if ring else rgb(palette.land), name)
        )
    dots += [{"at": at(poi), "r": r, "fill": fill, "line": line, "tip": name} for poi, r, fill, line, name in marks]
    # The source's name stands above its dot, the others' below: the first place is often next door.
    names = [
        {"at": at(poi), "name": name[:24], "shift": [0, -20 if poi == explanation.source else 22]}
        for poi, _, _, _, name in marks
    ]
    pixels: Any = pdk.types.String("pixels")
    return pdk.Deck(
        layers=[
            pdk.Layer(
                "PathLayer",
                id="paths",
                data=paths,
                get_path="path",
                get_width="w",
                width_units=pixels,
                get_color=rgb(palette.paths.fill, 170),
                pickable=True,
            ),
            pdk.Layer(
                "ScatterplotLayer",
                id="places",
                data=dots,
                get_position="at",
                get_radius="r",
                radius_units=pixels,
                get_fill_color="fill",
                get_line_color="line",
                line_width_units=pixels,
                get_line_width=3,
                stroked=True,
                pickable=True,
            ),
            pdk.Layer(
                "TextLayer",
                id="names",
                data=names,
                get_position="at",
                get_text="name",
                get_size=13,
                get_color=rgb(palette.ink),
                get_pixel_offset="shift",
                background=True,
                get_background_color=rgb(palette.land, 225),
                background_padding=[4, 2],
                character_set=pdk.types.String("auto"),
                font_family=pdk.types.String('"Source Sans", sans-serif'),
                pickable=False,
            ),
        ],
        initial_view_state=pdk.ViewState(latitude=camera.latitude, longitude=camera.longitude, zoom=camera.zoom),
        map_provider="carto",
        map_style=map_style,
        tooltip={"text": "{tip}"},
    )
