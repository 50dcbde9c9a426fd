"""The `recap` command: joins the layers' commands and turns users' mistakes into one line and exit code 2."""

import sys
from typing import Annotated, Final

import typer

from app.cli.app import commands as app_commands
from app.cli.basemap import commands as basemap_commands
from app.cli.cases import cases as cases_group
from app.cli.causes import commands as causes_commands
from app.cli.compare import commands as compare_commands
from app.cli.data import commands as data_commands
from app.cli.demo import commands as demo_commands
from app.cli.evaluate import commands as evaluate_commands
from app.cli.experiment import commands as experiment_commands
from app.cli.explain import commands as explain_commands
from app.cli.import_predictions import commands as import_commands
from app.cli.machine import commands as machine_commands
from app.cli.rebalance import commands as rebalance_commands
from app.cli.runs import commands as runs_commands
from app.cli.train import commands as train_commands
from recap.errors import RecapError
from recap.printable import one_line, shortened

app = typer.Typer(name="recap", pretty_exceptions_enable=False, add_completion=False)
LONGEST_LINE: Final = 1500
"""Characters of a refusal; a hostile value is not printed whole."""
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer carries its own copy of click

app.add_typer(data_commands)
app.add_typer(train_commands)
app.add_typer(rebalance_commands)
app.add_typer(evaluate_commands)
app.add_typer(runs_commands)
app.add_typer(explain_commands)
app.add_typer(basemap_commands)
app.add_typer(causes_commands)
app.add_typer(cases_group, name="cases")
app.add_typer(compare_commands)
app.add_typer(import_commands)
app.add_typer(demo_commands)
app.add_typer(experiment_commands)
app.add_typer(app_commands)
app.add_typer(machine_commands)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        from recap.doctor import DISTRIBUTION

        print(version(DISTRIBUTION))
        raise typer.Exit


@app.callback()
def describe(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """See, question and train next-place predictions."""


def run() -> None:
    """Run the command line; a refusal is one stderr line that starts with `recap:` and exit code 2."""
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
    except (typer.Abort, KeyboardInterrupt):
        print("recap: stopped", file=sys.stderr)
        sys.exit(130)
    if refusal is not None:
        # Out here no traceback keeps a half-read file open: its reader has a thread, which must end before Python does.
        refuse(refusal)
    sys.exit(code if isinstance(code, int) else 0)


def refuse(message: str) -> None:
    """Print one line on stderr and leave with exit code 2."""
    print("recap: " + shortened(one_line(message), LONGEST_LINE), file=sys.stderr)
    sys.exit(2)
