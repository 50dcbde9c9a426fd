"""`recap walk`: a walk of test cases as a GIF."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.console import JsonFlag, console, print_json
from app.cli.sharing import ExactFlag

commands = typer.Typer()


@commands.command()
def walk(
    data: Annotated[Path, typer.Option("--data", help="The dataset folder.")],
    case: Annotated[int, typer.Option(help="A test case; its whole walk is drawn.")],
    out: Annotated[Path, typer.Option("--out", help="The GIF to write.")],
    checkpoint: Annotated[Path | None, typer.Argument(help="A checkpoint folder.")] = None,
    baseline: Annotated[str | None, typer.Option(help="A baseline instead of a checkpoint.")] = None,
    dark: Annotated[bool, typer.Option("--dark", help="Light marks on a dark ground.")] = False,
    exact: ExactFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Draw the steps of one walk, one picture each, with what a model predicts; to be shared unless --exact."""
    from analysis.basemap.density import with_density
    from analysis.basemap.stored import find_basemap
    from analysis.figures.map_ground import Ground
    from analysis.figures.palette import palette_of
    from analysis.records.loaded_dataset import LoadedDataset
    from analysis.records.named_scorer import NamedScorer
    from analysis.sharing.places import told_places
    from analysis.sharing.walk_film import FilmChoice, draw_walk_film
    from analysis.trajectories.trajectory import read_trajectory
    from recap.checkpoint import Checkpoint
    from recap.errors import ConfigError
    from recap.privacy import EXACT_NOTE, Generalisation
    from recap.storage.atomic import new_file

    if (checkpoint is None) == (baseline is None):
        raise ConfigError("name either a checkpoint folder or --baseline, not both and not neither")
    if out.suffix.lower() != ".gif":
        raise ConfigError(f"--out should end in .gif, got {out.name}")
    opened = LoadedDataset.load(data)
    if checkpoint is not None:
        model = NamedScorer.of_checkpoint(Checkpoint.load(checkpoint), opened)
    else:
        model = NamedScorer.of_baseline(str(baseline), opened)
    trajectory = read_trajectory(opened, case)
    told = opened if exact else told_places(opened, Generalisation()).opened(opened)
    synthetic = opened.dataset.manifest.synthetic
    found = find_basemap(opened.dataset.hash, data.parent, opened.latitude, opened.longitude, synthetic=synthetic)
    ground = Ground(told, with_density(found, told.latitude, told.longitude))
    palette = palette_of("dark" if dark else "light")
    film = draw_walk_film(opened, model, trajectory, ground, palette=palette, choice=FilmChoice(exact=exact))
    with new_file(out, make_parents=True) as temporary:
        temporary.write_bytes(film)
    note = EXACT_NOTE if exact else "Places of few people are cells; ways and times are not told."
    said = {"file": str(out), "bytes": len(film), "steps": len(trajectory.cases), "exact": exact}
    if as_json:
        print_json(said)
        return
    console.print(f"Wrote {out}: {len(trajectory.cases)} steps, {len(film) / 1e6:.1f} MB. {note}", markup=False)
