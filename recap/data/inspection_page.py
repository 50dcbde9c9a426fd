"""An inspection as one HTML page without outside parts, to send to whoever produced the file."""

from recap.data.cleaning import DataConfig
from recap.data.inspection import Inspection, preview_rows
from recap.rendering import render


def inspection_page(inspection: Inspection, config: DataConfig) -> str:
    """The page; every text from the file is escaped."""
    files = ", ".join(inspection.account.files)
    return render("inspection.html.j2", it=inspection, files=files, kept=preview_rows(inspection, config))
