"""What a server does once and `AppTest` does for every page: half of a page's time."""

from collections.abc import Iterator
from functools import cache
from unittest.mock import patch

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import app_test


@pytest.fixture(scope="session", autouse=True)
def _as_one_server() -> Iterator[None]:
    """Installed packages are searched for components once, each script is compiled once."""
    with (
        patch.object(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests)),
        patch.object(app_test, "ScriptCache", cache(app_test.ScriptCache)),
    ):
        yield
