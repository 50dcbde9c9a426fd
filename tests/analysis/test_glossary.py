"""The glossary is the one source of terms: the page, the names of parts, and the app's tooltips about terms."""

import ast
from pathlib import Path

from analysis.glossary import TERMS, glossary_page
from analysis.long_tail.misses import MISSES

ROOT = Path(__file__).parents[2]


def test_the_page_is_made_from_the_file() -> None:
    """Made again with `python -c "from analysis.glossary import glossary_page; print(glossary_page(), end='')"`."""
    assert (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8") == glossary_page()


def test_every_miss_has_a_term() -> None:
    """Keys are the names in code; one sentence each."""
    assert set(MISSES) <= TERMS.keys()
    for term in TERMS.values():
        for sentence in (term.plain, term.exact):
            assert sentence.endswith(".") and "|" not in sentence, term.key


def test_no_tooltip_explains_a_term_in_words_of_its_own() -> None:
    """A literal help text neither opens with a term and a colon nor repeats a definition."""
    literals = []
    for path in (ROOT / "app").rglob("*.py"):
        if "cli" in path.relative_to(ROOT).parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        keywords = [
            k for node in ast.walk(tree) if isinstance(node, ast.Call) for k in node.keywords if k.arg == "help"
        ]
        literals += [k.value.value for k in keywords if isinstance(k.value, ast.Constant) and k.value.value]
    assert len(literals) > 5
    for text in map(str, literals):
        for term in TERMS.values():
            assert f"{term.word}: " not in text, text
            assert term.plain.rstrip(".").lower() not in text.lower(), text
