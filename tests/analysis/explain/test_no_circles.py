"""No module of Explain needs another that needs it, not even for a type."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import analysis.explain


def test_imports_have_an_order() -> None:
    """Imports for type checkers and inside functions count too; a circle raises."""
    folder = Path(analysis.explain.__file__).parent
    needs = {
        path.stem: {
            node.module.rpartition(".")[2]
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("analysis.explain.")
        }
        for path in folder.glob("*.py")
    }
    assert len(list(TopologicalSorter(needs).static_order())) >= len(needs)
