"""What commands refuse: one line on stderr that says what was expected, exit code 2, and nothing written."""

import shlex
import socket
import tomllib
from pathlib import Path

import pytest

from tests.checkins import write_foursquare
from tests.cli_runner import recap_here
from tests.shell import assert_refused
from tests.tiny import WORDS
from tests.worlds import habit_rows

_GROUPS = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))
REFUSED = [(f"{begin} {end}".strip(), part) for begin, ends in _GROUPS.items() for end, part in ends.items()]


@pytest.fixture(scope="module")
def words(city_folder: Path, city_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What stands for the words in capitals."""
    table = write_foursquare(tmp_path_factory.mktemp("table") / "city.txt", habit_rows())
    places = {"DATA": city_folder, "MODEL": city_checkpoint, "TABLE": table}
    return {"TINY": shlex.join(WORDS), **{name: shlex.quote(str(place)) for name, place in places.items()}}


@pytest.mark.parametrize(("command", "part"), REFUSED)
def test_a_refusal_is_one_line(
    command: str, part: str, words: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home.parent)
    for name, meant in words.items():
        command = command.replace(name, meant)
    assert_refused(recap_here(*shlex.split(command)), part)
    assert [path for path in home.parent.rglob("*") if path.is_file() and home / "cache" not in path.parents] == []


def test_a_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert_refused(
            recap_here("app", "--port", port), f"127.0.0.1:{port}", "another program uses this port", "--port"
        )


def test_an_app_that_others_reach_trains_only_if_asked() -> None:
    """Before anything is served; read-only or with the option it would start."""
    refused = recap_here("app", "--address", "0.0.0.0", "--port", 8598)  # noqa: S104
    assert_refused(refused, "0.0.0.0", "--read-only", "--allow-training")  # noqa: S104


def test_a_path_below_the_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "lab")
    assert_refused(
        recap_here("app", "--port", 8599), "STREAMLIT_SERVER_BASE_URL_PATH", "let the web server remove the path"
    )
