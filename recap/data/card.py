"""The page for people beside every dataset: what it is, what was left out and why."""

from recap import columns as c
from recap.data.cleaning import DataConfig
from recap.data.dataset import Dataset
from recap.data.parsing.read_report import REASONS
from recap.printable import markdown_text


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
    notes = "".join(f"- {markdown_text(note)}\n" for note in (manifest.reading.notes if manifest.reading else []))
    cases = [(name, len(dataset.cases(split))) for split, name in enumerate(c.SPLIT_NAMES)]
    return (
        f"# Dataset card: {markdown_text(manifest.name)}\n\n{origin}\n\n"
        f"{len(dataset.checkins):,} check-ins of {dataset.num_users:,} users at {dataset.num_pois:,} POIs, "
        f"{first:%-d %B %Y} to {last:%-d %B %Y} (UTC). Source format `{manifest.source_format}`, "
        f"preset `{manifest.preset}`.\n\n"
        f"Content hash `{dataset.hash}`\n\n"
        f"## Where the rows went\n\n{_table('rows', rows)}| **kept** | **{report.checkins:,}** |\n\n"
        f"{report.exact_duplicates:,} rows repeat another's user, POI and second"
        f"{' (dropped)' if config.drop_exact_duplicates else ' (kept)'}.\n\n{notes}{chr(10) if notes else ''}"
        f"## Cases (protocol every_step)\n\n{_table('cases', cases)}\n"
        f"## Protocol\n\n```json\n{config.model_dump_json(indent=2)}\n```\n"
    )


def _reading_rows(dataset: Dataset) -> list[tuple[str, int]]:
    reading = dataset.manifest.reading
    if reading is None or not reading.reported:
        return []
    reported = [(f"not read: {REASONS.get(reason, reason)}", item.rows) for reason, item in reading.reported.items()]
    return [(f"in {', '.join(map(markdown_text, reading.files))}", reading.rows_in), *reported]


def _table(heading: str, rows: list[tuple[str, int]]) -> str:
    return f"| | {heading} |\n|---|---:|\n" + "".join(f"| {name} | {count:,} |\n" for name, count in rows)
