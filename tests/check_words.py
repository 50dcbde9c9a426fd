"""Words that the product does not use, in names, strings, comments and pages: `make check` runs this.

The list is `[tool.recap.words]` in pyproject.toml: a pattern and what to write instead. A line that keeps a word, as
the key of an older file does, ends with `# words: WHY`.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
CHECKED: Final = (
    "recap/**/*.py",
    "analysis/**/*.py",
    "analysis/**/*.toml",
    "app/**/*.py",
    "tests/*.py",
    "*.j2",
    "README.md",
    "docs/*.md",
)
KEPT: Final = re.compile(r"# words: \S|^\s*\|.*\|\s*$")
"""A line with a reason, and a table of the docs that quotes another system's words."""


def banned() -> dict[re.Pattern[str], str]:
    """Pattern -> what to write instead; names in snake_case are read as words."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["recap"]["words"]
    return {re.compile(rf"(?<![a-z])(?:{word})(?![a-z])", re.IGNORECASE): instead for word, instead in listed.items()}


def findings(text: str, words: dict[re.Pattern[str], str]) -> Iterator[tuple[int, str, str]]:
    """Line number, the word found and what to write instead.

    >>> list(findings("a clerk came", {re.compile("clerk"): "user"}))
    [(1, 'clerk', 'user')]
    """
    for number, line in enumerate(text.splitlines(), 1):
        if not KEPT.search(line):
            for pattern, instead in words.items():
                yield from ((number, found.group(), instead) for found in pattern.finditer(line))


def main() -> int:
    """Print every finding; 1 if there is any."""
    words = banned()
    listed = subprocess.run(["git", "ls-files", *CHECKED], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [
        f"{name}:{number}: {found!r}: write {instead}"
        for name in listed.stdout.split()
        for number, found, instead in findings((ROOT / name).read_text(encoding="utf-8"), words)
    ]
    print(*lines, f"{len(lines)} words to replace" if lines else "Words: all fine.", sep="\n")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
