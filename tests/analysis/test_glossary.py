"""The glossary is the one source of terms: the page, the names of parts, and the app's tooltips about terms."""

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
