"""The server: Streamlit's own, with a script in each page."""

from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from app.pages import PAGES
from recap.storage.user_folder import data_path

MAIN: Final = data_path("app", "main.py")
_SCRIPT: Final = """<script>
if (location.pathname.lastIndexOf("/") === 0) window.__streamlit = {BACKEND_BASE_URL: location.origin};
const push = history.pushState;
let clicked = location;
for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => clicked = new URL(location.href), true);
history.pushState = function (state, title, url) {
  const stays = new URL(url ?? "", location.href).pathname === location.pathname;
  if (!stays && clicked.pathname === location.pathname) history.replaceState(history.state, "", clicked.href);
  (stays ? history.replaceState : push).call(this, state, title, url);
};
</script>"""
"""Without the address, a browser looks for the server below the page's own path first; its console shows two errors.
Below a proxy's folder only that search finds it.
A page writes what it shows into its address: the Back button leads to the page before, not through these changes.
What the next page writes may come while the address is still this page's: Back brings the address of the click."""


@cache
def _page() -> str:
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return page.replace("<head>", f"<head>{_SCRIPT}", 1)


def _answer(_: Request) -> HTMLResponse:
    return HTMLResponse(_page(), headers={"Cache-Control": "no-cache"})


server = st.App(MAIN, routes=[Route(path, _answer) for path in ("/", *(f"/{view.name}" for view in PAGES))])
