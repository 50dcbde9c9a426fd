"""The server: Streamlit's own, with a script in each page."""

from typing import Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from app.library_internals import first_page
from app.pages import PAGES
from recap.storage.user_folder import data_path

MAIN: Final = data_path("app", "main.py")


def _answer(_: Request) -> HTMLResponse:
    return HTMLResponse(first_page(), headers={"Cache-Control": "no-cache"})


server = st.App(MAIN, routes=[Route(path, _answer) for path in ("/", *(f"/{view.name}" for view in PAGES))])
