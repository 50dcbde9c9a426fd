"""`recap app` before it opens anything: what it refuses."""

import socket

import pytest

from tests.shell import assert_refused, recap


def test_a_port_in_use_is_refused() -> None:
    """Before Streamlit starts, with what to do."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert_refused(recap("app", "--port", port), f"127.0.0.1:{port}", "another program uses this port", "--port")


def test_an_address_of_another_machine_is_refused() -> None:
    assert_refused(recap("app", "--port", 8599, "--address", "203.0.113.7"), "203.0.113.7:8599", "--address")


def test_a_path_below_the_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pages would stay empty."""
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "lab")
    assert_refused(recap("app", "--port", 8599), "STREAMLIT_SERVER_BASE_URL_PATH", "let the web server remove the path")
