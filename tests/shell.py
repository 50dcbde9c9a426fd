"""Run the `recap` command and look at it as a shell does."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli_runner import recap_here, recap_json_here

RECAP = Path(sys.executable).with_name("recap")
recap, recap_json = recap_here, recap_json_here


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
