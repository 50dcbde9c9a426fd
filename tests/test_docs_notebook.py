"""The example notebook of the docs: its stored outputs are what its cells say today, and it is small."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.shell import RECAP

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "notebook.ipynb"
LARGEST = 200_000
"""Bytes; outputs included."""


def shown(notebook: Any) -> list[str]:
    """What every cell shows: HTML where there is any (the plain text with it was left out), else text."""
    data = [output["data"] for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output]
    return [item.get("text/html") or item["text/plain"] for item in data]


def test_the_notebook_is_small_and_names_no_machine() -> None:
    """Outputs are included, no error among them, and no folder of the machine that ran it."""
    text = PAGE.read_text(encoding="utf-8")
    assert len(text) < LARGEST
    assert "text/html" in text and "finds" in text
    for trace in ('"output_type": "error"', "/home/", "/root/", "/tmp/", "/Users/"):  # noqa: S108 - looked for
        assert trace not in text


@pytest.mark.slow
def test_a_folder_with_own_modules_of_our_names(tmp_path: Path) -> None:
    """`app.py` and `analysis.py` next to a notebook, or where a command starts, are not taken for ours."""
    for name in ("app.py", "analysis.py"):
        (tmp_path / name).write_text("raise SystemExit('not ours')")
    code = "import recap; from recap_notebook import Workspace, compare_models, explain_case; recap.Dataset, recap.load"
    city = DOCS.parent / "checkpoints" / "demo-city" / "dataset"
    for words in ([sys.executable, "-c", code], [RECAP, "stats", city]):
        done = subprocess.run(list(map(str, words)), cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    (tmp_path / "analysis.py").write_text("")
    late = [sys.executable, "-c", "import analysis, recap_notebook"]
    done = subprocess.run(late, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "ImportError: another module `analysis` is loaded; restart" in done.stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel's own libraries
def test_the_notebook_runs_and_shows_what_it_shows() -> None:
    import nbformat
    from nbclient import NotebookClient

    stored = nbformat.read(PAGE, as_version=4)
    again = nbformat.read(PAGE, as_version=4)
    NotebookClient(again, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(DOCS)}}).execute()
    assert shown(again) == shown(stored)
