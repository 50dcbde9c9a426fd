"""Positions of two-hop paths' middle places in a figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import networkx as nx


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


def place_paths(paths: Sequence[Path], limit: int = 8) -> list[PlacedPath[Path]]:
    """Source left, target right, middle places in between, strongest on top; placed by networkx."""
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
