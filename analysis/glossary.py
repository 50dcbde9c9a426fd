"""Every term once, from `glossary.toml`: tooltips, names of score parts and docs/glossary.md are generated from it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PAGE_HEAD: Final = """# Glossary

On this page you can look up each word of the app and its formula. Generated from `analysis/glossary.toml`.

| Key | Word | In the paper | In plain words | Exactly |
|---|---|---|---|---|
"""


@dataclass(frozen=True)
class GlossaryTerm:
    """One term.

    Attributes:
        key: name in code, records and JSON.
        word: on screen, in tables and exports.
        plain: one sentence for students and stakeholders.
        exact: one sentence for researchers.
        paper: the paper's word; empty if there is none.
    """

    key: str
    word: str
    plain: str
    exact: str
    paper: str = ""


_FILE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TERMS: Final = {key: GlossaryTerm(key, **fields) for key, fields in _FILE.items()}


def tooltip(*keys: str) -> str:
    """Terms with their plain sentences.

    >>> tooltip("revisit")
    'Visited before: the user has been there before.'
    """
    return " ".join(f"{TERMS[key].word}: {_clause(key)}." for key in keys)


def glossary_page() -> str:
    """Content of docs/glossary.md."""
    rows = (f"| `{t.key}` | {t.word} | {t.paper or '–'} | {t.plain} | {t.exact} |\n" for t in TERMS.values())
    return PAGE_HEAD + "".join(rows)


def _clause(key: str) -> str:
    sentence = TERMS[key].plain
    return sentence[0].lower() + sentence[1:].removesuffix(".")
