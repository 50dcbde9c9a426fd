"""A sentence on predictions without a model."""

from analysis.records.accuracy import shortest_list
from app.cached.workspace import imported_predictions, model_key, model_label, open_workspace, read_records
from app.components import words
from app.sources import Source
from recap import columns as c


def imported_sentence(source: Source, case: int) -> str:
    records = read_records(source)
    if c.LISTED not in records:
        described = imported_predictions(source)[model_key(source)].described
        return words.published(described)
    listed, shortest = int(records[c.LISTED].iloc[case]), shortest_list(records)
    return words.imported(model_label(source), listed, shortest, open_workspace(source).dataset.num_pois)
