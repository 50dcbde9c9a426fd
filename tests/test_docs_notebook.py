"""The example notebook of the docs: its stored outputs are what its cells say today, and it is small."""

from pathlib import Path
from typing import Any

import pytest

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
@pytest.mark.filterwarnings("ignore")  # of the kernel's own libraries
def test_the_notebook_runs_and_shows_what_it_shows() -> None:
    """Every cell runs, and shows the stored text and HTML."""
    import nbformat
    from nbclient import NotebookClient

    stored = nbformat.read(PAGE, as_version=4)
    again = nbformat.read(PAGE, as_version=4)
    NotebookClient(again, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(DOCS)}}).execute()
    assert shown(again) == shown(stored)
