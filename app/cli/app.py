"""Commands of the app layer; Streamlit is imported only inside `recap app`."""

import errno
import os
import socket
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

from typer import Option

from recap.storage.user_folder import data_path

_LARGE_TEXT: Final[dict[str, Any]] = {
    "theme_baseFontSize": 24,
    "theme_headingFontSizes": ["1.6rem", "1.1rem", "1.1rem", "1rem", "1rem", "1rem"],
    "theme_metricValueFontSize": "1.7rem",
    "theme_paddingTop": "1rem",
    "theme_paddingBottom": "0.5rem",
}


def run_app(
    data: Annotated[Path | None, Option("--data", help="A dataset folder to open first.")] = None,
    checkpoint: Annotated[
        str | None, Option("--checkpoint", metavar="MODEL", help="A checkpoint folder, or pretrained, to open first.")
    ] = None,
    port: Annotated[int, Option(min=1, max=65535, help="Port on this machine.")] = 8501,
    address: Annotated[str, Option(help="Address to listen on; 127.0.0.1 keeps it on this machine.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        Option("--allow-host", metavar="NAME", help="Another host name that browsers may use; repeatable."),
    ] = None,
    allow_upload: Annotated[
        bool, Option("--allow-upload", help="Allow uploads even if others can reach the app.")
    ] = False,
    allow_training: Annotated[
        bool, Option("--allow-training", help="Let everyone who reaches the app start trainings.")
    ] = False,
    large_text: Annotated[bool, Option("--large-text", help="Use 24 px text, to present in a room.")] = False,
    read_only: Annotated[bool, Option("--read-only", help="Write nothing to disk, not even caches.")] = False,
    counts_class: Annotated[
        bool, Option("--class", help="Count a class's answers in memory; prints the token of the teacher's page.")
    ] = False,
    online_map: Annotated[
        bool,
        Option(
            "--online-map", help="Show streets under the maps; the provider (carto.com) sees which area you look at."
        ),
    ] = False,
) -> None:
    """Open the app in a browser, on the demo city or your own data."""
    from app.classroom import open_classroom
    from app.door import allowed_hosts
    from app.library_internals import (
        ask_nobody_outside,
        leave_parts_of_other_pages,
        send_all_of_parts,
        send_at_once,
    )
    from app.settings import AppSettings
    from app.warming import start_warming
    from recap.baselines import PRETRAINED
    from recap.errors import CheckpointError, ConfigError, DatasetError
    from recap.storage.artifacts import CHECKPOINT_MANIFEST, DATASET_MANIFEST, recover_folders
    from recap.storage.user_folder import data_path

    for given in (data, checkpoint):
        if given is not None:
            recover_folders(Path(given).parent)
    if data is not None and not (data / DATASET_MANIFEST).is_file():
        raise DatasetError(f"{data} has no {DATASET_MANIFEST}: make a dataset with `recap prepare`")
    folder = None if checkpoint in (None, PRETRAINED) else Path(str(checkpoint))  # names win over folders
    if folder is not None and not (folder / CHECKPOINT_MANIFEST).is_file():
        raise CheckpointError(f"{folder} has no {CHECKPOINT_MANIFEST}: make a checkpoint with `recap train`")
    _require_free(address, port)
    settings = replace(AppSettings.from_environment(), data=data, checkpoint=folder, read_only=read_only)
    settings = replace(settings, address=address, allow_upload=allow_upload, online_map=online_map)
    settings = replace(settings, pretrained=checkpoint == PRETRAINED)
    if not (settings.is_local or read_only or allow_training):
        raise ConfigError(
            f"at {address} everyone who reaches the app could start trainings: add --read-only, or --allow-training"
        )
    os.environ.update(settings.to_environment())

    if counts_class:
        print(f"The teacher's page, /learn?page=teacher, opens with the token {open_classroom().token}", flush=True)

    from streamlit.web import bootstrap

    hosts = allowed_hosts(address, allow_host or [])
    ask_nobody_outside()
    send_at_once()
    send_all_of_parts()
    leave_parts_of_other_pages()
    served = {"server_port": port, "server_address": address, "server_allowedHosts": hosts}
    bootstrap.load_config_options(streamlit_flags(**served, **(_LARGE_TEXT if large_text else {})))
    _require_root()
    start_warming()
    bootstrap.run_asgi_app(str(data_path("app", "main.py")), "app.server:server", [], {})


def _require_root() -> None:
    """Raise ConfigError if Streamlit is set to serve below a path, at which its pages would stay empty."""
    import streamlit as st

    from recap.errors import ConfigError

    path = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH") or st.get_option("server.baseUrlPath")
    if path:
        raise ConfigError(
            f"the app cannot serve below {path!r}: unset STREAMLIT_SERVER_BASE_URL_PATH or server.baseUrlPath, and let "
            "the web server remove the path from what it passes on"
        )


def _require_free(address: str, port: int) -> None:
    """Raise ConfigError if the address cannot be used, before anything is opened."""
    from recap.errors import ConfigError

    try:
        family, *_ = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        socket.create_server((address, port), family=family).close()
    except OSError as error:
        reason = "another program uses this port" if error.errno == errno.EADDRINUSE else error.strerror
        raise ConfigError(
            f"cannot open the app at {address}:{port}: {reason}; choose another --port or --address"
        ) from error


def streamlit_flags(**options: Any) -> dict[str, Any]:
    """All options by flag name, such as ``theme_light_primaryColor``.

    Args:
        options: flags that replace those of the file, such as ``server_port=8501``.
    """
    text = data_path("app", ".streamlit/config.toml").read_text(encoding="utf-8")
    return _flat(tomllib.loads(text)) | options


def _flat(section: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flags: dict[str, Any] = {}
    for name, value in section.items():
        flags |= _flat(value, f"{prefix}{name}_") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flags
