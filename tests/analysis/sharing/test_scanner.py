"""The scanner finds one leak of each kind planted in each format, and nothing in files without any."""

import base64
import io
from collections.abc import Callable
from functools import cache

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from recap.data.dataset import Dataset
from tests.analysis.sharing.scanner import Secrets, scan
from tests.checkins import split_dataset

HASH = "ab12cd34ef56" + "0" * 52


@cache
def city() -> Dataset:
    """Place 0 has two people, place 1 one: with k = 2 the second is a secret."""
    dataset = split_dataset([(0, [(0, 0), (1, 0), (0, 2)]), (1, [(0, 0), (0, 0), (0, 2)])], 2)
    dataset.users["user_id"] = ["person-773a", "person-41bc"]
    dataset.pois["poi_id"] = ["venue-open", "venue-secret"]
    dataset.pois["poi_name"] = ["Ferry Terminal", "Quiet Door"]
    dataset.pois["latitude"], dataset.pois["longitude"] = [40.712345, 40.751234], [-74.012345, -73.981234]
    return dataset


def secrets() -> Secrets:
    return Secrets(city(), 2, (HASH,))


FIRST = city().checkins["time"].iloc[0]
LEAKS = {
    "user id": ["person-773a"],
    "place id": ["venue-secret"],
    "place name": ["Quiet Door", "at Quiet Door."],
    "coordinates": ["40.751234, -73.981234", "-73.981234 40.751234", "40.7516,-73.9816"],
    "time: date": [FIRST.strftime("%Y-%m-%d"), FIRST.isoformat()],
    "time: clock": ["18:18:36", "at 8:05"],
    "time: compact date": [FIRST.strftime("%Y%m%dT%H%M%S")],
    "time: day and month": ["3 Apr", "April"],
    "time: epoch": [str(int(FIRST.timestamp())), str(int(FIRST.timestamp()) * 1000)],
    "index": ["case=17", "edge:12-13:0", "User 017", '"case": 17', '"trajectory":3'],
    "hash": [HASH[:12]],
}


def png(**chunks: str) -> bytes:
    """A small picture with text chunks."""
    info = PngInfo()
    for keyword, text in chunks.items():
        info.add_text(keyword, text, zip=keyword == "packed")
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, format="PNG", pnginfo=info)
    return buffer.getvalue()


def in_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


FORMATS: dict[str, Callable[[str], bytes]] = {
    "HTML text": lambda leak: f"<p>They were {leak} then</p>".encode(),
    "HTML entities": lambda leak: "".join(f"&#{ord(letter)};" for letter in leak).encode(),
    "HTML comment": lambda leak: f"<!-- {leak} -->".encode(),
    "link": lambda leak: f'<a href="explain?x={"".join(f"%{byte:02X}" for byte in leak.encode())}">open</a>'.encode(),
    "SVG path": lambda leak: f'<svg><path d="M{leak} l1 1" data-x="{leak} "/></svg>'.encode(),
    "base64": lambda leak: f'<img src="data:text/plain;base64,{in_base64(f"padded {leak} text".encode())}">'.encode(),
    "picture in base64": lambda leak: f'<img src="data:image/png;base64,{in_base64(png(Comment=leak))}">'.encode(),
    "JSON": lambda leak: f'{{"note": "it was {leak} there"}}'.encode(),
    "CSV": lambda leak: f"a,b\n1,{leak}\n".encode(),
    "PNG text": lambda leak: png(Comment=f"made {leak} here"),
    "PNG packed text": lambda leak: png(packed=f"made {leak} here"),
    "behind a PNG": lambda leak: png() + f" {leak}".encode(),
}


@pytest.mark.parametrize("kind", LEAKS)
@pytest.mark.parametrize("wrapped", FORMATS)
def test_each_kind_is_found_in_each_format(kind: str, wrapped: str) -> None:
    for leak in LEAKS[kind]:
        found = {leak.kind for leak in scan(FORMATS[wrapped](leak), secrets())}
        assert kind in found, (leak, found)


@pytest.mark.parametrize("wrapped", FORMATS)
def test_what_may_be_shown_is_no_leak(wrapped: str) -> None:
    """Places that many people know, weekdays, parts of the day, scores, and a cell's point."""
    texts = ("Ferry Terminal", "venue-open", "Tuesday, 16 to 20 h", "0.0123456", "40.712345, -74.012345", "cell K7")
    for shown in texts:
        assert scan(FORMATS[wrapped](shown), secrets()) == [], shown


def test_the_time_of_a_picture() -> None:
    chunk = b"\x00\x00\x00\x07tIME" + bytes([0x07, 0xDC, 4, 2, 8, 18, 36]) + b"\0\0\0\0"
    plain = png()
    assert {leak.kind for leak in scan(plain[:33] + chunk + plain[33:], secrets())} >= {"time: date", "time: clock"}
