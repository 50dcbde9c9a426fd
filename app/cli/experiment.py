"""The `recap experiment` commands."""

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from analysis.experiments.names import CITIES, EXPERIMENTS, SEVERAL
from app.cli.console import JsonFlag, console, print_json, progress_console
from app.cli.options import DeviceOption
from recap.baselines import PRETRAINED

experiment = typer.Typer(help=f"Run named experiments: {', '.join(EXPERIMENTS)}.")


@experiment.command()
def run(
    name: Annotated[str, typer.Argument(help=f"{', '.join(EXPERIMENTS)}, {PRETRAINED}, or a .toml file.")],
    data: Annotated[
        list[Path], typer.Option("--data", help=f"A dataset folder; {', '.join((PRETRAINED, *SEVERAL))} take several.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of trainings and results; of pretrained, the new file.")],
    epochs: Annotated[int | None, typer.Option(min=1, help="Number of epochs for every arm.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Seeds, comma-separated, instead of the spec's.")] = None,
    imported: Annotated[
        list[str] | None, typer.Option("--imported", metavar="NAME", help="Imported predictions as a row; repeatable.")
    ] = None,
    device: DeviceOption = "auto",
    as_json: JsonFlag = False,
) -> None:
    """Train and measure every arm, or learn the curves of `pretrained`; run it again to continue."""
    from analysis.experiments.cities import Measured, cities_markdown, run_cities
    from analysis.experiments.results import markdown
    from analysis.experiments.running import run_experiment
    from analysis.experiments.spec import check_spec, load_spec
    from app.cli.train import stop_on_signals
    from recap.data.dataset import Dataset
    from recap.errors import ConfigError
    from recap.machine.device import choose_device
    from recap.pretrained.curves_file import PretrainedCurves

    if name == PRETRAINED:
        _pretrain(data, out)
        return
    if len(data) > 1 and name not in SEVERAL:
        raise ConfigError(f"experiment {name!r} takes one --data, got {len(data)}")
    values = load_spec(name).model_dump(mode="json")
    if epochs is not None:
        values["epochs"] = epochs
        values["arms"] = [arm | {"epochs": None} for arm in values["arms"]]
    if seeds is not None:
        try:
            values["seeds"] = [int(seed) for seed in seeds.split(",")]
        except ValueError as error:
            raise ConfigError(f"--seeds expects numbers such as 1,2,3, got {seeds!r}") from error
    rows = [{"name": f"imported-{number}", "label": of, "imported": of} for number, of in enumerate(imported or (), 1)]
    values["arms"] += rows
    spec = check_spec(values)
    options = [f"--epochs {epochs}" if epochs else "", f"--seeds {seeds}" if seeds else ""]
    options += [f"--imported {shlex.quote(of)}" for of in imported or ()]
    command = " ".join(["recap experiment run", shlex.quote(Path(name).name), *filter(None, options)])
    datasets = [Dataset.load(folder) for folder in data]
    with stop_on_signals() as stop:
        run_one = partial(
            run_experiment,
            out=out,
            device=choose_device(device),
            command=command,
            log=progress_console.print,
            stop=stop,
        )
        if name in SEVERAL:
            curves, log = PretrainedCurves.packaged(), progress_console.print
            cities = run_cities(spec, datasets, curves, out, run_one, log, by_users=name == CITIES)
        else:
            cities = Measured([run_one(spec, datasets[0])], [])
    if as_json:
        shown = [result.model_dump(mode="json") for result in cities.cities]
        print_json(shown if name in SEVERAL else shown[0])
    else:
        text = cities_markdown(cities) if name == CITIES else "\n".join(map(markdown, cities.cities))
        console.print(text, markup=False, soft_wrap=True)
    if not cities.is_finished:
        progress_console.print("Stopped; the same command continues.")
        raise typer.Exit(130)


def _pretrain(data: list[Path], out: Path) -> None:
    """Learn the curves of `pretrained` and write their file."""
    from recap.data.dataset import Dataset
    from recap.errors import ConfigError
    from recap.storage.atomic import replace_text
    from recap.training.pretraining import pretrain

    if out.is_dir():
        raise ConfigError(f"--out should name the new file of curves, {out} is a folder")
    curves = pretrain([Dataset.load(folder) for folder in data], progress_console.print)
    replace_text(out, curves.as_text())
    console.print(f"Curves learned in {curves.learned_on}: {out}", markup=False)
