"""Where the marks of an explanation's figures go, in plain numbers: path curves, timeline dots."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

import networkx as nx

from analysis.explain.contrast import Contrast
from analysis.explain.revisits import RevisitEvidence
from analysis.glossary import PART_NAMES
from recap.config import Config


class Compared(Protocol):
    """Two places compared: an explanation, or what is shared of one."""

    @property
    def contrast(self) -> Contrast: ...

    @property
    def inactive_terms(self) -> list[str]: ...

    @property
    def weighs_evidence_alone(self) -> bool: ...


class Through(Protocol):
    """A two-hop path, by its middle place."""

    @property
    def middle(self) -> int: ...


Path = TypeVar("Path", bound=Through)


@dataclass(frozen=True)
class PlacedPath(Generic[Path]):
    """A middle place in the path figure; x from 0 (source) to 1 (target), y from 0 (top) to 1."""

    path: Path
    x: float
    y: float


class Dot(Config):
    """A visit on the timeline; x from 0 (first check-in) to 1 (now)."""

    x: float
    local_time: str
    in_recent_window: bool
    freshness: float


def shown_parts(explanation: Compared) -> list[str]:
    """Rows of the decomposition: terms inactive in the checkpoint stay, the clip only where it binds."""
    sides = (explanation.contrast.a, explanation.contrast.b)
    left_out = set()
    if not any(side.is_clipped for side in sides):
        left_out.add("clip_loss")
    if not any(side.evidence_terms for side in sides) and "evidence" not in explanation.inactive_terms:
        left_out.add("evidence")
    return [part for part in PART_NAMES if part not in left_out]


def part_is_active(part: str, explanation: Compared) -> bool:
    """Whether a score part can be other than 0 in this checkpoint and under these edits."""
    off = set(explanation.inactive_terms)
    if part in ("count", "recency", "window", "clip_loss"):
        return "prior" not in off and part not in off
    return part == "core" or not ({part, "prior"} & off if part == "correction" else {part} & off)


def place_paths(paths: Sequence[Path], limit: int = 8) -> list[PlacedPath[Path]]:
    """Source left, target right, middle places between them, strongest on top; laid out by networkx."""
    shown = paths[:limit]
    graph = nx.DiGraph()
    graph.add_node("source", layer=0)
    graph.add_node("target", layer=2)
    for path in shown:
        graph.add_node(path.middle, layer=1)
        graph.add_edge("source", path.middle)
        graph.add_edge(path.middle, "target")
    if not shown:
        return []
    position = nx.multipartite_layout(graph, subset_key="layer", align="vertical")
    heights = sorted(float(position[path.middle][1]) for path in shown)
    low, high = heights[0], heights[-1]
    left, right = float(position["source"][0]), float(position["target"][0])
    spread = [0.5 if high == low else (height - low) / (high - low) for height in heights]
    return [
        PlacedPath(path=path, x=(float(position[path.middle][0]) - left) / (right - left), y=y)
        for path, y in zip(shown, spread, strict=True)
    ]


def place_visits(evidence: RevisitEvidence) -> list[Dot]:
    """Visits along real time from the user's first check-in to now."""
    start, now = (
        datetime.fromisoformat(time) for time in (evidence.first_time or evidence.now_time, evidence.now_time)
    )
    span = max((now - start).total_seconds(), 1.0)
    return [
        Dot(
            x=(datetime.fromisoformat(visit.time) - start).total_seconds() / span,
            local_time=visit.local_time,
            in_recent_window=visit.in_recent_window,
            freshness=0.35 + 0.65 / (1 + visit.steps_ago / 20),
        )
        for visit in evidence.visits
    ]
