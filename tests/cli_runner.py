"""The `recap` command in this process: what a shell would see, without starting Python and torch again each time."""

import contextlib
import functools
import io
import json
import subprocess
import sys
from typing import Any
from unittest.mock import patch

import typer.main

from app.cli.main import run

_COMMANDS = functools.cache(typer.main.get_command)
"""The tree of commands, which a process builds once."""


def recap_here(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line; exit code, stdout and stderr as a shell gets them."""
    words = [str(argument) for argument in arguments]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        patch.object(sys, "argv", ["recap", *words]),
        patch.object(typer.main, "get_command", _COMMANDS),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            run()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 0
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def recap_json_here(*arguments: Any) -> Any:
    """Run a command with --json; what it says."""
    return json_of(recap_here(*arguments, "--json"))


def json_of(result: "subprocess.CompletedProcess[str]") -> Any:
    """The answer of a command with --json: one line of JSON as the standard has it, without NaN, and nothing else."""
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    return strict_json(result.stdout)


def strict_json(text: str) -> Any:
    """Parse JSON; NaN and infinity, which Python prints and reads, are refused."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON: {text[:200]}")

    return json.loads(text, parse_constant=refuse)
