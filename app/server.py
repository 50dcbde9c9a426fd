"""The server: Streamlit's own, with pages that know its address.

Without it a browser looks for the server below the page's own path first, and its console shows two errors.
"""

from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from app.pages import PAGES
from recap.storage.installed import data_path

MAIN: Final = data_path("app", "main.py")
_SERVER_ADDRESS: Final = "<script>window.__streamlit = {BACKEND_BASE_URL: location.origin}</script>"


@cache
def _page() -> str:
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return page.replace("<head>", f"<head>{_SERVER_ADDRESS}", 1)


def _answer(_: Request) -> HTMLResponse:
    return HTMLResponse(_page(), headers={"Cache-Control": "no-cache"})


server = st.App(MAIN, routes=[Route(f"/{view.name}", _answer) for view in PAGES])
