"""A sentence on predictions without a model: what is known and what is not."""

from analysis.records.accuracy import shortest_list
from app.cached.workspace import imported_predictions, model_key, model_label, open_workspace, read_records
from app.sources import Source
from recap import columns as c
from recap.printable import markdown_text


def imported_sentence(source: Source, case: int) -> str:
    """The length of a case's list, and what is not known."""
    records = read_records(source)
    if c.LISTED not in records:
        described = imported_predictions(source)[model_key(source)].described
        return (
            f"{markdown_text(described)}: a published model trained on this city. It came as ranks without weights, "
            "so it has no contributions and cannot be edited."
        )
    listed, shortest = int(records[c.LISTED].iloc[case]), shortest_list(records)
    shorter = "" if listed == shortest else f"; the shortest list has {shortest:,}"
    return (
        f"{markdown_text(model_label(source))} is imported: a list of {listed:,} of "
        f"{open_workspace(source).dataset.num_pois:,} places{shorter}. It has no other ranks and no contributions, and "
        "cannot be edited."
    )
