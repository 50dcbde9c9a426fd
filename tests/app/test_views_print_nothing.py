"""Streamlit prints every bare expression of a page's file: a string below a constant would stand on the page."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "app"
PAGES = sorted([ROOT / "main.py", *(ROOT / "views").glob("[a-z]*.py")])


def bare_strings(code: str) -> list[int]:
    """Lines of module-level strings that are no docstring of the file."""
    return [
        line.lineno
        for line in ast.parse(code).body[1:]
        if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_holds_no_bare_string(page: Path) -> None:
    """Comments say what a constant is; a string would be shown to visitors."""
    assert bare_strings(page.read_text(encoding="utf-8")) == []


def test_a_bare_string_is_found() -> None:
    """The file's own docstring is none, the one below a constant is."""
    assert bare_strings('"""Page."""\nA = 1\n"""What A is."""\n') == [3]
