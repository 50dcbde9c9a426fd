"""A read-only app leaves an empty home empty, whatever is opened."""

from pathlib import Path

import pytest
import streamlit as st

from recap.checkpoint import Checkpoint
from tests.app.app_driver import calm_view, point_app_at


def test_no_view_leaves_anything(
    city_folder: Path, city_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """Neither a file nor a folder: records, rankers, pictures, runs and predictions are looked for and not made."""
    point_app_at(monkeypatch, city_folder, city_checkpoint, read_only=True)
    st.cache_resource.clear()
    st.cache_data.clear()
    token = Checkpoint.load(city_checkpoint).hash[:12]
    for view, params in (
        ("overview", {}),
        ("compare", {"a": "feature_curves", "b": token}),
        ("explain", {"case": "1"}),
        ("cases", {}),
        ("runs", {}),
    ):
        calm_view(view, **params)
        assert not (tmp_path / "home").exists(), view
