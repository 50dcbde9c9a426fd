"""The library's front door: `prepare` check-ins, `train` or `load` a model, predict and evaluate with it."""

import logging
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Unpack

import numpy as np
import pandas as pd

from recap import columns as c
from recap.asking.open_model import check_name, open_for_prediction, open_model
from recap.asking.prediction import choose, predict
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.data.intake import prepare_input
from recap.data.reading import read_understood
from recap.data.reading_frames import Reading, arguments_for_options, as_file, as_python
from recap.errors import ConfigError
from recap.evaluation.scoring import evaluate
from recap.history.asked_times import parse_next_time, parse_time
from recap.machine.device import choose_device
from recap.presets import DEFAULT_PRESET, training_preset
from recap.training import run
from recap.training.loop import Watcher

_log: Final = logging.getLogger(__name__)


def prepare(
    checkins: Any,
    *,
    out: str | Path | None = None,
    name: str = "",
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    **reading: Unpack[Reading],
) -> Dataset:
    """Turn raw check-ins into a clean dataset, split by time, as `recap prepare` does. Its ``problems`` are logged as
    warnings.

    Args:
        checkins: a DataFrame of pandas or polars, a file or a folder; columns, also a named index, are understood as
            `recap inspect` does.
        out: folder to save the dataset in.
        preset: None keeps every user and place of your own table; ``default`` drops rare ones.
        settings: fields of `DataConfig` that differ from the preset.

    Raises DataError: a column or the time zone is unsure, a row is bad, or nothing usable is left; ConfigError: an
    unknown option, or a value out of range.
    """
    changes, folder = _assignments(settings), None if out is None else Path(out)
    with as_file(checkins, reading) as file:
        _, dataset = prepare_input(*file, out=folder, name=name, preset=preset, changes=changes)
    for problem in dataset.problems:
        _log.warning(as_python(problem.line))
    return dataset


def train(
    data: Dataset | str | Path,
    preset: str = DEFAULT_PRESET,
    *,
    out: str | Path | None = None,
    epochs: int | None = None,
    seed: int | None = None,
    device: str = "auto",
    settings: Mapping[str, Any] | None = None,
    resume: bool = False,
    watch: Watcher = lambda report: None,
) -> "Model":
    """Train RECAP or, by its name, a published model.

    Args:
        out: folder of the checkpoint; without one it is deleted with the model.
        settings: fields of the training configuration that differ from the preset, such as ``{"model.num_hops": 3}``.
        resume: continue a training that was stopped in ``out``.
        watch: called after every step.

    Raises ConfigError: an unknown preset or setting; DataError: the dataset has no validation case; FolderInUseError:
    ``out`` holds something else.
    """
    config = training_preset(preset, epochs=epochs, seed=seed, changes=_assignments(settings))
    dataset, chosen = _opened(data), choose_device(device)
    model = Model(Path(out or tempfile.mkdtemp(prefix="recap-")))
    if out is None:
        weakref.finalize(model, shutil.rmtree, model.name, ignore_errors=True)
    with arguments_for_options():
        run.train(dataset, config, Path(model.name), device=chosen, resume=resume, watch=watch)
    return model


def load(name: str | Path) -> "Model":
    """Open a checkpoint's folder, or `pretrained` or a baseline by its name; raises as `open_model`."""
    check_name(name)
    return Model(name)


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model or a baseline, for every dataset it fits. ``name``: the checkpoint's folder, or the
    baseline's."""

    name: str | Path

    def predict(
        self,
        data: Dataset | str | Path,
        users: Iterable[Any] | None = None,
        top: int = 20,
        as_of: str | datetime | None = None,
        checkins: Any = None,
        new_places: bool = False,
        *,
        at: str | datetime | None = None,
        without: Iterable[Any] | None = None,
        **reading: Unpack[Reading],
    ) -> pd.DataFrame:
        """The next places of users, best first; what was left out is logged as a warning.

        Args:
            users: ids as in the raw table; None for all.
            top: places to list for each user.
            as_of: leave out later check-ins; a time without a zone is each check-in's local time.
            checkins: check-ins after those of the dataset, also of new users, read as in `prepare`.
            new_places: list only places where the user has never been.
            at: ask where at this time: ISO, or a weekday and clock such as ``"mon 18:00"``; None: whenever it comes.
            without: ids of closed places, which are no candidates; people are assumed to choose as before.

        Returns:
            ``user_id, as_of, rank, poi_id, score, probability`` and others, see `recap.asking.prediction.predict`.

        Raises CaseError: an unknown user or place, or no check-in by then; DataError: ``checkins`` cannot be read, or
        are not later than the dataset's; VocabularyError: the model does not fit the data.
        """
        if not isinstance(top, int | np.integer) or top < 1:
            raise ConfigError(f"top must be a whole number of at least 1, got {top!r}")
        named, closed = _ids("users", users), _ids("without", without)
        if reading and checkins is None:
            raise ConfigError("arguments that say how check-ins are read need checkins")
        dataset = _opened(data)
        raw = None
        if checkins is not None:
            with as_file(checkins, reading) as file:
                raw = read_understood(*file).table
        with arguments_for_options():
            moment = parse_time(None if as_of is None else str(as_of), "as_of")
            next_time = parse_next_time(None if at is None else str(at), "at")
            opened, notes = open_for_prediction(self.name, dataset, raw, given_time=at is not None)
            chosen = choose(opened, named, moment, next_time, without=closed or ())
            frames = list(predict(opened, chosen, top=top, new_places=new_places))
        for note in [*notes, *chosen.notes]:
            _log.warning(note)
        return pd.concat(frames, ignore_index=True)

    def evaluate(
        self,
        data: Dataset | str | Path,
        protocol: Protocol = "every_step",
        *,
        split: str = "test",
        given_time: bool = False,
    ) -> pd.DataFrame:
        """Rank every case of a split; protocols are every_next, every_step, trajectory_last and user_last.

        Args:
            given_time: give the model the time of each case's next check-in.

        Returns:
            One row for each group of cases, ``all`` first: ``group, n``, HR@K, NDCG@20 and MRR.

        Raises ConfigError: an unknown protocol or split; VocabularyError: the model does not fit the data.
        """
        if split not in c.SPLIT_NAMES:
            raise ConfigError(f"unknown split {split!r}; choose one of {', '.join(c.SPLIT_NAMES)}")
        opened = open_model(self.name, _opened(data), given_time=given_time)
        of, number = (opened.scorer, opened.dataset, opened.graph), c.SPLIT_NAMES.index(split)
        metrics = evaluate(*of, split=number, protocol=protocol, checkins=opened.checkins).metrics
        return pd.DataFrame([{"group": group, **values} for group, values in metrics.items()])


def _opened(data: Dataset | str | Path) -> Dataset:
    return data if isinstance(data, Dataset) else Dataset.load(Path(data))


def _ids(name: str, given: Iterable[Any] | None) -> list[str] | None:
    """Ids as texts. Raises ConfigError: no list."""
    if given is not None and not isinstance(given, Iterable):
        raise ConfigError(f"{name} must be a list of ids, got {given!r}: write {name}=[{given!r}]")
    return [given] if isinstance(given, str) else None if given is None else list(map(str, given))


def _assignments(settings: Mapping[str, Any] | None) -> list[str]:
    return [f"{name}={'none' if value is None else value}" for name, value in (settings or {}).items()]
