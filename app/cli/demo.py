"""The `recap demo` commands: build the bundled city."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from app.cli.console import progress_console

demo = typer.Typer(help="The bundled demo city.")


@demo.callback()
def about() -> None:
    """The bundled demo city."""


@demo.command()
def build(out: Annotated[Path, Option(help="Folder of the bundle.")] = Path("checkpoints/demo-city")) -> None:
    """Generate the city, train RECAP and every ablation on it, and write the bundle."""
    from analysis.experiments.demo_bundle import build_demo_bundle

    out.mkdir(parents=True, exist_ok=True)
    build_demo_bundle(out, Path("runs/demo-city"), log=progress_console.print)
    progress_console.print(f"The bundle is in {out}.", markup=False)
