"""A model's records over all test cases, without the model where they are kept already."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pandas as pd

from analysis.records.loaded_dataset import LoadedDataset
from analysis.records.table_cache import TableKey, kept_table
from recap.baselines import COUNTING_BASELINES, FEATURE_CURVES

if TYPE_CHECKING:
    from analysis.records.named_scorer import NamedScorer

SPLIT: Final = "test"
PROTOCOL: Final = "every_step"


def records_key(dataset_hash: str, model_key: str) -> TableKey:
    """What names the records of a model, by `NamedScorer.key`."""
    return TableKey(dataset_hash, model_key, SPLIT, PROTOCOL)


def models_beside(dataset_hash: str, bundle: Path | None = None, *, may_rank: bool = True) -> list[str]:
    """The baselines next to a model: `feature_curves` where its records are kept or it was fitted, then counts.

    Fitting it takes longer than all others together; `recap train` and `recap evaluate` do it.

    Args:
        may_rank: whether a fitted ranker may rank now; else its records must be there.
    """
    is_ready = records_key(dataset_hash, FEATURE_CURVES).is_kept(bundle)
    if may_rank and not is_ready:
        from recap.training.baselines import is_fitted  # here: kept records are read without torch

        is_ready = is_fitted(dataset_hash)
    return [*([FEATURE_CURVES] if is_ready else []), *reversed(COUNTING_BASELINES)]


def evaluation_records(
    opened: LoadedDataset,
    model_key: str,
    build_model: "Callable[[], NamedScorer]",
    *,
    keep: bool = True,
    bundle: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    without: Collection[str] = (),
) -> pd.DataFrame:
    """A model's records over all test cases: read from the bundle or the user's cache, or scored once and kept there.

    Args:
        model_key: `NamedScorer.key`.
        build_model: makes the model, called only when the records are not there yet.
        keep: whether to write new records to the cache; a cache that cannot be written is done without.
        bundle: the dataset's bundle, which may have come with records.
        progress: told (cases done, cases in all) while scoring.
        without: columns that are not asked for, see `kept_table`.

    Raises:
        ScoreError: the model returned NaN.
    """

    key = records_key(opened.dataset.hash, model_key)
    return kept_table(
        key,
        lambda: build_model().score(opened, progress),
        rows=len(opened.cases),
        keep=keep,
        bundle=bundle,
        without=without,
    )
