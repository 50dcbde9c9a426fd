"""What is taken from inside Streamlit is still there."""

import socket
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit import net_util, runtime
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_server

from app import library_internals

SEEN = "1.67.0"
DIFFERS = f"Streamlit {version('streamlit')} differs from {SEEN}, in which it was looked up"


def test_a_foreign_origin_asks_nobody_outside() -> None:
    """Streamlit would look up this machine's public address on the internet: `net_util.get_external_ip` does."""
    assert callable(net_util.get_external_ip), DIFFERS
    library_internals.ask_nobody_outside()
    assert net_util.get_external_ip() is None


def test_messages_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection sends each message at once. `_bind_socket` names no protocol, so asyncio would not ask for it."""
    monkeypatch.setattr(starlette_server, "_bind_socket", starlette_server._bind_socket)
    library_internals.send_at_once()
    with starlette_server._bind_socket("127.0.0.1", 0, 1) as listening:
        assert listening.proto == 0, DIFFERS
        listening.setblocking(True)
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_no_message_is_dropped_from_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of a page begins again: Streamlit would drop its block, and keep what a part inside draws into it."""
    block, inside = ForwardMsg(), ForwardMsg()
    block.delta.fragment_id, inside.delta.fragment_id = "part", "inside"
    block.metadata.delta_path.extend([0, 1])
    inside.metadata.delta_path.extend([0, 1, 0])
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    library_internals.send_all_of_parts()
    for parts, sent in ((["part"], [block, inside]), (None, [])):
        queue = ForwardMsgQueue()
        queue.enqueue(block)
        queue.enqueue(inside)
        queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=parts)
        assert queue.flush() == sent, DIFFERS


def test_no_part_of_a_page_that_was_left_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole pages are, and parts of the page that is open."""
    ran: list[RerunData] = []
    monkeypatch.setattr(ScriptRunner, "_run_script", lambda runner, asked: ran.append(asked))
    library_internals.leave_parts_of_other_pages()
    runner: Any = SimpleNamespace(_pages_manager=SimpleNamespace(current_page_script_hash="here"))
    parts = [RerunData(fragment_id_queue=["part"], page_script_hash=page) for page in ("here", "left")]
    for asked in (whole := RerunData(page_script_hash="next"), *parts):
        ScriptRunner._run_script(runner, asked)
    assert ran == [whole, parts[0]], DIFFERS


def test_a_file_in_memory_has_an_address() -> None:
    """It is the same for the same content, and ends as its type says; `media_file_mgr` keeps it for the page."""

    def page() -> None:
        import streamlit as st

        from app.library_internals import media_address

        st.text(media_address(b"{}", "application/json", "a"))
        st.text(media_address(b"{}", "application/json", "b"))

    first, second = AppTest.from_function(page).run().text
    assert first.value == second.value and first.value.endswith(".json"), DIFFERS
    with pytest.raises(RuntimeError):
        runtime.get_instance()  # none outside


def test_files_of_the_browsers_part() -> None:
    """A font that Pillow opens, and the page whose head gets the script."""
    font = library_internals.picture_font()
    assert font is not None and font.read_bytes()[:4] == b"wOF2", DIFFERS
    assert library_internals.first_page().count("<head><script>\nif (location") == 1, DIFFERS
