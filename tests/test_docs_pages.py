"""The pages of the docs stay short, and their links lead somewhere."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
from typer.main import get_command

from app.cli.main import app

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")))


def anchors(page: Path) -> set[str]:
    """The names by which links reach a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if link.startswith("http"):
            continue
        name, _, heading = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not heading or heading in anchors(target), link


def test_the_docs_stay_short() -> None:
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    assert [name for name, text in texts.items() if text.count("\n") > 250] == []
    assert sum(len(text.split()) for text in texts.values()) <= 21_500


def test_every_command_that_a_page_names_is_there() -> None:
    """Also those inside sentences, which no test runs."""
    known: dict[str, Any] = getattr(get_command(app), "commands")  # noqa: B009 - the group's class is typer's own
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name, inner in re.findall(r"(?:`|^ {4})recap ([a-z][a-z-]*)(?: ([a-z][a-z-]*)\b)?", text, re.MULTILINE):
            assert name in known, f"{page.name}: recap {name}"
            commands = getattr(known[name], "commands", None)
            assert not (commands and inner) or inner in commands, f"{page.name}: recap {name} {inner}"
