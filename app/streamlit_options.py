"""Streamlit's options for this app from the packaged `.streamlit/config.toml`.

`streamlit run app/main.py` reads that file, which is next to the script. `recap app` passes it as flags, which no other
`config.toml` can change.
"""

import tomllib
from typing import Any

from recap.storage.user_folder import data_path


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
