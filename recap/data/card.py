"""The page for people beside every dataset: what it is, what was left out and why."""

from recap import columns as c
from recap.data.cleaning import DataConfig
from recap.data.dataset import Dataset
from recap.data.parsing.read_report import REASONS
from recap.rendering import render


def dropped_reasons(config: DataConfig) -> dict[str, str]:
    """Reason -> sentence, for the keys of `CleaningReport.dropped`."""
    return {
        "exact_duplicate": "same user, POI and second as an earlier row",
        "rare_poi": f"POI with fewer than {config.min_poi_checkins} check-ins",
        "rare_user": f"user with fewer than {config.min_user_checkins} check-ins",
        "short_trajectory": f"validation or test check-in in a trajectory shorter than {config.min_trajectory_length}",
        "unseen_user": "validation or test check-in of a user without training check-ins",
        "unseen_poi": "validation or test check-in at a POI without training check-ins",
    }


def dataset_card(dataset: Dataset) -> str:
    """Markdown; the first table follows every row from the file to the dataset."""
    manifest, report = dataset.manifest, dataset.manifest.report
    first, last = dataset.checkins[c.TIME].min(), dataset.checkins[c.TIME].max()
    reasons = dropped_reasons(manifest.config)
    dropped = [(reasons[name], count) for name, count in report.dropped.items()]
    return (
        render(
            "dataset_card.md.j2",
            dataset=dataset,
            manifest=manifest,
            first_day=f"{first:%-d %B %Y}",
            last_day=f"{last:%-d %B %Y}",
            rows=[*_reading_rows(dataset), ("raw", report.raw), *dropped],
            notes=manifest.reading.notes if manifest.reading else [],
            cases=[(name, len(dataset.cases(split))) for split, name in enumerate(c.SPLIT_NAMES)],
        )
        + "\n"
    )


def _reading_rows(dataset: Dataset) -> list[tuple[str, int]]:
    reading = dataset.manifest.reading
    if reading is None or not reading.reported:
        return []
    reported = [(f"not read: {REASONS.get(reason, reason)}", item.rows) for reason, item in reading.reported.items()]
    return [(f"in {', '.join(reading.files)}", reading.rows_in), *reported]
