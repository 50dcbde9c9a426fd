"""Streamlit puts a switch's help mark inside its label, where a click flips the switch: none may have one there."""

import ast
from pathlib import Path

import app

WITHIN_THE_LABEL = {"toggle", "checkbox"}


def test_no_switch_has_its_help_mark_inside() -> None:
    """`app.components.text.toggle` sets it next to the switch instead."""
    for path in Path(app.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                helped = any(keyword.arg == "help" for keyword in node.keywords)
                assert not (node.func.attr in WITHIN_THE_LABEL and helped), f"{path}:{node.lineno}"
