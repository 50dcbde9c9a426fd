"""Commands of the app layer; Streamlit is imported only inside `recap app`."""

import typer

commands = typer.Typer()
