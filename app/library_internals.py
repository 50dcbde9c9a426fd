"""What the app takes from inside its libraries, where they have no public way.

`tests/app/test_library_internals.py` names the version that each was seen with.
"""

import socket
from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit import net_util, runtime
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.web.server.starlette import starlette_server

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


def ask_nobody_outside() -> None:
    """Stop Streamlit from looking up this machine's public address when a page of another origin connects."""
    net_util.get_external_ip = lambda: None


def send_at_once() -> None:
    """Send every message as soon as it is made. Streamlit's own socket first waits for the browser's receipt of the
    message before, up to 40 ms at every click: asyncio sends at once only on sockets that name TCP as their protocol.
    """
    bind = starlette_server._bind_socket

    def bound(address: str, port: int, backlog: int) -> socket.socket:
        listening = bind(address, port, backlog)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # its connections take this over
        return listening

    starlette_server._bind_socket = bound


def send_all_of_parts() -> None:
    """Send all that a part of a page (`st.fragment`) drew, also when a click draws it again before that was sent.

    Streamlit drops what is not yet sent of the part, but not of parts inside it, nor what the browser keeps. These then
    name positions that the browser does not have, and it shows a white page.
    """
    clear = ForwardMsgQueue.clear

    def clear_whole_pages(
        queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        clear(queue, retain_lifecycle_msgs, None if fragment_ids_this_run is None else [])

    ForwardMsgQueue.clear = clear_whole_pages  # type: ignore[assignment, method-assign]


def leave_parts_of_other_pages() -> None:
    """Draw no part of a page that was left. A click on it that comes right after the one that leaves would wait for the
    next page to be drawn, and then empty it: the browser clears what is there when it hears of another page.
    """
    run = ScriptRunner._run_script

    def run_here(runner: ScriptRunner, rerun_data: RerunData) -> None:
        here = runner._pages_manager.current_page_script_hash
        if not rerun_data.fragment_id_queue or rerun_data.page_script_hash == here:
            run(runner, rerun_data)

    ScriptRunner._run_script = run_here  # type: ignore[assignment, method-assign]


def media_address(content: bytes, kind: str, name: str) -> str:
    """The path of a file that the server keeps in memory while a page shows it; ``kind`` is its media type."""
    return str(runtime.get_instance().media_file_mgr.add(content, kind, coordinates=name))


def picture_font() -> Path | None:
    """Streamlit's own Source Sans, with accents, arrows and the true minus; None if it is missing."""
    media = Path(st.__file__).parent / "static" / "static" / "media"
    return next(iter(sorted(media.glob("SourceSansVF-Upright*.woff2"))), None)


@cache
def first_page() -> str:
    """The page in which Streamlit's browser part starts, with `_SCRIPT` in its head."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    return page.replace("<head>", f"<head>{_SCRIPT}", 1)
