"""Who may talk to the app."""

import socket
from pathlib import Path

import pytest
from streamlit import config, net_util
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from app.door import OWN_NAMES, allowed_hosts, ask_nobody_outside
from app.streamlit_options import streamlit_flags

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home without settings."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.chdir(ROOT / "app")  # Streamlit reads the project's file from here
    return tmp_path


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


def test_the_users_own_file_counts(no_home: Path) -> None:
    """The project's file would hide it; a broken one counts as none."""
    (no_home / ".streamlit").mkdir()
    file = no_home / ".streamlit" / "config.toml"
    file.write_text('[server]\nallowedHosts = ["a.example", 3]\n')
    assert allowed_hosts("127.0.0.1", []) == [*OWN_NAMES, "a.example"]
    file.write_text("[server\n")
    assert allowed_hosts("127.0.0.1", []) == list(OWN_NAMES)


def test_a_foreign_origin_asks_nobody_outside() -> None:
    """Streamlit would look up this machine's public address on the internet."""
    ask_nobody_outside()
    assert net_util.get_external_ip() is None
