"""Commands of the library around models: train, evaluate, explain."""

import typer

commands = typer.Typer()
