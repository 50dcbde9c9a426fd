"""The user's folder: where it lies, what moves it, what is refused."""

from pathlib import Path

import pytest

from recap.errors import ConfigError, RecapError
from recap.storage.user_folder import HOME_VARIABLE, SUBFOLDERS, user_folder, user_subfolder


def test_the_environment_moves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RECAP_HOME names the folder; asking where it or a part of it is makes nothing, only a writer does."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "here"))
    assert user_folder() == tmp_path / "here"
    assert not (tmp_path / "here").exists()
    assert [user_subfolder(name) for name in SUBFOLDERS] == [tmp_path / "here" / name for name in SUBFOLDERS]
    assert not (tmp_path / "here").exists()
    assert [user_subfolder(name, make=True) for name in SUBFOLDERS] == [user_subfolder(name) for name in SUBFOLDERS]
    assert all((tmp_path / "here" / name).is_dir() for name in SUBFOLDERS)


@pytest.mark.parametrize("empty", [None, "", "  "])
@pytest.mark.parametrize(
    ("platform", "place"),
    [("linux", ".local/share"), ("darwin", "Library/Application Support"), ("win32", "AppData/Local")],
)
def test_the_platform_decides_otherwise(
    empty: str | None, platform: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unset or empty: the platform's folder for application data, or where its own variable moves that."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name in (HOME_VARIABLE, "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
        if empty is not None:
            monkeypatch.setenv(name, empty)
    monkeypatch.setattr("recap.storage.user_folder.sys.platform", platform)
    assert user_folder() == tmp_path / place / "recap"


def test_the_desktops_variable_moves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As every program of a Linux desktop."""
    monkeypatch.delenv(HOME_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert user_folder() == tmp_path / "recap"


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file instead of a folder, a folder below a file, an unknown part."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    with pytest.raises(ConfigError, match="it has datasets, checkpoints"):
        user_subfolder("secrets")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="is a file"):
        user_folder()
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "file" / "below"))
    with pytest.raises(RecapError, match="cannot make"):
        user_subfolder("cache", make=True)
    assert user_subfolder("cache") == tmp_path / "file" / "below" / "cache"
