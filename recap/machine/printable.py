"""Make outside text safe for a terminal, a log or a page."""

import re
from typing import Final

# C0 (except tab and line feed) and C1 controls drive a terminal; direction marks reorder text; line and paragraph
# separators end lines; lone surrogates cannot be encoded.
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&\"'^=])")
# Streamlit and others replace these even when escaped: addresses become links, emoji and icon codes pictures, and
# arrows are drawn. An invisible joiner breaks each.
_JOINER: Final = "\u2060"
_REPLACED: Final = re.compile(r"(?<=:)(?=//|[\w+-]+:|\w+/)|(?<=www)(?=\.)|(?=@)|(?<=[-<>=~])(?=[-<>=])", re.IGNORECASE)


def visible(text: str) -> str:
    """The text with every control character as an escape.

    >>> visible("caf\\xe9 \\x1b[31m")
    'café \\\\x1b[31m'
    """
    return _UNSAFE.sub(_escape, text)


def count_of(count: int, noun: str) -> str:
    """A number with its noun.

    >>> count_of(1, "user"), count_of(1_200, "place")
    ('1 user', '1,200 places')
    """
    return f"{count:,} {noun}" + "s" * (count != 1)


def one_line(text: str) -> str:
    """`visible`, with all white space reduced to single spaces."""
    return visible(" ".join(text.split()))


_LONGEST_CODE: Final = 6


def shortened(text: str, limit: int) -> str:
    """The text in at most ``limit`` characters; a place's code at its end stays.

    >>> shortened("Washington Square Park", 12), shortened("City College", 12)
    ('Washington …', 'City College')
    >>> shortened("Elementary School · 1f9b", 20)
    'Elementary S… · 1f9b'
    """
    if len(text) <= limit:
        return text
    _, dot, code = text.rpartition(" · ")
    end = dot + code if 0 < len(code) <= _LONGEST_CODE and len(dot + code) < limit // 2 else ""
    return text[: limit - 1 - len(end)] + "…" + end


def markdown_text(text: str) -> str:
    """One line, escaped so that Markdown shows it literally: no link, image, formula, emoji, badge, tag or control."""
    return _MARKUP.sub(r"\\\1", _REPLACED.sub(_JOINER, one_line(text)))


def markdown_address(address: str) -> str:
    """As `markdown_text`, for an address that may be a link and is copied: nothing joins its characters."""
    return _MARKUP.sub(r"\\\1", one_line(address))


def unmarked(markdown: str) -> str:
    """A sentence of the app without its colours and escapes.

    >>> unmarked(":blue[" + markdown_text("Joe's [bar] @ 5") + "] leads.")
    "Joe's [bar] @ 5 leads."
    """
    shown = re.sub(r"(?<!\\):[a-z]+\[((?:[^\]\\]|\\.)*)\]", r"\1", markdown)
    return re.sub(r"\\(.)", r"\1", shown).replace(_JOINER, "").replace("\u00a0", " ")


def escape_json(text: str) -> str:
    """Equivalent JSON text with unsafe characters as ``\\uXXXX``.

    >>> escape_json('"a\\x9bb"')
    '"a\\\\u009bb"'
    """
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
