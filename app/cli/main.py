"""The `recap` command: all commands; a user's mistake becomes one line and exit code 2."""

import sys
from collections.abc import Callable
from typing import Annotated, Final

import typer
from typer import Option

from app.cli.app import run_app
from app.cli.cases import cases
from app.cli.compare import compare
from app.cli.curves import curves
from app.cli.data import import_predictions, inspect, prepare, stats
from app.cli.evaluate import evaluate
from app.cli.examples import epilog
from app.cli.experiment import experiment
from app.cli.explain import explain
from app.cli.long_tail import long_tail, overview
from app.cli.predict import predict
from app.cli.runs import runs
from app.cli.train import train
from recap.errors import RecapError
from recap.machine.printable import one_line, shortened

app = typer.Typer(name="recap", pretty_exceptions_enable=False, add_completion=False)
LONGEST_LINE: Final = 1500
"""Longest refusal in characters, so a hostile value is not printed in full."""
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer carries its own copy of click

_APP_PACKAGES: Final = {"streamlit", "plotly", "pydeck", "PIL", "shapely"}
"""Packages of the extra `recap-mobility[app]`."""

_PANELS: Final[dict[str, dict[str, Callable[..., None] | typer.Typer]]] = {
    "Data": {
        "inspect": inspect,
        "prepare": prepare,
        "stats": stats,
        "import-predictions": import_predictions,
    },
    "Train": {"train": train, "evaluate": evaluate, "experiment": experiment},
    "Look": {
        "predict": predict,
        "app": run_app,
        "overview": overview,
        "long-tail": long_tail,
        "explain": explain,
        "curves": curves,
        "compare": compare,
        "cases": cases,
    },
    "Runs": {"runs": runs},
}
"""Commands and groups by panel, as `recap --help` shows them."""

for _panel, _commands in _PANELS.items():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            for _entry in _command.registered_commands:
                _inner = _entry.name or getattr(_entry.callback, "__name__", "")
                _entry.epilog = epilog(f"{_name} {_inner}")
            app.add_typer(_command, name=_name, rich_help_panel=_panel)
        else:
            app.command(_name, rich_help_panel=_panel, epilog=epilog(_name))(_command)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        print(version("recap-mobility"))
        raise typer.Exit


@app.callback()
def describe(
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """See, question and train next-place predictions."""


def run() -> None:
    """Run the command line; a refusal is one line on stderr that starts with `recap:`, and exit code 2."""
    try:
        code = app(sys.argv[1:] or ["--help"], standalone_mode=False)
        refusal = None
    except RecapError as error:
        refusal = str(error)
    except _UsageError as error:
        refusal = f"{error.format_message()} (see `recap --help`)"  # type: ignore[attr-defined]
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        refusal = f"{where}{error.strerror or error}"
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _APP_PACKAGES:
            raise
        refusal = "this needs the app's packages; install them with: pip install 'recap-mobility[app]'"
    except (typer.Abort, KeyboardInterrupt):
        print("recap: stopped", file=sys.stderr)
        sys.exit(130)
    if refusal is not None:
        # Outside the handlers, where no traceback keeps a half-read file and its thread alive.
        refuse(refusal)
    sys.exit(code if isinstance(code, int) else 0)


def refuse(message: str) -> None:
    """Print one line on stderr and exit with code 2."""
    print("recap: " + shortened(one_line(message), LONGEST_LINE), file=sys.stderr)
    sys.exit(2)
