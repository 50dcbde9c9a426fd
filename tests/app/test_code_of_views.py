"""What the code of views must not hold: sentences, bare strings, and help marks inside switches."""

import ast
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2] / "app"
FILES: Final = sorted(
    path
    for folder in ("views", "components")
    for path in (ROOT / folder).rglob("[a-z]*.py")
    if path.name not in ("words.py", "open_data.py", "theme_watch.py") and path.parent.name != "own_data"
)
MOST_WORDS: Final = 5


def sentences(code: str) -> list[str]:
    """Strings of one line and more than five words that are no docstrings; of an f-string its own words.

    >>> sentences('def f():\\n    "A docstring of more than five words."\\n    return f"{x} of these are not in it."')
    [' of these are not in it.']
    """
    tree = ast.parse(code)
    nodes = list(ast.walk(tree))
    bare = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    found = []
    for node in nodes:
        values = node.values if isinstance(node, ast.JoinedStr) else [node]
        words = "".join(str(part.value) for part in values if isinstance(part, ast.Constant))
        if id(node) not in bare | parts and len(words.split()) > MOST_WORDS and "\n" not in words:
            found.append(words)
    return found


def test_views_hold_no_sentence() -> None:
    """Labels of a few words may stay where they are used."""
    assert len(FILES) > 40
    found = {path.name: sentences(path.read_text(encoding="utf-8")) for path in FILES}
    assert {name: texts for name, texts in found.items() if texts} == {}


PAGES: Final = sorted([ROOT / "main.py", *(ROOT / "views").glob("[a-z]*.py")])


def bare_strings(code: str) -> list[int]:
    """Lines of module-level strings that are no docstring of the file.

    >>> bare_strings("'Page.'\\nA = 1\\n'What A is.'\\n")
    [3]
    """
    bare = [line for line in ast.parse(code).body[1:] if isinstance(line, ast.Expr)]
    return [line.lineno for line in bare if isinstance(line.value, ast.Constant)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_holds_no_bare_string(page: Path) -> None:
    """Comments say what a constant is; a string would be shown to visitors."""
    assert bare_strings(page.read_text(encoding="utf-8")) == []


def test_no_switch_has_its_help_mark_inside() -> None:
    """`app.components.text.toggle` sets it next to the switch instead."""
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                helped = any(keyword.arg == "help" for keyword in node.keywords)
                assert not (node.func.attr in ("toggle", "checkbox") and helped), f"{path}:{node.lineno}"
