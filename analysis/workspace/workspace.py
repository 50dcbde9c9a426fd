"""An opened dataset with a model, and the tables of its test cases: records, ablations, seeds."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from analysis.records.causes import ablations_key, pieces_of
from analysis.records.evaluation_records import LISTS, records_key
from analysis.records.imported import ImportedPredictions, find_predictions, named_predictions
from analysis.records.kept_seeds import seed_tables
from analysis.records.table_cache import TableKey, kept_table, table_in_pieces
from analysis.workspace.opened_model import OpenedModel
from recap import columns as c
from recap.baselines import AT_TIME, BASELINES, PRETRAINED
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.evaluation.cases import describe_cases
from recap.history.graph import TransitionGraph
from recap.history.moments import Moment

ReportProgress = Callable[[int, int], None]
"""Called with (cases done, cases in all) while something is made."""
_CASES_PER_REPORT: Final = 1024


@dataclass(frozen=True, eq=False)
class Workspace(OpenedModel):
    """A dataset and, if one is named, a model: a checkpoint, a baseline or imported predictions.

    Attributes:
        notes: what the model does without of what is known of users, one line each.
    """

    notes: tuple[str, ...] = ()
    _baselines: "dict[tuple[str, bool], Workspace]" = field(default_factory=dict, init=False)

    @classmethod
    def open(
        cls,
        data: Path | str,
        model: Path | str | None = None,
        *,
        keep: bool = True,
        shows_ids: bool = False,
        given_time: bool = False,
    ) -> "Workspace":
        """Read and verify a dataset folder, with a model if one is named, see `with_model` and `Dataset.load`."""
        opened = cls.of(Dataset.load(Path(data)), bundle=Path(data).parent, keep=keep, shows_ids=shows_ids)
        return opened if model is None else opened.with_model(model, given_time=given_time)

    @classmethod
    def of(
        cls, dataset: Dataset, *, bundle: Path | None = None, keep: bool = True, shows_ids: bool = False
    ) -> "Workspace":
        """Like `open`, for a dataset in memory."""
        graph, shown = TransitionGraph.from_dataset(dataset), shows_ids and not dataset.manifest.synthetic
        return cls(dataset, graph, bundle=bundle, keep=keep, shows_ids=shown)

    def with_model(self, model: Path | str, *, given_time: bool = False) -> "Workspace":
        """The same dataset with another model, or the same model asked where at a given time; results of the dataset
        are shared.

        Names of baselines, `pretrained` and imports win over folders; raises ConfigError, with the options, for others.
        """
        alone = self.without_model
        if isinstance(model, str) and (model, given_time) in alone._baselines:
            return alone._baselines[model, given_time]
        named = self._named(model)
        opened = replace(self, model=named, given_time=False, _without_model=alone)
        if given_time and not opened.reads_time:  # a model that always reads the time stays itself
            if isinstance(named, ImportedPredictions) or named in BASELINES:
                raise ConfigError(
                    f"{opened.label} does not know the time of the next check-in: name a model that does, such as "
                    f"{AT_TIME}, or leave out --given-time"
                )
            opened = replace(opened, given_time=True)
        return alone._baselines.setdefault((named, given_time), opened) if isinstance(named, str) else opened

    def at(self, shown: int | Moment) -> "Workspace":
        """What shows a case, or for another moment all that is known of users."""
        return self if isinstance(shown, int) or shown.case is not None else self.known

    @property
    def known(self) -> "Workspace":
        """The same model with all that is known of users, see `open_for_prediction`; cases with more there have -1."""
        if self.dataset.unseen is None or not isinstance(self.model, str | Path):
            return self
        return self._once("known", self._with_all_known)

    def _with_all_known(self) -> "Workspace":
        from recap.asking.open_model import open_for_prediction

        assert isinstance(self.model, str | Path) and self.dataset.unseen is not None
        opened, notes = open_for_prediction(self.checkpoint or self.model, self.dataset, keep=self.keep)
        if not opened.dataset.extends:
            known_all = replace(self, notes=tuple(notes))
            known_all._made.update(self._made)  # the same model on the same dataset
            return known_all
        rows, cases, row_N = opened.dataset.checkins, self.cases, self.cases[c.ROW].to_numpy()
        row_T = np.flatnonzero(~rows[c.SOURCE_ROW].isin(self.dataset.unseen[c.SOURCE_ROW]))
        known_N, before_T = row_T[row_N], np.arange(len(rows)) - opened.checkins.first_T.numpy()
        is_same_N = (before_T[known_N] == row_N - self.checkins.first_T.numpy()[row_N]) & (
            row_T[row_N + 1] == known_N + 1
        )
        trajectory_N = rows[c.TRAJECTORY].to_numpy()[known_N]
        numbers = {c.CASE: cases[c.CASE].where(is_same_N, -1), c.ROW: known_N, c.TRAJECTORY: trajectory_N}
        known_all = replace(self, dataset=opened.dataset, graph=opened.graph, _without_model=None)
        known = cases.assign(**numbers)
        known_all._made.update(checkins=opened.checkins, cases=known, ranker=opened.with_cases(known))
        if self.checkpoint is not None:
            known_all._made["checkpoint"] = self._made["checkpoint"]
        return known_all

    def _named(self, model: Path | str) -> Path | str | ImportedPredictions:
        if isinstance(model, Path) or model in (*BASELINES, PRETRAINED):
            return model
        named = named_predictions(self.dataset.hash, model)
        if named is None and not Path(model).is_dir():
            imported = (item.name for item in find_predictions(self.dataset.hash))
            there = ", ".join([PRETRAINED, *BASELINES, *imported])
            raise ConfigError(f"{model!r} is neither a checkpoint folder nor one of {there}")
        return named or Path(model)

    def score(self, progress: ReportProgress | None = None) -> pd.DataFrame:
        """Compute the records of all test cases; raises ScoreError if the model returns NaN."""
        from recap.evaluation.scoring import score_cases

        pieces = []
        for start in range(0, max(len(self.cases), 1), _CASES_PER_REPORT):
            chunk = self.cases.iloc[start : start + _CASES_PER_REPORT]
            pieces.append(score_cases(self.scorer, chunk, self.checkins, temperature=self.any_ranker.temperature))
            if progress is not None:
                progress(min(start + _CASES_PER_REPORT, len(self.cases)), len(self.cases))
        return pd.concat(pieces, ignore_index=True)

    @property
    def has_records(self) -> bool:
        """Whether `records` only reads."""
        if "records" in self._made or isinstance(self.model, ImportedPredictions):
            return True
        return records_key(self.dataset.hash, self.key).is_kept(self.bundle)

    def records(self, progress: ReportProgress | None = None) -> pd.DataFrame:
        """The evaluation records of all test cases, read from the bundle or the user's cache, or scored once and kept.

        Lists of best places are left out if a file has them (`records_with_lists`).
        """
        # Without a file, the lists would need a second ranking.
        has_file = self.keep or self.has_records
        return self._once("records", lambda: self._read_records(LISTS if has_file else (), progress))

    def inside(self, protocol: Protocol) -> np.ndarray:
        """Which test cases a protocol takes, (N,); raises ConfigError for an unknown one."""
        return self.cases[c.ROW].isin(self.dataset.cases(c.TEST, protocol)).to_numpy()

    def records_of(self, protocol: Protocol) -> pd.DataFrame:
        """Records of a protocol's cases: some of `records`, or `next_records`, which imports refuse by ConfigError."""
        if protocol != "every_next":
            return self.records()[self.inside(protocol)]
        if isinstance(self.model, ImportedPredictions):
            raise ConfigError(f"{self.label} was imported for every_step cases; every_next has others")
        return self.next_records()

    def next_records(self) -> pd.DataFrame:
        """Ranks of every next check-in of the test weeks, after any gap, ranked once and kept in the user's cache."""
        from recap.evaluation.scoring import rank_cases

        key, data = records_key(self.dataset.hash, self.key, "every_next"), (self.dataset, self.graph, c.TEST)
        cases = self.without_model._once("next_cases", lambda: describe_cases(*data, "every_next"))

        def rank() -> pd.DataFrame:
            return rank_cases(self.scorer, cases, self.checkins)

        return self._once("next_records", lambda: kept_table(key, rank, rows=len(cases), keep=self.keep))

    def records_with_lists(self) -> pd.DataFrame:
        """The records with the best places and their scores of every case; a file is read at every call."""
        records = self.records()
        return records if set(LISTS) <= set(records) else self._read_records(())

    def _read_records(self, without: tuple[str, ...], progress: ReportProgress | None = None) -> pd.DataFrame:
        if isinstance(self.model, ImportedPredictions):
            return self.model.read(len(self.cases))
        return kept_table(
            records_key(self.dataset.hash, self.key),
            lambda: self.score(progress),
            rows=len(self.cases),
            keep=self.keep,
            bundle=self.bundle,
            without=without,
        )

    @property
    def has_ablations(self) -> bool:
        """Whether `ablations` only reads."""
        return "ablations" in self._made or self._ablations_key.is_kept(self.bundle)

    @property
    def _ablations_key(self) -> TableKey:
        return ablations_key(self.dataset.hash, self.key)

    def ablations(self, progress: ReportProgress | None = None) -> pd.DataFrame:
        """Ranks of every test case without each group of terms, see `describe_ablations`, computed once and kept.

        Interrupted, the next call continues; refuses as `predictor` does.
        """
        key, pieces = self._ablations_key, pieces_of(lambda: self.predictor)
        where: dict[str, Any] = {"rows": len(self.cases), "keep": self.keep, "bundle": self.bundle}
        return self._once("ablations", lambda: table_in_pieces(key, pieces, progress=progress, **where))

    def kept_ablations(self) -> pd.DataFrame | None:
        """`ablations` if shipped or kept before, otherwise None."""
        if not self.has_parts or not self._ablations_key.is_kept(self.bundle):
            return None
        if "ablations" not in self._made:
            where: dict[str, Any] = {"rows": len(self.cases), "keep": False, "bundle": self.bundle}
            table = kept_table(self._ablations_key, pd.DataFrame, **where)
            if c.RANK not in table:
                return None
            self._made["ablations"] = table
        return self._made["ablations"]

    def seeds(self) -> dict[int, pd.DataFrame]:
        """Shipped or kept ablations of the checkpoint's seed replicates, by seed."""
        if not self.has_parts:
            return {}
        return seed_tables(self.dataset.hash, self.key, rows=len(self.cases), bundle=self.bundle)
