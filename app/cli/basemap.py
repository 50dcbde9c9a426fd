"""`recap basemap`: a map's ground from the user's own OpenStreetMap extract."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from app.cli.console import console, pairs_table
from app.cli.options import DataOption
from app.cli.parameters import answers


@answers
def basemap(
    extract: Annotated[Path, Argument(metavar="FILE", help="An OpenStreetMap extract: .osm.pbf or GeoJSON.")],
    data: DataOption,
    attribution: Annotated[str, Option(help="Who owns the data; shown on every map and picture.")] = "",
) -> Iterator[Any]:
    """Use your own OpenStreetMap extract as the background of a dataset's maps."""
    from analysis.basemap.document import OPENSTREETMAP, box_of, write_basemap
    from analysis.basemap.extracts import read_extract
    from analysis.basemap.features import draw_features
    from analysis.basemap.stored import stored_path
    from analysis.workspace import Workspace

    opened = Workspace.open(data)
    box = box_of(opened.latitude, opened.longitude)
    document = draw_features(read_extract(extract), box, attribution.strip() or OPENSTREETMAP)
    target = stored_path(opened.dataset.hash, make=True)
    write_basemap(document, target)
    counts = {name: len(layer["features"]) for name, layer in document["layers"].items()}
    said = {"basemap": str(target), "bounds": document["bounds"], "attribution": document["attribution"]}
    yield said | {"layers": counts, "bytes": target.stat().st_size}
    console.print(
        pairs_table(
            "Basemap",
            {
                "layers": ", ".join(counts),
                "size": f"{target.stat().st_size / 1e6:.1f} MB",
                "on every map": document["attribution"],
                "written to": str(target),
            },
        )
    )
