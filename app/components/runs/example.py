"""What a finished run shows, before there is one: the training of a checkpoint that is here."""

from typing import cast

from app.components.runs import words
from app.components.runs.live import show_curves, show_result
from app.components.text import section
from app.settings import AppSettings
from app.sources import find_sources
from recap.errors import RecapError
from recap.machine.printable import markdown_text
from recap.runs.store.run_folder import RunSummary
from recap.training.metrics_file import METRICS_FILE, read_metrics


def show_example() -> None:
    """Result and curves of the first checkpoint that has them; nothing without one."""
    from recap.checkpoint import TRAINING_FOLDER, Checkpoint  # here, so that a page with runs does not load torch

    for source in find_sources(AppSettings.from_environment()):
        if source.checkpoint_folder is None:
            continue
        try:
            checkpoint = Checkpoint.load(source.checkpoint_folder)
            summary = cast(RunSummary, checkpoint.read_summary())
        except RecapError:
            continue
        metrics = read_metrics(source.checkpoint_folder / TRAINING_FOLDER / METRICS_FILE)
        if metrics:
            section(f"{words.EXAMPLE}: {markdown_text(source.label)}")
            show_result(markdown_text(checkpoint.label), summary)
            show_curves(checkpoint.manifest.train, metrics, {})
            return
