"""Tables over all test cases that the checks of one case read: removals, and those of sibling seeds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from analysis.records.causes import kept_removals
from analysis.records.kept_seeds import seed_tables


@dataclass(frozen=True, eq=False)
class CheckTables:
    """What is known of a checkpoint's test cases before one is asked about.

    Attributes:
        removals: from `analysis.records.causes.removal_table`; None computes a case's ranks anew.
        seeds: removal tables of sibling seeds, by seed; empty where seeds were not measured.
    """

    removals: pd.DataFrame | None = None
    seeds: Mapping[int, pd.DataFrame] = field(default_factory=dict)

    @classmethod
    def kept(cls, dataset_hash: str, checkpoint_hash: str, *, rows: int, bundle: Path | None = None) -> "CheckTables":
        """What a bundle ships and the user's cache keeps; nothing is made.

        Args:
            rows: test cases.
            bundle: the dataset's bundle, which may have come with tables.
        """
        removals = kept_removals(dataset_hash, checkpoint_hash, rows=rows, bundle=bundle)
        return cls(removals, seed_tables(dataset_hash, checkpoint_hash, rows=rows, bundle=bundle))
