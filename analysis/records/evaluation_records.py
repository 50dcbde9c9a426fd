"""Keys of a model's evaluation records, and the models it is compared with."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from analysis.records.table_cache import TableKey
from recap import columns as c
from recap.baselines import (
    AT_TIME,
    COUNTING_BASELINES,
    FEATURE_CURVES,
    PRETRAINED,
    PRETRAINED_LABEL,
    PRETRAINED_SUBJECT,
)
from recap.data.cases import Protocol
from recap.machine.printable import one_line
from recap.published.configs import TIME_GIVEN

_SPLIT: Final = "test"
PROTOCOL: Final[Protocol] = "every_step"
LISTS: Final = (c.TOP_POIS, c.TOP_SCORES)
"""Columns with a list for every case: three quarters of all bytes; no figure reads them."""
MODEL_LABELS: Final = {
    "recap": "RECAP",
    PRETRAINED: PRETRAINED_LABEL,
    "feature_curves": "Feature curves",
    "count_plus_markov": "Count + Markov",
    "visit_count": "Visit count",
    "markov": "Markov",
    "popularity": "Popularity",
    "nearest": "Nearest",
    AT_TIME: "Visit count, time given",
}


def is_time_given(label: str) -> bool:
    """Whether a label says that the model was given the time.

    >>> is_time_given("Visit count, time given"), is_time_given("Visit count")
    (True, False)
    """
    return TIME_GIVEN in label.split(", ")


def label_as_subject(label: str) -> str:
    """A model's label at the start of a sentence, up to the first comma.

    >>> label_as_subject("LoTNext, trained here"), label_as_subject(PRETRAINED_LABEL)
    ('LoTNext', 'Pretrained RECAP')
    >>> label_as_subject("RECAP (nyc), time given"), label_as_subject("ROTAN, time given, trained here")
    ('RECAP (nyc) with the time given', 'ROTAN with the time given')
    """
    if is_time_given(label):
        return f"{label_as_subject(label.replace(f', {TIME_GIVEN}', ''))} with the time given"
    return PRETRAINED_SUBJECT if label == PRETRAINED_LABEL else label.partition(",")[0]


def label_in_sentence(label: str) -> str:
    """A model's label inside a sentence, up to the first comma; counters are in lower case.

    >>> label_in_sentence("Visit count"), label_in_sentence("Markov"), label_in_sentence("LoTNext, trained here")
    ('visit count', 'Markov', 'LoTNext')
    """
    label = label_as_subject(label)
    counts = label.startswith(("Visit", "Count", "Popularity", "Nearest", "Feature", "Pretrained"))
    return label[:1].lower() + label[1:] if counts else label


def distinct_labels(models: Sequence[tuple[str, Path | None, str]]) -> list[str]:
    """Labels of models in one list: by folder where two would be the same, then by key.

    Args:
        models: label, a checkpoint's folder, and key of each.

    >>> distinct_labels([("RECAP", Path("data/recap"), "a1"), ("RECAP", Path("data/nyc"), "b2"), ("Markov", None, "")])
    ['RECAP', 'RECAP (nyc)', 'Markov']
    >>> distinct_labels([("RECAP (paper)", Path("a/small"), "a1"), ("RECAP (paper)", Path("b/small"), "b2")])
    ['RECAP (a1)', 'RECAP (b2)']
    >>> distinct_labels([("RECAP, time given", Path(folder), folder) for folder in ("recap", "nyc")])
    ['RECAP, time given', 'RECAP (nyc), time given']
    """
    labels = Counter(label for label, _, _ in models)
    named = [
        label if folder is None or labels[label] == 1 else _called(label, folder.name) for label, folder, _ in models
    ]
    times = Counter(named)
    return [
        label if times[label] == 1 else _called(label, key.removeprefix("imported-")[:6])
        for label, (_, _, key) in zip(named, models, strict=True)
    ]


def _called(label: str, more: str) -> str:
    """``RECAP (more), time given``; a folder named ``checkpoint`` or like the model says nothing."""
    label, *given = label.partition(f", {TIME_GIVEN}")
    title = label.rpartition(" (")[0] if label.endswith(")") else label
    says_more = more.casefold() not in ("checkpoint", title.rpartition(" · ")[2].casefold())
    return "".join([f"{title} ({one_line(more)})" if says_more else label, *given])


def records_key(dataset_hash: str, model_key: str, protocol: Protocol = PROTOCOL) -> TableKey:
    """Key of a model's records: a checkpoint's hash or a baseline's name."""
    return TableKey(dataset_hash, model_key, _SPLIT, protocol)


def models_shown(
    dataset_hash: str, bundle: Path | None = None, *, may_rank: bool = True, given_time: bool = False
) -> list[str]:
    """The baselines next to a model: `feature_curves` if its records are kept or it was fitted, then counts; next to
    a model with the time given, the counter that reads it.

    Where a fitted ranker may not rank now, its records must exist.
    """
    if given_time:
        return [AT_TIME]
    is_ready = records_key(dataset_hash, FEATURE_CURVES).is_kept(bundle)
    if may_rank and not is_ready:
        from recap.training.baselines import is_fitted  # here: kept records are read without torch

        is_ready = is_fitted(dataset_hash)
    return [*([FEATURE_CURVES] if is_ready else []), *reversed(COUNTING_BASELINES)]
