"""The cases that a link to Walk names: a bar or cell of Long tail, or a list of a comparison."""

import numpy as np

from analysis.compare.cells import HitSelection
from analysis.records.case_selection import CaseSelection
from app.cached import comparisons, datasets
from app.sources import Source
from recap.printable import markdown_text

Selection = CaseSelection | HitSelection


def parse(source: Source, text: str) -> Selection:
    """Read the text of a link.

    Raises:
        ConfigError: another form, or a comparison with a model that is not here.
    """
    if not text.startswith("hits:"):
        return CaseSelection.parse(text)
    selection = HitSelection.parse(text)
    comparisons.hit_label(source, selection)
    return selection


def mask(source: Source, selection: Selection) -> np.ndarray:
    """Which test cases belong to it."""
    if isinstance(selection, HitSelection):
        return comparisons.hit_mask(source, selection)
    return selection.mask(datasets.open_dataset(source).cases)


def label(source: Source, selection: Selection) -> str:
    """What the cases have in common, in words."""
    if isinstance(selection, HitSelection):
        return comparisons.hit_label(source, selection)
    labels = datasets.open_dataset(source).labels
    if selection.kind == "poi" and selection.numbers[0] < len(labels):
        return f"From or to {markdown_text(labels[selection.numbers[0]])}"
    return selection.label
