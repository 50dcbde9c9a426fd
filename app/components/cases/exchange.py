"""The library of saved cases, and their import and export as plain JSON."""

import streamlit as st

from analysis.cases import words
from analysis.cases.exchange import export_text, import_text
from analysis.cases.library import Library, Shelf, Stored
from analysis.cases.saved_case import Collection
from app.components.text import say_once
from app.components.toolbar import save_button
from app.settings import AppSettings
from recap.errors import RecapError
from recap.machine.printable import markdown_text


def open_library() -> Library:
    """The user's saved cases and collections.

    Raises:
        ConfigError: RECAP_HOME names a file.
    """
    return Library.of_user(read_only=AppSettings.from_environment().read_only)


def exchange_control(shelf: Shelf, names: list[str], collection: Stored[Collection] | None) -> None:
    """Import and export; a read-only app only exports."""
    save_button(
        "Export this collection" if collection else f"Export {len(names):,} saved case{'s' * (len(names) != 1)}",
        lambda: export_text(shelf, names, [collection.name] if collection else None).encode(),
        "cases.json",
        icon=":material/download:",
        disabled=not names,
        width="stretch",
        key="export_cases",
        help=words.EXPORT_HELP,
    )
    say_once("cases_imported", st.toast)
    if AppSettings.from_environment().read_only:
        return
    file = st.file_uploader("Import saved cases", type="json", key="import_cases", max_upload_size=20)
    if file is not None and st.button("Import", key="take_in"):
        try:
            done = import_text(open_library(), file.getvalue().decode("utf-8"))
        except (RecapError, UnicodeDecodeError) as error:
            st.warning(markdown_text(str(error)))
        else:
            st.session_state["cases_imported"] = done.sentence
            st.rerun()
