"""What a view says stands in its `words` module, so that somebody can read all of it in one place."""

import ast
from pathlib import Path
from typing import Final

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
