"""Take saved cases in and hand them on, as plain JSON."""

import streamlit as st

from analysis.cases.exchange import export_text, import_text
from analysis.cases.library import Shelf, Stored
from analysis.cases.saved_case import Collection
from app.components.cases.library import open_library
from app.components.text import quiet
from app.settings import AppSettings
from recap.errors import RecapError
from recap.printable import markdown_text


def exchange_control(shelf: Shelf, names: list[str], collection: Stored[Collection] | None) -> None:
    """A button with both directions; a read-only app only hands on."""
    with st.popover("Import or export", icon=":material/import_export:", key="exchange"):
        what = "this collection" if collection else f"these {len(names)} saved cases"
        quiet("Plain JSON: links, titles, notes and tags. Notes are yours: read them before you hand them on.")
        st.download_button(
            f"Export {what}",
            data=lambda: export_text(shelf, names, [collection.name] if collection else None).encode(),
            file_name="recap-cases.json",
            mime="application/json",
            on_click="ignore",
            icon=":material/download:",
            disabled=not names,
            width="stretch",
            key="export_cases",
        )
        if AppSettings.from_environment().read_only:
            return
        file = st.file_uploader("Import a file of saved cases", type="json", key="import_cases", max_upload_size=20)
        if file is not None and st.button("Take in", key="take_in"):
            try:
                done = import_text(open_library(), file.getvalue().decode("utf-8"))
            except (RecapError, UnicodeDecodeError) as error:
                st.warning(markdown_text(str(error)))
            else:
                st.session_state["cases_imported"] = done.sentence
                st.rerun()
    said = st.session_state.pop("cases_imported", None)
    if said:
        st.toast(markdown_text(said))
