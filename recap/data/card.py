"""The page for people beside every dataset: what it is, what was left out and why."""

from typing import TYPE_CHECKING, Final

from recap import columns as c
from recap.data.cleaning import MERGED, DataConfig
from recap.data.sources.account import REASONS

if TYPE_CHECKING:
    from recap.data.dataset import Dataset


HISTORY_ONLY_LABEL: Final = "kept as history, opens no case: validation or test check-in in a short trajectory"


def dropped_reasons(config: DataConfig) -> dict[str, str]:
    """Reason -> sentence, for the keys of `CleaningReport.dropped`."""
    short = f"validation or test check-in in a trajectory shorter than {config.min_trajectory_length}"
    if config.history == "every_checkin":
        short += ", of a user or at a POI without training check-ins"
    merging = (
        f"at most {config.merge_seconds} s after the user's last check-in kept"
        if config.merge_by == "gap"
        else f"in the same {config.merge_seconds} s of the clock as an earlier check-in of the user"
    )
    return {
        "exact_duplicate": "same user, POI and second as an earlier row",
        "rare_poi": f"POI with fewer than {config.min_poi_checkins} check-ins",
        "rare_user": f"user with fewer than {config.min_user_checkins} check-ins",
        MERGED: f"{merging}, merged into the earlier one",
        "short_trajectory": short,
        "unseen_user": "validation or test check-in of a user without training check-ins",
        "unseen_poi": "validation or test check-in at a POI without training check-ins",
    }


def dataset_card(dataset: "Dataset") -> str:
    """Markdown; the first table follows every row from the file to the dataset."""
    manifest, report, config = dataset.manifest, dataset.manifest.report, dataset.manifest.config
    first, last = dataset.checkins[c.TIME].min(), dataset.checkins[c.TIME].max()
    origin = (
        "Synthetic: generated, no real person is in it."
        if manifest.synthetic
        else "Real people's movements: sensitive. Keep it private and follow its licence."
    )
    rows = [*_reading_rows(dataset), ("raw", report.raw)]
    reasons = dropped_reasons(config)
    rows += [(reasons[name], count) for name, count in report.dropped.items()]
    if report.history_only:
        rows.append((HISTORY_ONLY_LABEL, report.history_only))
    notes = "".join(f"- {note}\n" for note in (manifest.reading.notes if manifest.reading else []))
    aside = f" {report.history_only:,} more are history only: they open no case." if report.history_only else ""
    cases = [(name, len(dataset.cases(split))) for split, name in enumerate(c.SPLIT_NAMES)]
    return (
        f"# Dataset card: {manifest.name}\n\n{origin}\n\n"
        f"{report.checkins:,} check-ins of {dataset.num_users:,} users at {dataset.num_pois:,} POIs, "
        f"{first:%-d %B %Y} to {last:%-d %B %Y} (UTC). Source format `{manifest.source_format}`, "
        f"preset `{manifest.preset}`.{aside}\n\n"
        f"Content hash `{dataset.hash}`\n\n"
        f"## Where the rows went\n\n{_table('rows', rows)}| **kept** | **{report.checkins:,}** |\n\n"
        f"{report.exact_duplicates:,} rows repeat another's user, POI and second"
        f"{' (dropped)' if config.drop_exact_duplicates else ' (kept)'}.\n\n{notes}{chr(10) if notes else ''}"
        f"## Cases (protocol every_step)\n\n{_table('cases', cases)}\n"
        f"## Protocol\n\n```json\n{config.model_dump_json(indent=2)}\n```\n"
    )


def _reading_rows(dataset: "Dataset") -> list[tuple[str, int]]:
    reading = dataset.manifest.reading
    if reading is None or not reading.reported:
        return []
    reported = [(f"not read: {REASONS.get(reason, reason)}", item.rows) for reason, item in reading.reported.items()]
    return [(f"in {', '.join(reading.files)}", reading.rows_in), *reported]


def _table(heading: str, rows: list[tuple[str, int]]) -> str:
    return f"| | {heading} |\n|---|---:|\n" + "".join(f"| {name} | {count:,} |\n" for name, count in rows)
