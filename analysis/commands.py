"""Commands of the analysis layer."""

import typer

commands = typer.Typer()
