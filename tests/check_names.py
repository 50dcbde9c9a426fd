"""Count public names of modules that are defined more than once: one name should mean one thing; and functions with a
variable that does not say what it holds.

    python -m tests.check_names

Prints each with its modules and ends with exit code 1 where there are more than `MOST`, or `MOST_VAGUE`.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
MOST: Final = 40
VAGUE: Final = {"found", "said"}
MOST_VAGUE: Final = 12
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


def vague_functions(root: Path = ROOT) -> list[str]:
    """Functions with a variable or parameter of one of the names in `VAGUE`."""
    functions = []
    for path in (path for package in ("recap", "analysis", "app") for path in sorted((root / package).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                stored = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
                if VAGUE & (stored | {item.arg for item in ast.walk(node.args) if isinstance(item, ast.arg)}):
                    functions.append(f"{path.relative_to(root)}: {node.name}")
    return functions


def main() -> int:
    """Print the names and whether they are few enough."""
    repeated, vague = repeated_names(), vague_functions()
    if len(repeated) > MOST or len(vague) > MOST_VAGUE:
        print("\n".join([*(f"{name}: {', '.join(modules)}" for name, modules in repeated.items()), *vague]))
    print(
        f"Names: {len(repeated)} are defined more than once, at most {MOST} may be; {len(vague)} functions are vague."
    )
    return int(len(repeated) > MOST or len(vague) > MOST_VAGUE)


if __name__ == "__main__":
    sys.exit(main())
