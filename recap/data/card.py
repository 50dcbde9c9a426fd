"""A dataset's card."""

import tomllib
from pathlib import Path
from typing import Final

from recap import columns as c
from recap.data.cleaning import MERGED, DataConfig
from recap.data.dataset import Dataset
from recap.data.parsing.read_report import REASONS
from recap.machine.printable import markdown_text
from recap.machine.rendering import render

_WORDS: Final[dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


HISTORY_ONLY_LABEL: Final = _WORDS["history_only"]


def dropped_reasons(config: DataConfig) -> dict[str, str]:
    """Key of `CleaningReport.dropped` -> sentence."""
    said = {name: text.format(**config.model_dump()) for name, text in _WORDS.items()}
    return said | {MERGED: said[f"merged_by_{config.merge_by}"], "short_trajectory": said[f"short_{config.history}"]}


def dataset_card(dataset: Dataset) -> str:
    """Markdown; the first table accounts for every row of the file."""
    manifest, report, reading = dataset.manifest, dataset.manifest.report, dataset.manifest.reading
    reasons, times = dropped_reasons(manifest.config), dataset.checkins[c.TIME]
    rows = [("raw", report.raw), *((reasons[name], count) for name, count in report.dropped.items())]
    if report.history_only:
        rows.append((HISTORY_ONLY_LABEL, report.history_only))
    if reading is not None and reading.reported:
        not_read = [(f"not read: {REASONS.get(name, name)}", count) for name, count in reading.dropped().items()]
        rows = [(f"in {', '.join(map(markdown_text, reading.files))}", reading.rows_in), *not_read, *rows]
    first_day, last_day = (f"{time.day} {time:%B %Y}" for time in (times.min(), times.max()))
    text = render(
        "dataset_card.md.j2",
        dataset=dataset,
        manifest=manifest,
        first_day=first_day,
        last_day=last_day,
        rows=rows,
        notes=[*(reading.notes if reading else []), *filter(None, [dataset.unseen_line])],
        cases=[(name, len(dataset.cases(split))) for split, name in enumerate(c.SPLIT_NAMES)],
    )
    return f"{text}\n"
