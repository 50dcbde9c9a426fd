"""The library's front door: `prepare` check-ins, `train` or `load` a model, then predict and evaluate with it."""

import re
import shlex
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from recap import columns as c
from recap.baselines import BASELINES
from recap.checkpoint import MANIFEST, Checkpoint
from recap.data.card import dataset_card
from recap.data.cases import Protocol
from recap.data.dataset import Dataset
from recap.data.parsing.options import FIELDS, ReadOptions, parse_bbox, parse_mapping
from recap.data.preparation import prepare_dataset
from recap.data.reading import read_checkins, understand
from recap.device import choose_device
from recap.errors import ConfigError, DataError, RecapError
from recap.evaluation.evaluate import evaluate
from recap.graph import TransitionGraph
from recap.history import CheckinTensors
from recap.presets import DEFAULT_PRESET, data_preset, training_preset
from recap.scores import Scorer
from recap.storage.artifacts import new_folder
from recap.training import run
from recap.training.baselines import build_baseline
from recap.training.loop import Watcher

_FRAME: Final = "DataFrame"
_OPTION: Final = re.compile(
    r"--(map|timezone|time-format|bbox) ('[^']*'|[^\s;]*[^\s;.,])|--(local-times|skip-bad-rows)"
)


class Reading(TypedDict, total=False):
    """How check-ins are read, where they do not say it themselves; see `recap.data.parsing.options.ReadOptions`."""

    columns: Mapping[str, str]
    timezone: str
    local_times: bool
    time_format: str
    bbox: str | tuple[float, float, float, float]
    encoding: str
    delimiter: str
    multiline: bool
    skip_bad_rows: bool


def prepare(
    checkins: pd.DataFrame | str | Path,
    *,
    out: str | Path | None = None,
    name: str = "",
    source_format: str = "auto",
    preset: str = "default",
    settings: Mapping[str, Any] | None = None,
    **reading: Unpack[Reading],
) -> Dataset:
    """Turn raw check-ins into a clean dataset, split by time.

    Args:
        checkins: a DataFrame, or a file or folder that `recap inspect` knows. Columns are understood by their names and
            values; an index with a name is a column too.
        out: folder to save the dataset in.
        preset, settings: the data protocol, with fields of `DataConfig` to change.
        reading: ``columns={"user": "uid", ...}``, ``timezone``, ``local_times`` and the other fields of `Reading`.

    Raises:
        DataError: a column or the time zone is unsure, a row is bad, or nothing usable is left.
        ConfigError: an unknown option, or a value out of range.
    """
    config = data_preset(preset).override(_assignments(settings))
    with _as_file(checkins) as path, _options_in_python():
        is_frame = isinstance(checkins, pd.DataFrame)
        found = understand(path, "parquet" if is_frame else source_format, _read_options(reading))
        if found.question is not None:
            raise DataError(found.refusal())
        read = read_checkins(path, found.source_format, found.options)
        name = name or Path(out or path).stem
        facts = {"source_format": found.source_format, "preset": preset, "reading": read.account}
        dataset = prepare_dataset(read.table, config, name=name, **facts)
    if out is not None:
        dataset.save(Path(out), card=dataset_card(dataset))
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
    watch: Watcher | None = None,
) -> "Model":
    """Train RECAP (preset ``recap``, ``paper`` or ``feature_curves``) or a published model by its name.

    Args:
        out: folder of the checkpoint; without one it lasts as long as the model, see `Model.save`.
        settings: fields of the training configuration to change, such as ``{"model.num_hops": 3}``.
        resume: continue a training that was stopped in ``out``.
        watch: called after every step with a `StepReport`.

    Raises:
        ConfigError: an unknown preset or setting.
        DataError: the dataset has no validation case.
        FolderInUseError: ``out`` holds something else.
    """
    config = training_preset(preset)
    config = config if epochs is None else config.with_epochs(epochs)
    config = config.override(_assignments({"seed": seed} if seed is not None else {}) + _assignments(settings))
    dataset, chosen = _opened(data), choose_device(device)
    if out is not None:
        checkpoint = run.train(dataset, config, Path(out), device=chosen, resume=resume, watch=watch)
        assert checkpoint is not None  # nobody asked it to stop
        return Model(checkpoint)
    folder = Path(tempfile.mkdtemp(prefix="recap-"))
    try:
        checkpoint = run.train(dataset, config, folder / preset, device=chosen, watch=watch)
        assert checkpoint is not None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    model = Model(checkpoint)
    weakref.finalize(model, shutil.rmtree, folder, ignore_errors=True)
    return model


def load(model: str | Path) -> "Model":
    """Open a model: a checkpoint's folder, or a baseline by its name.

    Raises:
        CheckpointError: the folder holds no checkpoint, or a damaged one.
    """
    return Model(str(model) if str(model) in BASELINES else Checkpoint.load(Path(model)))


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model, or a baseline, for every dataset it fits.

    Attributes:
        source: its checkpoint, or the name of a baseline.
    """

    source: Checkpoint | str

    def evaluate(
        self,
        data: Dataset | str | Path,
        protocol: Protocol = "every_step",
        *,
        split: str = "test",
        most: int | None = None,
        device: str = "auto",
    ) -> pd.DataFrame:
        """Rank the cases of a split.

        Args:
            protocol: ``every_next``, ``every_step``, ``trajectory_last`` or ``user_last``.
            most: rank a sample of this many cases, always the same one.

        Returns:
            One row for each group of cases, ``all`` first: ``group, n``, then HR@K, NDCG@20 and MRR.

        Raises:
            ConfigError: an unknown protocol, split or device.
            VocabularyError: the model does not fit the data.
        """
        if split not in c.SPLIT_NAMES:
            raise ConfigError(f"unknown split {split!r}; choose one of {', '.join(c.SPLIT_NAMES)}")
        dataset, chosen = _opened(data), choose_device(device if isinstance(self.source, Checkpoint) else "cpu")
        graph, checkins = TransitionGraph.from_dataset(dataset), CheckinTensors.from_dataset(dataset, chosen)
        scorer = self._scorer(dataset, graph, chosen)
        number = c.SPLIT_NAMES.index(split)
        found = evaluate(scorer, dataset, graph, split=number, protocol=protocol, checkins=checkins, most=most)
        return pd.DataFrame([{"group": group, **values} for group, values in found.metrics.items()])

    def save(self, folder: str | Path) -> None:
        """Copy the checkpoint into a new folder.

        Raises:
            ConfigError: a baseline, which has no checkpoint.
            FolderInUseError: the folder holds something else.
        """
        if isinstance(self.source, str):
            raise ConfigError(f"{self.source} is a baseline: there is no checkpoint to save")
        with new_folder(Path(folder), MANIFEST) as out:
            for path in self.source.folder.iterdir():
                if path.is_file() and not path.name.startswith("."):
                    shutil.copyfile(path, out / path.name)

    def _scorer(self, dataset: Dataset, graph: TransitionGraph, device: torch.device) -> Scorer:
        if isinstance(self.source, str):
            return build_baseline(self.source, dataset, graph)
        return self.source.scorer(dataset, graph, device)


def _opened(data: Dataset | str | Path) -> Dataset:
    return data if isinstance(data, Dataset) else Dataset.load(Path(data))


def _assignments(settings: Mapping[str, Any] | None) -> list[str]:
    return [f"{name}={'none' if value is None else value}" for name, value in (settings or {}).items()]


def _read_options(reading: Reading) -> ReadOptions:
    """Check the options.

    Raises:
        ConfigError: an unknown option or field, or a value out of range.
    """
    columns, box = dict(reading.get("columns", {})), reading.get("bbox")
    unknown = sorted(columns.keys() - FIELDS)
    if unknown:
        raise ConfigError(f"columns has no field {unknown[0]!r}; choose of {', '.join(FIELDS)}")
    corners = box if box is None or isinstance(box, str) else ",".join(map(str, box))
    return ReadOptions.parse({**reading, "columns": columns, "bbox": corners and parse_bbox(corners)})


@contextmanager
def _as_file(checkins: pd.DataFrame | str | Path) -> Iterator[Path]:
    """Check-ins as a file; those of a DataFrame are Parquet, for as long as they are read."""
    if isinstance(checkins, str | Path):
        yield Path(checkins)
        return
    if not isinstance(checkins, pd.DataFrame):
        raise DataError(f"check-ins must be a pandas DataFrame or a path, got {type(checkins).__name__}")
    named = [name for name in checkins.index.names if name is not None]
    table = pd.DataFrame(checkins.reset_index(named) if named else checkins)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _FRAME
        columns = [_as_arrow(table.iloc[:, place]) for place in range(table.shape[1])]
        pq.write_table(pa.Table.from_arrays(columns, [str(name) for name in table.columns]), path)
        yield path


def _as_arrow(column: pd.Series) -> pa.Array:
    """A column as Parquet stores it; shapes, periods and mixed values become text."""
    try:
        values = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        values = None
    if values is None or isinstance(values.type, pa.BaseExtensionType):
        values = pa.array(
            [None if is_none else str(value) for value, is_none in zip(column, column.isna(), strict=True)]
        )
    return values


@contextmanager
def _options_in_python() -> Iterator[None]:
    """Name the options of an error as arguments of `prepare`."""
    try:
        yield
    except RecapError as error:
        raise type(error)(_OPTION.sub(_as_argument, str(error))) from error.__cause__


def _as_argument(found: re.Match[str]) -> str:
    """An option of the command line as an argument.

    >>> _OPTION.sub(_as_argument, "suggest --map 'user=a b,lat=y' --timezone Asia/Tokyo --local-times; or")
    "suggest columns={'user': 'a b', 'lat': 'y'} timezone='Asia/Tokyo' local_times=True; or"
    """
    option, text, flag = found.groups()
    if flag:
        return f"{flag.replace('-', '_')}=True"
    value = " ".join(shlex.split(text))
    return f"columns={parse_mapping([value])}" if option == "map" else f"{option.replace('-', '_')}={value!r}"
