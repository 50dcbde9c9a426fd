"""Import and export of saved cases, as plain JSON."""

import streamlit as st

from analysis.cases.exchange import export_text, import_text
from analysis.cases.library import Shelf, Stored
from analysis.cases.saved_case import Collection
from app.components.cases.library import open_library
from app.settings import AppSettings
from recap.errors import RecapError
from recap.printable import markdown_text


def exchange_control(shelf: Shelf, names: list[str], collection: Stored[Collection] | None) -> None:
    """Both directions; a read-only app only exports."""
    st.download_button(
        "Export this collection" if collection else f"Export {len(names):,} saved cases",
        data=lambda: export_text(shelf, names, [collection.name] if collection else None).encode(),
        file_name="recap-cases.json",
        mime="application/json",
        on_click="ignore",
        icon=":material/download:",
        disabled=not names,
        width="stretch",
        key="export_cases",
        help="Plain JSON with your notes; opens where the dataset is.",
    )
    said = st.session_state.pop("cases_imported", None)
    if said:
        st.toast(markdown_text(said))
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
