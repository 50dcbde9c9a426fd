"""What no shared file may hold, and where it is looked for: text, links, base64, SVG, PNG metadata.

A scanner that knows nothing of the code that shares: it reads bytes and knows only the dataset's secrets. And the
bundled city as sharing sees it: 533 people, 2,102 places, of which 975 were visited by fewer than five.
"""

import base64
import binascii
import html
import json
import re
import struct
import urllib.parse
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.workspace import Workspace
from recap import columns as c
from recap.asking.predictor import Predictor
from recap.data.dataset import Dataset
from recap.privacy import KM_PER_DEGREE, users_per_group

NEAR_KM = 0.1
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_APART = 24
"""Characters between two numbers of one pair at most, such as those of a table's cell."""
_NUMBER = re.compile(r"-?\d{1,3}\.\d{3,}")
_TIMES = {
    "date": re.compile(r"(?<![\d.])(?:19|20)\d\d-[01]\d-[0-3]\d(?!\d)"),
    "compact date": re.compile(
        r"(?<![\d.])(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[T_ ]?(?:[01]\d|2[0-3])[0-5]\d"
        r"(?:[0-5]\d)?(?![\d.])"
    ),
    "clock": re.compile(r"(?<![\d.:])[0-2]?\d:[0-5]\d(?::[0-5]\d)?(?![\d:])"),
    "day and month": re.compile(
        r"\b[0-3]?\d\.? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b|\b(?:January|February|April|June|"
        r"July|August|September|October|November|December)\b"
    ),
}
_INDICES = re.compile(
    r"\b(?:case|user|poi|about|against)=\d+|\b(?:edge|source|add|move|remove):\d+|User \d+\b"
    r'|"(?:case|user|row|trajectory)":\s*\d+'
)


@dataclass(frozen=True)
class Leak:
    """Something found: its kind, the text, and the way it was wrapped."""

    kind: str
    text: str
    where: str


class Secrets:
    """What must not leave: of one dataset, for a k."""

    def __init__(self, dataset: Dataset, k: int, hashes: tuple[str, ...] = ()) -> None:
        table = dataset.checkins
        people = users_per_group(table[c.USER].to_numpy(np.int64), table[c.POI].to_numpy(np.int64), dataset.num_pois)
        rare = np.flatnonzero(people < k)
        self.users = _words(str(user) for user in dataset.users[c.USER_ID])
        self.poi_ids = _words(str(poi) for poi in dataset.pois[c.POI_ID].iloc[rare])
        shown = {dataset.poi_labels[poi] for poi in np.flatnonzero(people >= k)}
        categories = {str(name) for name in dataset.pois[c.CATEGORY]}
        labels = (dataset.poi_labels[poi] for poi in rare)
        self.names = _words(name for name in labels if name not in shown | categories)
        self.latitude = dataset.pois[c.LATITUDE].to_numpy(float)[rare]
        self.longitude = dataset.pois[c.LONGITUDE].to_numpy(float)[rare]
        public = np.flatnonzero(people >= k)
        self.public = {
            (round(float(dataset.pois[c.LATITUDE].iloc[poi]), 4), round(float(dataset.pois[c.LONGITUDE].iloc[poi]), 4))
            for poi in public
        }
        seconds = table[c.TIME].to_numpy("datetime64[s]").astype(np.int64)
        self.first, self.last = int(seconds.min()) - 86_400, int(seconds.max()) + 86_400
        self.hashes = tuple(value[:12] for value in hashes)

    def in_text(self, text: str, where: str) -> Iterator[Leak]:
        """All leaks of one text as it stands."""
        for kind, words in (("user id", self.users), ("place id", self.poi_ids), ("place name", self.names)):
            yield from (Leak(kind, found, where) for found in sorted(_present(words, text)))
        for kind, pattern in _TIMES.items():
            yield from (Leak(f"time: {kind}", found.group(), where) for found in pattern.finditer(text))
        for found in re.finditer(r"(?<![\d.])\d{10}(?:\d{3})?(?![\d.])", text):
            if self.first <= int(found.group()[:10]) <= self.last:
                yield Leak("time: epoch", found.group(), where)
        yield from (Leak("index", found.group(), where) for found in _INDICES.finditer(text))
        for beginning in self.hashes:
            if beginning in text:
                yield Leak("hash", beginning, where)
        yield from self._coordinates(text, where)

    def _coordinates(self, text: str, where: str) -> Iterator[Leak]:
        """Neighbouring decimals, in both orders, near a place that few people visit and at no other."""
        found = list(_NUMBER.finditer(text))
        near = [(a, b) for a, b in pairwise(found) if b.start() - a.end() <= _APART]
        numbers = [(float(a.group()), float(b.group())) for a, b in near]
        pairs = np.array([*numbers, *((b, a) for a, b in numbers)])
        if not len(pairs) or not len(self.latitude):
            return
        in_city = (np.abs(pairs[:, :1] - self.latitude) < 0.01) & (np.abs(pairs[:, 1:] - self.longitude) < 0.02)
        for at in np.flatnonzero(in_city.any(axis=1)):
            lat, lon = (float(degrees) for degrees in pairs[at])  # numpy rounds halves another way
            apart = KM_PER_DEGREE * np.hypot(
                lat - self.latitude, (lon - self.longitude) * np.cos(np.radians(self.latitude))
            )
            if apart.min() < NEAR_KM and (round(lat, 4), round(lon, 4)) not in self.public:
                yield Leak("coordinates", f"{lat}, {lon}", where)


def scan(payload: bytes, secrets: Secrets) -> list[Leak]:
    """Everything in a file of any of the formats that leave: HTML, JSON, CSV, PNG."""
    found: dict[Leak, None] = {}
    for where, text in _texts(payload, "file"):
        for leak in secrets.in_text(text, where):
            found[leak] = None
    return list(found)


def _texts(payload: bytes, where: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text in a file, unwrapped."""
    if payload.startswith(b"\x89PNG"):
        yield from _png_texts(payload, where)
        return
    plain = payload.decode("utf-8", "replace")
    text = html.unescape(plain)
    yield where, text
    unquoted = urllib.parse.unquote_plus(text)
    if unquoted != text:
        yield f"{where}: link", unquoted
    if depth < 3:
        for token in _BASE64.findall(text):
            inner = _decoded(token)
            if inner is not None:
                yield from _texts(inner, f"{where}: base64", depth + 1)


def _decoded(token: str) -> bytes | None:
    """What a token says in base64, where that is a picture or mostly readable."""
    try:
        inner = base64.b64decode(token.replace("-", "+").replace("_", "/") + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):
        return None
    if inner.startswith(b"\x89PNG"):
        return inner
    readable = sum(32 <= byte < 127 for byte in inner)
    return inner if inner and readable >= 0.95 * len(inner) else None


def _png_texts(payload: bytes, where: str) -> Iterator[tuple[str, str]]:
    """Text, EXIF and time chunks of a PNG, and what stands behind its end."""
    at = 8
    while at + 8 <= len(payload):
        length, kind = struct.unpack(">I4s", payload[at : at + 8])
        body = payload[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"zTXt":
            keyword, _, packed = body.partition(b"\0")
            body = keyword + b" " + zlib.decompress(packed[1:])
        elif kind == b"iTXt" and b"\0\1\0" in body:
            body = zlib.decompress(body.split(b"\0\1\0", 1)[1].split(b"\0", 2)[2])
        elif kind == b"tIME":
            year, month, day, hour, minute, second = struct.unpack(">HBBBBB", body)
            body = f"{year}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}:{second:02d}".encode()
        if kind not in (b"IHDR", b"IDAT", b"PLTE", b"tRNS", b"IEND"):
            yield f"{where}: PNG {kind.decode('latin-1')}", body.decode("utf-8", "replace").replace("\0", " ")
        if kind == b"IEND":
            yield f"{where}: behind the PNG", payload[at:].decode("utf-8", "replace")
            return


def _words(words: Iterator[str]) -> set[str]:
    return {word for word in words if len(word) >= 3}


def _present(words: set[str], text: str) -> set[str]:
    """The words that stand in the text as wholes; found by one pass over its tokens where they are single tokens."""
    single = {word for word in words if re.fullmatch(r"\w+", word)}
    found = single & set(re.findall(r"\w+", text)) if single else set()
    return found | {
        word for word in words - single if word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    }


CITY = Path(__file__).parents[3] / "checkpoints" / "demo-city"


@cache
def predictor() -> Predictor:
    return Workspace.open(CITY / "dataset", CITY / "checkpoint").predictor


@cache
def opened() -> Workspace:
    return Workspace(predictor().dataset, predictor().graph)


@cache
def secrets() -> Secrets:
    return Secrets(predictor().dataset, 5, (predictor().dataset.hash, predictor().checkpoint.hash))


@cache
def basemap() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((CITY / "basemap.json").read_text(encoding="utf-8"))
    return read


@cache
def explained(case: int, *, full: bool = False) -> CaseExplanation:
    """A case, with checks and the search for the turning edit where full."""
    return explain_case(predictor(), case, counterfactuals=full, checks=full, search=full)
