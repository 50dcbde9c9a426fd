"""Opening your own data: nothing is lost, nothing half-made is listed, and a bad file leaves nothing on the disk."""

import csv
import io
import os
import time
from collections.abc import Container, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import uploads, warming
from app.settings import variable
from app.sources import dataset_source, own_datasets
from recap.data import preparation
from recap.errors import ConfigError
from tests.app.app_driver import calm_view, check_calm, click, open_view, point_app_at, texts


def visits(users: int = 12, days: int = 14) -> bytes:
    """A table in no published format: every user goes to two places of its own and two that all share, in London."""
    lines = ["kunde;filiale;wann;breite;länge"]
    for user in range(users):
        for day in range(days):
            for hour, place in ((8, f"home {user % 4}"), (12, "market"), (19, "harbour")):
                lat, lon = 51.5 + 0.001 * (len(place) + user % 4), -0.12 - 0.002 * len(place)
                lines.append(f"k{user};{place};2024-03-{day + 1:02}T{hour:02}:{user:02};{lat:.4f};{lon:.4f}")
    return "\n".join(lines).encode()


@pytest.fixture(autouse=True)
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty user's folder, an app without datasets."""
    point_app_at(monkeypatch, None, None, read_only=False)
    yield home
    assert not any((home / "datasets").glob(".*")), "a half-made dataset"


def left_on_disk(home: Path) -> list[str]:
    return [path.name for path in (home / "uploads").glob("*")]


def drop(content: bytes, name: str = "visits.csv") -> AppTest:
    """The page after a file was dropped."""
    app = open_view("open_data")
    return app.file_uploader[0].upload(name, content, "text/csv").run()


def test_from_a_file_to_a_dataset(home: Path) -> None:
    """Columns are proposed, the copy outlives a reload, preparing makes one dataset and removes the copy."""
    app = drop(visits())
    check_calm(app)
    assert app.title[0].value == "504 check-ins of 12 users at 6 places. Is this right?"
    chosen = {box.label: box.value for box in app.selectbox}
    assert chosen["kunde"] == "user" and chosen["filiale"] == "poi" and chosen["breite"] == "lat"
    assert chosen["Time zone"] == "Europe/London"
    assert app.code[0].value.startswith(
        "recap prepare visits.csv --format csv --set=min_poi_checkins=1 --set=min_user_checkins=1"
    )
    assert "fewer than about 60 check-ins" in texts(app) and app.segmented_control(key="least").value == 1
    (token,) = left_on_disk(home)
    again = open_view("open_data", upload=token)
    assert again.title[0].value == app.title[0].value, "a reload loses nothing"
    click(app, "prepare")
    assert "is ready" in app.title[0].value
    assert [button.label for button in app.button][:2] == ["Predict", "Train RECAP"], "the next step first"
    assert [header.value for header in app.header] == ["On a map", "What it holds"]
    assert "Check-ins" in str(app.table[0].value)
    assert left_on_disk(home) == []
    (folder,) = own_datasets()
    assert folder.name == "visits"
    source = dataset_source(folder)
    assert source is not None and source.model == "pretrained"
    calm_view("walk", source=source.token)
    uploads.delete_dataset(folder)
    assert own_datasets() == {} and not folder.exists()


def test_a_published_format_without_a_zone() -> None:
    """The zone of the coordinates is proposed and confirmed as for your own table."""
    rows = csv.reader(io.StringIO(visits().decode()), delimiter=";")
    lines = [[user, f"{time}:00Z", lat, lon, place] for user, place, time, lat, lon in list(rows)[1:]]
    app = drop("\n".join("\t".join(line) for line in lines).encode(), "gowalla.txt")
    assert "Read as gowalla" in texts(app) and "confirm the time zone" in texts(app)
    assert app.segmented_control(key="least").value == 10, "as published"
    app.button(key="prepare").click().run()
    assert "is ready" in app.title[0].value


def test_a_path_of_a_large_file(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file on this computer is read where it is; one beyond memory is refused before it is read."""
    path = tmp_path / "visits.csv"
    path.write_bytes(visits())
    app = open_view("open_data")
    app.text_input[0].set_value(str(path)).run()
    assert "504 check-ins" in app.title[0].value and f"recap prepare {path}" in app.code[0].value
    monkeypatch.setattr(preparation, "_SHARE", 0)  # of the memory
    app = open_view("open_data")
    app.text_input[0].set_value(str(path)).run()
    assert "too large for the memory" in app.error[0].value and path.exists()
    assert len(left_on_disk(home)) == 1, "only the answers of the first"


def test_another_column_is_read_again() -> None:
    """A choice among the columns is kept with the file and changes what is read."""
    app = drop(visits())
    (box,) = (box for box in app.selectbox if box.label == "filiale")
    box.select("category").run()
    assert app.title[0].value == "One thing is unclear", "no other column keeps its spot"
    (box,) = (box for box in app.selectbox if box.label == "filiale")
    box.select("poi").run()
    assert "504 check-ins" in app.title[0].value


def test_a_wrong_answer_is_taken_back(home: Path) -> None:
    """Notes are no time zones: the page says so, the file stays, and the columns come back."""
    app = drop(visits().replace(b"\n", b";none\n").replace(b"ge;none", b"ge;notiz") + b";none")
    (box,) = (box for box in app.selectbox if box.label == "notiz")
    box.select("tz").run()
    assert app.error and len(left_on_disk(home)) == 1
    (back,) = (button for button in app.button if button.label == "Back to the columns")
    back.click().run()
    assert not app.error and "504 check-ins" in app.title[0].value


def cards(month: int = 3, far: Container[int] = (1,)) -> bytes:
    """What a stranger has: a card's number and the names of places, one of them at two spots, and no ids."""
    rows = ["Card number,Place name,lat,lon,when"]
    for line in visits().decode().splitlines()[1:]:
        user, place, time, _, lon = line.split(";")
        lat = 51.5 + 0.01 * (ord(place[-1]) % 7)
        name = {"market": "Old Market", "harbour": "Star Coffee"}.get(place, f"Home {place[-1]} Street")
        lat += 0.08 * (name == "Star Coffee" and int(user[1:]) in far)
        rows.append(f"{9000 + int(user[1:])},{name},{lat:.4f},{lon},{time.replace('-03-', f'-{month:02}-')}")
    return "\n".join(rows).encode()


def test_what_a_stranger_brings(home: Path) -> None:
    """Names are places and names, one name at two spots is named and split, the zone is confirmed by a button."""
    app = drop(cards(), "cards.csv")
    check_calm(app)
    assert app.title[0].value == "504 check-ins of 12 users at 6 places. Is this right?"
    chosen = {box.label: box.value for box in app.selectbox}
    assert chosen["Card number"] == "user" and chosen["Place name"] == "poi+name"
    assert "you named it" not in texts(app) and "Star Coffee spreads over" in texts(app)
    app = click(app, "ids-split")
    assert "at 7 places" in app.title[0].value and "you named it" not in texts(app)
    assert "confirm the time zone" in texts(app)
    app = click(app, "confirm")
    assert "confirm the time zone" not in texts(app) and not any(item.key == "confirm" for item in app.button)
    assert "Dots: 504 of 504 check-ins" in texts(app)
    (box,) = (box for box in app.selectbox if box.label == "when")
    app = box.select("category").run()
    assert "Choose **Time** above the column that has it" in texts(app)


def test_a_chain_is_asked(home: Path) -> None:
    """Where many rows have one name at two places, the page asks; the first answer splits them."""
    app = drop(cards(far=range(6)), "cards.csv")
    assert app.title[0].value == "One thing is unclear" and "Star Coffee" in texts(app)
    assert [app.button(key=f"answer-{at}").label for at in (0, 1)] == ["Place name, by name and position", "Place name"]
    assert "at 7 places" in click(app, "answer-0").title[0].value


def test_the_next_month_is_added(home: Path) -> None:
    """A further file is read with the same answers; predictions start from it."""
    app = drop(cards(), "cards.csv")
    app = click(click(app, "confirm"), "prepare")
    uploader = app.file_uploader[0]
    assert uploader.label == "Add a file, such as the next month"
    app = uploader.upload("april.csv", cards(month=4), "text/csv").run()
    assert not app.exception and "Added 504 check" in texts(app)
    assert {folder.name for folder in own_datasets()} == {"cards", "cards-2"} and left_on_disk(home) == []
    app = app.file_uploader[0].upload("april.csv", cards(month=4), "text/csv").run()
    assert app.error[0].value.startswith("Added 0 check")
    assert {folder.name for folder in own_datasets()} == {"cards", "cards-2"}


HOSTILE = {
    "empty": b"",
    "binary": bytes(range(256)) * 40,
    "header only": b"user,place,time,lat,lon\n",
    "one row": b"user,place,time,lat,lon\na,b,2024-01-01T00:00:00Z,51.5,-0.1\n",
    "not a table": b"hello\nworld\n",
    "broken text": b"user,place,time,lat,lon\n" + b"\xff\xfe\xfa,b,2024-01-01T00:00:00Z,51.5,-0.1\n" * 30,
    "far future": visits().replace(b"2024-", b"9999-"),
    "axes beyond the globe": visits().replace(b"51.5", b"951.5"),
    "three hundred columns": b",".join(b"c%d" % n for n in range(301)) + b"\n" + b",".join([b"1"] * 301),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_bad_file_is_one_line(kind: str, home: Path) -> None:
    """The page says what is wrong; nothing crashes, and a file that cannot be read is not kept."""
    app = drop(HOSTILE[kind])
    assert not app.exception, app.exception[0].message
    assert own_datasets() == {}
    if app.error:
        assert "\n" not in app.error[0].value.strip() and left_on_disk(home) == []
    else:  # it can be read, and no dataset can be made of it, or something is asked
        assert not any(button.key == "prepare" and not button.disabled for button in app.button)


def test_markup_in_a_file_stays_text() -> None:
    """Names of columns and values are data on the page."""
    content = visits().replace(b"kunde", b"<img src=x>![y](https://evil.example/z.png)")
    said = texts(drop(content))
    assert "![y](" not in said.replace("\\", "￿"), "brackets are escaped"


def test_uploads_are_for_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others reach the app no file is taken, unless that is allowed; then still no path of the computer."""
    monkeypatch.setenv(variable("address"), "0.0.0.0")  # noqa: S104 - that is the case
    assert "--allow-upload" in texts(open_view("open_data")) and not open_view("open_data").file_uploader
    monkeypatch.setenv(variable("allow_upload"), "1")
    app = open_view("open_data")
    assert app.file_uploader and not app.text_input
    assert "the computer that runs this app" in texts(app) and "stays on this" not in texts(app)


def test_names_stay_in_their_folder(home: Path) -> None:
    """A file's or dataset's name is no path; only folders that this app made for an upload are read."""
    assert not any(map(uploads.find_upload, ("../../datasets", "0123456789abcdeg", "", "a" * 16)))
    upload = uploads.keep_copy("../../../etc/pass wd\x00.csv", io.BytesIO(b"x"))
    assert upload.path.parent.parent == upload.folder and upload.folder.parent == home / "uploads"
    assert uploads.keep_copy("..", io.BytesIO(b"x")).path.read_bytes() == b"x"
    with pytest.raises(ConfigError):
        uploads.delete_dataset(home / "datasets" / ".." / "runs")


def test_an_abandoned_copy_goes_within_the_hour(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The running app removes it without another upload; one that was answered since stays."""
    old, new = (uploads.keep_copy(name, io.BytesIO(b"x")) for name in ("old.csv", "new.csv"))
    for upload, minutes in ((old, 61), (new, 59)):
        os.utime(upload.folder, (time.time() - 60 * minutes,) * 2)

    def stop(_: float) -> None:
        raise InterruptedError

    monkeypatch.setattr(time, "sleep", stop)
    with pytest.raises(InterruptedError):
        warming._clean_up()
    assert uploads.find_upload(old.token) is None and not old.path.exists()
    assert uploads.find_upload(new.token) == new
