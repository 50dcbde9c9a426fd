"""An opened dataset with a model; each part is read or computed when it is first needed.

No part loads torch before it is needed: counts and kept records appear a second earlier.
"""

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import pandas as pd

from analysis.formatting import user_name
from analysis.geography import unwrap_longitudes
from analysis.records.causes import ablations_key, case_ablations, kept_ablations
from analysis.records.evaluation_records import LISTS, MODEL_LABELS, label_with_folder, records_key
from analysis.records.imported import ImportedPredictions, find_predictions
from analysis.records.kept_seeds import seed_tables
from analysis.records.table_cache import TableKey, kept_table
from recap import columns as c
from recap.baselines import BASELINES, FEATURE_CURVES, PRETRAINED
from recap.data.dataset import Dataset
from recap.errors import CaseError, CheckpointError, ConfigError
from recap.evaluation.cases import describe_cases
from recap.graph import TransitionGraph
from recap.model.pretrained_curves import pretrained_key
from recap.moments import Case, Moment, named_case
from recap.printable import one_line, shortened
from recap.published.configs import RECAP, published_label
from recap.storage.artifacts import CHECKPOINT_MANIFEST, SUMS
from recap.storage.json_text import read_json
from recap.visits import Visits

if TYPE_CHECKING:
    from recap.checkpoint import Checkpoint
    from recap.features.others import OtherUsers
    from recap.history import CheckinTensors
    from recap.predictor import CaseRanker, Predictor
    from recap.probabilities import Temperature
    from recap.scores import Scorer
    from recap.vocabulary import Match

Part = TypeVar("Part")
Progress = Callable[[int, int], None]
"""Told (cases done, cases in all) while something is made."""
_CASES_PER_REPORT: Final = 1024
_LONGEST_ID: Final = 24
_TABLES_FORMAT: Final = "1"
"""Of the kept tables of a dataset alone: their columns and how they are computed."""
_NO_MODEL: Final = "no model is open: name a checkpoint folder, pretrained, a baseline or imported predictions"


@dataclass(frozen=True, eq=False)
class Workspace:
    """A dataset and, if one is named, a model: a checkpoint, a baseline or imported predictions.

    Attributes:
        graph: training transitions.
        model: a checkpoint's folder, the name of a baseline or `pretrained`, imported predictions, or None.
        bundle: the folder around the dataset, which may have records and other results.
        keep: whether slow results are written to the user's cache.
        shows_ids: whether users have their own ids, and not numbers, where the dataset is shown; never in an invented
            city, nor in a shared file.
    """

    dataset: Dataset
    graph: TransitionGraph
    model: Path | str | ImportedPredictions | None = None
    bundle: Path | None = None
    keep: bool = True
    shows_ids: bool = False
    _without_model: "Workspace | None" = None
    _made: dict[str, Any] = field(default_factory=dict, init=False)
    _baselines: "dict[str, Workspace]" = field(default_factory=dict, init=False)
    _making: dict[str, threading.Lock] = field(default_factory=dict, init=False)

    @classmethod
    def open(
        cls, data: Path | str, model: Path | str | None = None, *, keep: bool = True, shows_ids: bool = False
    ) -> "Workspace":
        """Read and verify a dataset folder, with a model if one is named, see `with_model`.

        Raises:
            DatasetError, ChecksumError: the folder is no valid dataset.
        """
        opened = cls.of(Dataset.load(Path(data)), bundle=Path(data).parent, keep=keep, shows_ids=shows_ids)
        return opened if model is None else opened.with_model(model)

    @classmethod
    def of(
        cls, dataset: Dataset, *, bundle: Path | None = None, keep: bool = True, shows_ids: bool = False
    ) -> "Workspace":
        """Like `open`, for a dataset in memory."""
        graph, shown = TransitionGraph.from_dataset(dataset), shows_ids and not dataset.manifest.synthetic
        return cls(dataset, graph, bundle=bundle, keep=keep, shows_ids=shown)

    def with_model(self, model: Path | str) -> "Workspace":
        """The same dataset with another model; results of the dataset are shared.

        Args:
            model: a checkpoint's folder, the name of a baseline or `pretrained`, or the name or key of imported
                predictions. Names win over folders.

        Raises:
            ConfigError: nothing of that name; the line lists the options.
        """
        alone = self.without_model
        if isinstance(model, str) and model in alone._baselines:
            return alone._baselines[model]
        found = self._named(model)
        opened = replace(self, model=found, _without_model=alone)
        return alone._baselines.setdefault(found, opened) if isinstance(found, str) else opened

    def _named(self, model: Path | str) -> Path | str | ImportedPredictions:
        if isinstance(model, Path) or model in (*BASELINES, PRETRAINED):
            return model
        imported = find_predictions(self.dataset.hash)
        named = [item for item in imported if model in (item.name, item.key)]
        if len(named) > 1:
            keys = ", ".join(item.key for item in named)
            raise ConfigError(f"several imported predictions are called {model!r}; name one by its key: {keys}")
        if not named and not Path(model).is_dir():
            there = ", ".join([PRETRAINED, *BASELINES, *(item.name for item in imported)])
            raise ConfigError(f"{model!r} is neither a checkpoint folder nor one of {there}")
        return named[0] if named else Path(model)

    def _once(self, kind: str, make: Callable[[], Part]) -> Part:
        """A part computed by the first caller; others wait only for that part."""
        if kind not in self._made:
            with self._making.setdefault(kind, threading.Lock()):
                if kind not in self._made:
                    self._made[kind] = make()
        part: Part = self._made[kind]
        return part

    @property
    def without_model(self) -> "Workspace":
        return self._without_model or self

    @property
    def name(self) -> str:
        return self.dataset.manifest.name

    @property
    def visits(self) -> Visits:
        return Visits.of(self.dataset)

    @property
    def checkins(self) -> "CheckinTensors":
        from recap.history import CheckinTensors

        return self.without_model._once("checkins", lambda: CheckinTensors.from_dataset(self.dataset))

    @property
    def others(self) -> "OtherUsers":
        """Training transitions of all users but one, whichever is asked for."""
        from recap.features.others import OtherUsers

        return self.without_model._once("others", lambda: OtherUsers.from_dataset(self.dataset, self.graph))

    @property
    def cases(self) -> pd.DataFrame:
        """The test cases in records order, see `describe_cases`."""
        return self.without_model._once("cases", lambda: describe_cases(self.dataset, self.graph, c.TEST))

    @property
    def labels(self) -> list[str]:
        return self.dataset.poi_labels

    @cached_property
    def own_ids(self) -> list[str]:
        """Each user's id in the data; empty where users have numbers."""
        return self.dataset.users[c.USER_ID].astype(str).tolist() if self.shows_ids else []

    def user_name(self, user: int) -> str:
        """The user's name where the dataset is shown."""
        return f"User {shortened(one_line(self.own_ids[user]), _LONGEST_ID)}" if self.own_ids else user_name(user)

    @cached_property
    def latitude(self) -> np.ndarray:
        """Degrees, one per POI."""
        return self.dataset.pois[c.LATITUDE].to_numpy(np.float64)

    @cached_property
    def longitude(self) -> np.ndarray:
        """Degrees, one per POI, without a jump at the date line."""
        return unwrap_longitudes(self.dataset.pois[c.LONGITUDE].to_numpy(np.float64))

    def case(self, number: int) -> pd.Series:
        """One test case.

        Raises:
            CaseError: no such number.
        """
        if not 0 <= number < len(self.cases):
            raise CaseError(f"there is no test case {number}; {self.name} has {len(self.cases):,} cases, from 0")
        return self.cases.iloc[number]

    def moment(self, case: int | Moment) -> Moment:
        """The test case of a number, or a user's moment, which is a `Case` where a test case starts.

        Raises:
            CaseError: no such number.
        """
        if isinstance(case, Case):
            return case
        return named_case(case, self.cases) if isinstance(case, Moment) else Case.of(self.case(case))

    def facts(self, moment: Moment) -> pd.Series:
        """A test case's row of `cases`; of another moment what is known, case -1, and the target if there is one."""
        if isinstance(moment, Case):
            return self.case(moment.number)
        now, target = self.dataset.checkins.iloc[moment.row], moment.next_place(self.dataset)
        facts = {c.CASE: -1, c.ROW: moment.row, c.USER: moment.user, c.TRAJECTORY: now[c.TRAJECTORY]}
        return pd.Series(facts | {c.SOURCE: now[c.POI]} | ({} if target is None else {c.TARGET: target}))

    def kept(self, kind: str, make: Callable[[], pd.DataFrame], *, rows: int) -> pd.DataFrame:
        """A table of the dataset alone, from the user's cache if it was computed before.

        Args:
            make: called only if the table is missing.
            rows: rows it must have.
        """
        key = TableKey(self.dataset.hash, kind, c.SPLIT_NAMES[c.TEST], kind, _TABLES_FORMAT)
        return self.without_model._once(kind, lambda: kept_table(key, make, rows=rows, keep=self.keep))

    @cached_property
    def key(self) -> str:
        """Key of the model's records: a checkpoint's hash, a baseline's name or the key of imported predictions.

        Raises:
            ConfigError: no model is open.
        """
        if isinstance(self.model, Path):
            sums = self.model / SUMS
            return hashlib.sha256(sums.read_bytes()).hexdigest() if sums.is_file() else self._verified.hash
        if self.model is None:
            raise ConfigError(_NO_MODEL)
        if self.model == PRETRAINED:
            return pretrained_key(self.dataset.hash)
        return self.model if isinstance(self.model, str) else self.model.key

    @cached_property
    def label(self) -> str:
        """Name of the model: RECAP, a published model with its options, a baseline, or imported predictions."""
        if isinstance(self.model, Path):
            return MODEL_LABELS[RECAP] if self.has_parts else published_label(self._manifest.get("train"))
        if self.model is None:
            raise ConfigError(_NO_MODEL)
        return MODEL_LABELS[self.model] if isinstance(self.model, str) else self.model.name

    @property
    def label_of_folder(self) -> str:
        """The label with the checkpoint's folder, if that differs."""
        return label_with_folder(self.label, self.model) if isinstance(self.model, Path) else self.label

    @property
    def has_parts(self) -> bool:
        """Whether scores are sums of parts that can be left out, as those of a trained RECAP are."""
        return self.model == PRETRAINED or (
            isinstance(self.model, Path) and self._manifest.get("model", RECAP) == RECAP
        )

    @cached_property
    def _manifest(self) -> Mapping[str, Any]:
        assert isinstance(self.model, Path)
        try:
            values = read_json(self.model / CHECKPOINT_MANIFEST)
        except (OSError, ValueError):
            return {}
        return values if isinstance(values, dict) else {}

    @property
    def checkpoint(self) -> "Checkpoint | None":
        """The verified checkpoint, or the one in memory of `pretrained`; None for another model.

        Raises:
            CheckpointError: the folder has none, or changed since it was opened.
            VocabularyError: it does not open with this dataset.
        """
        if self.model == PRETRAINED:
            from recap.pretrained import PretrainedCheckpoint

            return self._once("checkpoint", lambda: PretrainedCheckpoint.of(self.dataset, keep=self.keep))
        if not isinstance(self.model, Path):
            return None
        if self._verified.hash != self.key:
            raise CheckpointError(f"{self.model} changed while it was open; open it again")
        self.match  # noqa: B018 # refuses a checkpoint that does not open
        return self._verified

    @property
    def match(self) -> "Match | None":
        """Which users and places the checkpoint knows; None for another model or the checkpoint's own dataset.

        Raises:
            VocabularyError: it does not open with this dataset.
        """
        return self._once("match", lambda: self._verified.match(self.dataset)) if isinstance(self.model, Path) else None

    @property
    def _verified(self) -> "Checkpoint":
        from recap.checkpoint import Checkpoint

        folder = self.model
        assert isinstance(folder, Path)
        return self._once("checkpoint", lambda: Checkpoint.load(folder))

    @property
    def scorer(self) -> "Scorer":
        """The model as a scorer; a checkpoint's in float64.

        Raises:
            ConfigError: no model or only imported predictions are open.
        """
        return self._once("scorer", self._build_scorer)

    def _build_scorer(self) -> "Scorer":
        if self.checkpoint is not None:
            return self.checkpoint.scorer(self.dataset, self.graph)
        if isinstance(self.model, str):
            from recap.training.baselines import build_baseline

            return build_baseline(self.model, self.dataset, self.graph, keep=self.keep)
        raise ConfigError(
            _NO_MODEL if self.model is None else "imported predictions are lists of places; no model can be asked again"
        )

    @property
    def temperature(self) -> "Temperature | None":
        """Turns scores into probabilities; None for a model without them."""
        from recap.probabilities import UNFITTED

        if self.checkpoint is not None:
            return self.checkpoint.temperature
        return UNFITTED if self.model == FEATURE_CURVES else None

    @property
    def ranker(self) -> "CaseRanker":
        """The checkpoint for single and edited cases.

        Raises:
            ConfigError: no checkpoint is open.
        """
        from recap.predictor import open_ranker

        if self.checkpoint is None:
            raise ConfigError("no trained model is open: name a checkpoint folder or pretrained")
        own = {"graph": self.graph, "checkins": self.checkins, "cases": self.cases, "scorer": self.scorer}
        checkpoint = self.checkpoint
        return self._once("ranker", lambda: open_ranker(checkpoint, self.dataset, **own))

    @property
    def predictor(self) -> "Predictor":
        """The ranker of RECAP, whose scores are sums of contributions.

        Raises:
            ConfigError: no checkpoint is open.
            CheckpointError: it holds a published model.
        """
        from recap.predictor import Predictor

        self.ranker.checkpoint.recap_training  # noqa: B018 # refuses a published model in its own words
        assert isinstance(self.ranker, Predictor)
        return self.ranker

    def score(self, progress: Progress | None = None) -> pd.DataFrame:
        """Compute the records of all test cases.

        Raises:
            ScoreError: the model returned NaN.
        """
        from recap.evaluation.scoring import score_cases

        pieces = []
        for start in range(0, max(len(self.cases), 1), _CASES_PER_REPORT):
            chunk = self.cases.iloc[start : start + _CASES_PER_REPORT]
            pieces.append(score_cases(self.scorer, chunk, self.checkins, temperature=self.temperature))
            if progress is not None:
                progress(min(start + _CASES_PER_REPORT, len(self.cases)), len(self.cases))
        return pd.concat(pieces, ignore_index=True)

    @property
    def has_records(self) -> bool:
        """Whether `records` only reads."""
        if "records" in self._made or isinstance(self.model, ImportedPredictions):
            return True
        return records_key(self.dataset.hash, self.key).is_kept(self.bundle)

    def records(self, progress: Progress | None = None) -> pd.DataFrame:
        """The evaluation records of all test cases, read from the bundle or the user's cache, or scored once and kept.

        Lists of best places are left out if a file has them (`records_with_lists`).

        Raises:
            ScoreError: the model returned NaN.
        """
        # Without a file, the lists would need a second ranking.
        has_file = self.keep or self.has_records
        return self._once("records", lambda: self._read_records(LISTS if has_file else (), progress))

    def next_records(self) -> pd.DataFrame:
        """Ranks of every next check-in of the test weeks, after any gap, from the user's cache or ranked once and kept.

        Raises:
            ScoreError: the model returned NaN.
        """
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

    def _read_records(self, without: tuple[str, ...], progress: Progress | None = None) -> pd.DataFrame:
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
        return "ablations" in self._made or ablations_key(self.dataset.hash, self.key).is_kept(self.bundle)

    def ablations(self, progress: Progress | None = None) -> pd.DataFrame:
        """Ranks of every test case without each group of terms, see `case_ablations`; computed once and kept.

        Raises:
            ConfigError, CheckpointError: the model is not a trained RECAP.
        """
        return self._once(
            "ablations",
            lambda: case_ablations(
                self.dataset.hash,
                self.key,
                lambda: self.predictor,
                rows=len(self.cases),
                keep=self.keep,
                bundle=self.bundle,
                progress=progress,
            ),
        )

    def kept_ablations(self) -> pd.DataFrame | None:
        """`ablations` if shipped or kept before, otherwise None."""
        if not self.has_parts or not ablations_key(self.dataset.hash, self.key).is_kept(self.bundle):
            return None
        if "ablations" not in self._made:
            table = kept_ablations(self.dataset.hash, self.key, rows=len(self.cases), bundle=self.bundle)
            if table is None:
                return None
            self._made["ablations"] = table
        return self._made["ablations"]

    def seeds(self) -> dict[int, pd.DataFrame]:
        """Shipped or kept ablations of the checkpoint's seed replicates, by seed."""
        if not self.has_parts:
            return {}
        return seed_tables(self.dataset.hash, self.key, rows=len(self.cases), bundle=self.bundle)
