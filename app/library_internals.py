"""What the app takes from inside its libraries, where they have no public way.

`tests/app/test_library_internals.py` names the version that each was seen with.
"""

from pathlib import Path

import streamlit as st
from streamlit import net_util, runtime


def ask_nobody_outside() -> None:
    """Stop Streamlit from looking up this machine's public address when a page of another origin connects."""
    net_util.get_external_ip = lambda: None


def media_address(content: bytes, kind: str, name: str) -> str:
    """The path of a file that the server keeps in memory while a page shows it; ``kind`` is its media type."""
    return str(runtime.get_instance().media_file_mgr.add(content, kind, coordinates=name))


def picture_font() -> Path | None:
    """Streamlit's own Source Sans, with accents, arrows and the true minus; None if it is missing."""
    media = Path(st.__file__).parent / "static" / "static" / "media"
    return next(iter(sorted(media.glob("SourceSansVF-Upright*.woff2"))), None)


def first_page() -> str:
    """The page in which Streamlit's browser part starts."""
    return (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
