"""What lessons are computed from: one city, its records, and its model where there is one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from analysis.learn.lesson import LessonUnavailableError
from analysis.workspace import Workspace

if TYPE_CHECKING:
    from recap.predictor import Predictor

NO_MODEL = "This lesson needs a trained RECAP, and none is open. Choose one in the list above."


@dataclass(frozen=True, eq=False)
class World:
    """A city as lessons ask for it; what is costly is asked when it is needed, and kept by whoever made this.

    Attributes:
        opened: the dataset with its graph and test cases.
        records: evaluation records by baseline.
        hops: see `recap.dataset_statistics.hop_statistics`.
        lift: see `analysis.long_tail.lift.two_hop_lift`.
        ablations: by metric and group, see `analysis.long_tail.ablations`; None where nothing was trained again.
        find_predictor: opens the model; None without one.
        find_case_ablations, find_seeds: what was measured about the model, see `analysis.records.causes` and
            `analysis.records.kept_seeds`.
    """

    opened: Workspace
    records: Callable[[str], pd.DataFrame]
    hops: Callable[[], pd.DataFrame]
    lift: Callable[[], pd.DataFrame]
    ablations: Callable[[str, str], pd.DataFrame | None]
    find_predictor: "Callable[[], Predictor] | None" = None
    find_case_ablations: Callable[[], pd.DataFrame] | None = None
    find_seeds: Callable[[], Mapping[int, pd.DataFrame]] | None = None

    @property
    def city(self) -> str:
        """The dataset's name."""
        return self.opened.dataset.manifest.name

    @property
    def predictor(self) -> "Predictor":
        """The model, ready for single cases.

        Raises:
            LessonUnavailableError: no model is open.
        """
        if self.find_predictor is None:
            raise LessonUnavailableError(NO_MODEL)
        return self.find_predictor()

    @property
    def case_ablations(self) -> pd.DataFrame:
        """Ranks of every test case without each group of terms.

        Raises:
            LessonUnavailableError: no model is open.
        """
        if self.find_case_ablations is None:
            raise LessonUnavailableError(NO_MODEL)
        return self.find_case_ablations()
