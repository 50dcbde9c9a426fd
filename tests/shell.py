"""Run the `recap` command and look at it as a shell does."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli_runner import recap_here, recap_json_here

RECAP = Path(sys.executable).with_name("recap")


def recap(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, which spares the seconds that Python and torch take to start.

    With options of `subprocess.run` (a folder, an environment, a limit) the real console script runs.
    """
    if not options:
        return recap_here(*arguments)
    return subprocess.run([RECAP, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


recap_json = recap_json_here
"""Run a command with --json and parse its stdout, which must be one object and nothing else."""


def assert_refused(result: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Exit 2, empty stdout, one stderr line that starts with `recap:` and holds every part."""
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert result.stderr.startswith("recap: ") and result.stderr.count("\n") == 1, result.stderr
    for part in parts:
        assert part in result.stderr


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """The system refuses to write a file larger than ``size`` bytes, as a full disk does."""
    before, highest = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, highest))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, highest))
