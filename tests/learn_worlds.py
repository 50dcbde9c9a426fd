"""Cities as lessons ask for them, without the app: the bundled one, and any dataset with a checkpoint or without."""

from functools import cache
from pathlib import Path

from analysis.long_tail.lift import CONTROLS, two_hop_lift
from analysis.workspace import Workspace
from recap.storage.installed import bundles_folder

DEMO = bundles_folder() / "demo-city"


@cache
def demo_world() -> Workspace:
    """The bundled city with its model and all that came with it."""
    return world_of(DEMO / "dataset", DEMO / "paper")


def world_of(dataset: Path, checkpoint: Path | None) -> Workspace:
    """A city in folders; lifts over few cases, since none of them is tested."""
    opened = Workspace.open(dataset, checkpoint, keep=False)
    opened.kept("two-hop-lift", lambda: two_hop_lift(opened, max_cases=40, samples=20), rows=len(CONTROLS))
    return opened
