"""A dataset's card."""

from datetime import datetime
from typing import Final

from recap import columns as c
from recap.data.cleaning import MERGED, DataConfig
from recap.data.dataset import Dataset
from recap.data.parsing.read_report import REASONS
from recap.machine.printable import markdown_text
from recap.machine.rendering import render

HISTORY_ONLY_LABEL: Final = "kept as history, opens no case: validation or test check-in in a short trajectory"


def dropped_reasons(config: DataConfig) -> dict[str, str]:
    """Key of `CleaningReport.dropped` -> sentence."""
    short = f"validation or test check-in in a trajectory shorter than {config.min_trajectory_length}"
    if config.history == "every_checkin":
        short += ", of a user or at a place without training check-ins"
    merging = (
        f"at most {config.merge_seconds} s after the user's last check-in kept"
        if config.merge_by == "gap"
        else f"in the same {config.merge_seconds} s of the clock as an earlier check-in of the user"
    )
    return {
        "exact_duplicate": "same user, place and second as an earlier row",
        "rare_poi": f"at places with fewer than {config.min_poi_checkins} check-ins",
        "rare_user": f"of users with fewer than {config.min_user_checkins} check-ins",
        MERGED: f"{merging}, merged into the earlier one",
        "short_trajectory": short,
        "unseen_user": "of users who have no check-in in training",
        "unseen_poi": "at places that have no check-in in training",
    }


def dataset_card(dataset: Dataset) -> str:
    """Markdown; the first table accounts for every row of the file."""
    manifest, report = dataset.manifest, dataset.manifest.report
    first, last = dataset.checkins[c.TIME].min(), dataset.checkins[c.TIME].max()
    reasons = dropped_reasons(manifest.config)
    dropped = [(reasons[name], count) for name, count in report.dropped.items()]
    if report.history_only:
        dropped.append((HISTORY_ONLY_LABEL, report.history_only))
    return (
        render(
            "dataset_card.md.j2",
            dataset=dataset,
            manifest=manifest,
            first_day=_day(first),
            last_day=_day(last),
            rows=[*_reading_rows(dataset), ("raw", report.raw), *dropped],
            notes=[*(manifest.reading.notes if manifest.reading else []), *filter(None, [dataset.unseen_line])],
            cases=[(name, len(dataset.cases(split))) for split, name in enumerate(c.SPLIT_NAMES)],
        )
        + "\n"
    )


def _day(time: datetime) -> str:
    return f"{time.day} {time:%B %Y}"


def _reading_rows(dataset: Dataset) -> list[tuple[str, int]]:
    reading = dataset.manifest.reading
    if reading is None or not reading.reported:
        return []
    reported = [(f"not read: {REASONS.get(reason, reason)}", item.rows) for reason, item in reading.reported.items()]
    return [(f"in {', '.join(map(markdown_text, reading.files))}", reading.rows_in), *reported]
