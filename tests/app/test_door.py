"""Who may talk to the app."""

import socket
from pathlib import Path

import pytest
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from app.cli.app import streamlit_flags
from app.door import OWN_NAMES, allowed_hosts

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _project_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit reads the project's file from here."""
    monkeypatch.chdir(ROOT / "app")


def test_only_its_own_names_by_default() -> None:
    """The list of the module and that of the project's file are one; names with the same ending are others."""
    assert streamlit_flags()["server_allowedHosts"] == allowed_hosts("127.0.0.1", []) == list(OWN_NAMES)
    config.set_option("server.allowedHosts", list(OWN_NAMES))
    assert all(map(is_host_allowed, ("localhost:8501", "127.0.0.1", "[::1]:8501")))
    assert not any(map(is_host_allowed, ("evil.example", "localhost.evil.example:8501", "", None)))


def test_an_address_and_further_names_are_added() -> None:
    """What the user names, what the app listens on and the machine's name."""
    assert allowed_hosts("192.0.2.7", ["Recap.Lab.Example"]) == [
        *OWN_NAMES,
        "192.0.2.7",
        socket.gethostname().lower(),
        "recap.lab.example",
    ]
    assert "0.0.0.0" not in allowed_hosts("0.0.0.0", [])  # noqa: S104
