"""Count public names of modules that are defined more than once: one name should mean one thing.

    python -m tests.check_names

Prints each with its modules and ends with exit code 1 where there are more than `MOST`.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
MOST: Final = 40
COMMON: Final = {
    "view": "of a page",
    "build": "of a lesson",
    "FORMAT_VERSION": "of a file that names its format",
    "main": "of a process",
}
"""Names that a common interface asks for. Commands are called what a user types, too."""


def public_names(path: Path) -> Iterator[str]:
    """Functions, classes and constants on a module's top level, without the commands of `app/cli`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            is_command = "cli" in path.parts and "Annotated[" in ast.unparse(node)
            names = [] if is_command else [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_") and name not in COMMON)


def repeated_names(root: Path = ROOT) -> dict[str, list[str]]:
    """Modules of each name that several define."""
    modules: dict[str, list[str]] = defaultdict(list)
    for package in ("recap", "analysis", "app"):
        for path in sorted((root / package).rglob("*.py")):
            for name in set(public_names(path)):
                modules[name].append(str(path.relative_to(root)))
    return {name: found for name, found in sorted(modules.items()) if len(found) > 1}


def main() -> int:
    """Print the names and whether they are few enough."""
    found = repeated_names()
    if len(found) > MOST:
        print("\n".join(f"{name}: {', '.join(modules)}" for name, modules in found.items()))
    print(f"Names: {len(found)} are defined more than once, at most {MOST} may be.")
    return int(len(found) > MOST)


if __name__ == "__main__":
    sys.exit(main())
