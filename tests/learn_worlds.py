"""Cities as lessons ask for them, without the app: the bundled one with its two models, and any dataset."""

from functools import cache

from analysis.learn.course import Entry
from analysis.learn.lesson import Lesson
from analysis.workspace import Workspace
from recap.storage.user_folder import bundles_folder

DEMO = bundles_folder() / "demo-city"


@cache
def demo_world(folder: str) -> Workspace:
    """The bundled city with one of its models."""
    return Workspace.open(DEMO / "dataset", DEMO / folder, keep=False)


@cache
def demo_lesson(entry: Entry) -> Lesson:
    """A lesson on the bundled city, with the model that it takes apart."""
    return entry.build(demo_world("paper" if entry.outline.reads == "prior" else "checkpoint"))
