"""The `recap experiment` commands: list, run, grim, report."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from app.cli.console import JsonFlag, console, print_json, progress_console

commands = typer.Typer()
experiment = typer.Typer(help="Named experiments: ablations, sweeps and comparisons that resume.")
commands.add_typer(experiment, name="experiment")


@experiment.callback()
def about() -> None:
    """Named experiments with spec files, resumable, their results as tables."""


@experiment.command("list")
def list_experiments(as_json: JsonFlag = False) -> None:
    """Show the experiments that come with the library."""
    from analysis.experiments.spec import list_specs, load_spec

    specs = [load_spec(name) for name in list_specs()]
    if as_json:
        print_json([spec.model_dump(mode="json") for spec in specs])
        return
    table = Table("name", "arms", "preset", "question")
    for spec in specs:
        table.add_row(spec.name, str(len(spec.arms)), spec.preset, spec.question)
    console.print(table)


@experiment.command()
def run(
    name: Annotated[str, typer.Argument(help="An experiment's name, or a .toml spec file.")],
    data: Annotated[Path, typer.Option("--data", help="A dataset folder.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of trainings and results on this dataset.")],
    epochs: Annotated[int | None, typer.Option(min=1, help="Another length for every arm.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Seeds, comma-separated, instead of the spec's.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    train: Annotated[
        bool, typer.Option("--train/--no-train", help="Or measure what is trained; the rest is a row with its time.")
    ] = True,
    costs: Annotated[
        bool, typer.Option("--costs", help="Measure anew what each arm costs, where the experiment asks for it.")
    ] = False,
    earlier: Annotated[
        Path | None,
        typer.Option(help="A result file of another machine: its rows stand where their training is not in --out."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Train and measure every arm; run it again to continue where it stopped."""
    from analysis.experiments.running import run_experiment
    from analysis.experiments.spec import check_spec, load_spec
    from analysis.experiments.tables import markdown
    from app.cli.train import stop_on_signals
    from recap.data.dataset import Dataset
    from recap.device import choose_device
    from recap.errors import ConfigError

    values = load_spec(name).model_dump(mode="json")
    if epochs is not None:
        values["epochs"] = epochs
        values["arms"] = [arm | {"epochs": None} for arm in values["arms"]]
    if seeds is not None:
        try:
            values["seeds"] = [int(seed) for seed in seeds.split(",")]
        except ValueError as error:
            raise ConfigError(f"--seeds expects numbers such as 1,2,3, got {seeds!r}") from error
    spec = check_spec(values)
    options = [f"--epochs {epochs}" if epochs else "", f"--seeds {seeds}" if seeds else ""]
    command = " ".join(["recap experiment run", shlex.quote(Path(name).name), *filter(None, options)])
    with stop_on_signals() as stopped:
        result = run_experiment(
            spec,
            Dataset.load(data),
            out,
            device=choose_device(device),
            command=command,
            log=progress_console.print,
            stop=lambda: bool(stopped),
            trains=train,
            costs_anew=costs,
            earlier=earlier,
        )
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        console.print(markdown(result), markup=False)
    if not result.finished:
        progress_console.print("Stopped; the same command continues.")
        raise typer.Exit(130)


@experiment.command()
def grim(
    values: Annotated[list[str], typer.Argument(metavar="VALUE...", help="Printed hit rates, such as .3205.")],
    runs: Annotated[int, typer.Option(help="Runs that each value is the mean of.")] = 1,
    decimals: Annotated[int, typer.Option(help="Printed digits after the point.")] = 4,
    max_n: Annotated[
        int | None, typer.Option(help="Largest number of cases; as far as digits tell by default.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Find out how many cases a table's digits allow (GRIM test)."""
    from analysis.experiments.grim import grim_test

    found = grim_test(values, runs=runs, decimals=decimals, max_n=max_n)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    shown = ", ".join(f"{n:,}" for n in found.fitting[:20]) + (", …" if len(found.fitting) > 20 else "")
    console.print(f"All {len(values)} values fit n = {shown or 'none'} (of n up to {found.max_n:,}).", highlight=False)
    table = Table("n", "values that fit", "chance of each", "chance of so many")
    for size in found.best:
        table.add_row(f"{size.n:,}", f"{size.allowed} of {len(values)}", f"{size.chance:.1%}", f"{size.luck:.1e}")
    console.print(table)


@experiment.command()
def report(
    folder: Annotated[Path, typer.Argument(help="Folder of result files (.json) and texts (.md).")],
    out: Annotated[Path | None, typer.Option("--out", help="File to write; printed if not given.")] = None,
) -> None:
    """Write a page of results from result files."""
    from analysis.experiments.tables import page
    from recap.storage.atomic import write_text

    text = page(folder)
    if out is None:
        console.print(text, markup=False)
    else:
        write_text(out, text)
