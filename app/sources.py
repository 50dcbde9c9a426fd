"""Datasets and checkpoints that can be opened: in the bundles, the user's folder and the given paths.

Only manifests and the names of users and places are read here; content is verified when a source is opened.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from analysis.link_hashes import HASH_LENGTH, compare_hashes
from analysis.records.evaluation_records import distinct_labels, is_time_given
from app.settings import AppSettings
from recap.baselines import PRETRAINED, PRETRAINED_LABEL
from recap.data.dataset import read_names
from recap.errors import RecapError
from recap.machine.printable import one_line
from recap.presets import checkpoint_label, with_time_given
from recap.pretrained.curves_file import PretrainedCurves
from recap.published.configs import RECAP
from recap.runs.store.run_store import SPEC
from recap.storage.artifacts import CHECKPOINT_MANIFEST, DATASET_MANIFEST, SUMS, recover_folders
from recap.storage.cache_keys import given_time_key
from recap.storage.frames import read_validated
from recap.storage.json_text import read_object
from recap.storage.user_folder import user_folder
from recap.vocabulary import VOCABULARY, TrainedOn, hash_users, match_dataset, place_keys

TOKEN_LENGTH = HASH_LENGTH


@dataclass(frozen=True)
class Source:
    """A dataset and, if there is one, a checkpoint that opens with it.

    Attributes:
        label: in the picker; the dataset's name and the model.
        token: in links; from the content's hash, so it is the same on every machine.
        is_elsewhere: whether the checkpoint was trained on another dataset, see `what_is_new`.
        checkpoint_folder: None without one on disk.
        checkpoint_hash: of a checkpoint, or of `pretrained`; with None a counting baseline predicts.
        bundle: the folder with a basemap and further results next to the dataset, if any.
        model: the checkpoint's model: ``recap``, ``pretrained`` or a published model's name.
        imported: key of imported predictions instead of a checkpoint.
        given_time: the model is asked where at a given time; a source of its own next to the other question.
        train: the checkpoint's stored configuration.
    """

    label: str
    name: str
    token: str
    dataset_folder: Path
    dataset_hash: str
    synthetic: bool
    checkpoint_folder: Path | None = None
    checkpoint_hash: str | None = None
    bundle: Path | None = None
    model: str = RECAP
    imported: str | None = None
    is_elsewhere: bool = False
    given_time: bool = False
    train: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def has_parts(self) -> bool:
        """Whether scores are sums of parts that can be left out, as those of a trained RECAP are."""
        return self.checkpoint_hash is not None and self.model in (RECAP, PRETRAINED)

    @property
    def is_published(self) -> bool:
        return self.model not in (RECAP, PRETRAINED)

    @property
    def model_label(self) -> str:
        """What the model is called where it is the only one, see `checkpoint_label`."""
        label = PRETRAINED_LABEL if self.model == PRETRAINED else checkpoint_label(self.model, self.train)
        return with_time_given(label) if self.given_time else label

    @property
    def reads_time(self) -> bool:
        """Whether its model knows the time of the next check-in: only such models stand side by side."""
        return self.checkpoint_hash is not None and is_time_given(self.model_label)

    @property
    def without_checkpoint(self) -> "Source":
        none: dict[str, Any] = {"checkpoint_folder": None, "checkpoint_hash": None, "imported": None}
        return replace(self, **none, model=RECAP, is_elsewhere=False, given_time=False, train={})

    def ranked_by(self, key: str) -> "Source":
        """The same dataset with imported predictions instead of the model."""
        return replace(self.without_checkpoint, imported=key)


@dataclass(frozen=True)
class _FoundCheckpoint:
    folder: Path
    hash: str
    trained_on: TrainedOn
    model: str
    train: dict[str, Any] = field(compare=False)
    can_read_time: bool = False


def find_sources(settings: AppSettings) -> list[Source]:
    """All sources, each content once: given paths first, then bundles, then the user's folder."""
    datasets: dict[str, Source] = {}
    for dataset in _datasets(settings):
        datasets.setdefault(dataset.dataset_hash, dataset)
    checkpoints = list(_checkpoints(settings))
    for checkpoint in checkpoints:
        if checkpoint.trained_on.hash not in datasets:
            trained_on = _dataset_of_run(checkpoint.folder.parent.parent)
            if trained_on is not None and trained_on.dataset_hash == checkpoint.trained_on.hash:
                datasets[trained_on.dataset_hash] = trained_on
    unique = _paired(tuple(datasets.values()), tuple(checkpoints))

    def is_later(source: Source) -> tuple[bool, bool]:
        if settings.pretrained:
            return source.dataset_folder != (settings.data or unique[0].dataset_folder), source.model != PRETRAINED
        if settings.data is None:
            return False, False
        is_other = settings.checkpoint is not None and source.checkpoint_folder != settings.checkpoint
        return source.dataset_folder != settings.data, is_other

    return sorted(unique, key=is_later)  # stable: given paths stay first


@lru_cache(maxsize=8)
def _paired(datasets: tuple[Source, ...], checkpoints: tuple[_FoundCheckpoint, ...]) -> list[Source]:
    """Every dataset with the checkpoints that open with it, `pretrained`, or no model; with distinct labels."""
    by_hash = {dataset.dataset_hash: dataset for dataset in datasets}
    own = [(by_hash[one.trained_on.hash], one) for one in checkpoints if one.trained_on.hash in by_hash]
    fitting = dict.fromkeys([*own, *_fitting(datasets, checkpoints)])
    sources = [_trained(*pair, asked) for pair in fitting for asked in (False, True)[: 1 + pair[1].can_read_time]]
    paired = {source.dataset_hash for source in sources}
    for dataset in datasets:
        pretrained = _pretrained(dataset), _pretrained(dataset, given_time=True)
        sources += filter(None, (*pretrained, None if dataset.dataset_hash in paired else dataset))
    unique = list({source.token: source for source in reversed(sources)}.values())[::-1]
    labels = distinct_labels([(source.label, source.checkpoint_folder, source.token) for source in unique])
    return [replace(source, label=label) for source, label in zip(unique, labels, strict=True)]


def _fitting(
    datasets: tuple[Source, ...], checkpoints: tuple[_FoundCheckpoint, ...]
) -> Iterator[tuple[Source, _FoundCheckpoint]]:
    """The pairs that share half of the dataset's places. Each folder is read once: places are counted through one table
    of all. Published models that share all places and users, and checkpoints without coordinates, are compared in full.
    """
    names = [_names_here(dataset.dataset_folder, dataset.dataset_hash) for dataset in datasets]
    here = [places for places, _ in names]
    known = [_keys_known(checkpoint.folder, checkpoint.hash) for checkpoint in checkpoints]
    if not here or not known:
        return
    keys, number = np.unique(np.concatenate([*here, *known]), return_inverse=True)
    owner = np.repeat(np.arange(len(here) + len(known)), [len(places) for places in (*here, *known)])
    shape = (len(here) + len(known), len(keys))
    occurs = sparse.csr_matrix((np.ones(len(owner), np.int32), (owner, number)), shape=shape)
    shared = (occurs[: len(here)] @ occurs[len(here) :].T).toarray()
    for row, (dataset, (places, users)) in enumerate(zip(datasets, names, strict=True)):
        for column, checkpoint in enumerate(checkpoints):
            trained_on = checkpoint.trained_on
            is_like = len(places) > 0 and 2 * shared[row, column] >= len(places)
            if trained_on.published:
                is_like = is_like and shared[row, column] == len(places) and users == trained_on.users_hash
            is_checked = len(known[column]) == 0 or (is_like and trained_on.published)
            is_own = dataset.dataset_hash == trained_on.hash
            if is_own or (not _match(dataset, checkpoint)[1] if is_checked else is_like):
                yield dataset, checkpoint


@lru_cache(maxsize=4096)
def _names_here(folder: Path, dataset_hash: str) -> tuple[np.ndarray, str]:
    """The keys of a dataset's places, and the hash of its users."""
    try:
        names = read_names(folder)
        return place_keys(names.pois), hash_users(names)
    except RecapError:
        return place_keys(pd.DataFrame()), ""


@lru_cache(maxsize=4096)
def _keys_known(folder: Path, checkpoint_hash: str) -> np.ndarray:
    try:
        return place_keys(read_validated(folder / VOCABULARY).to_pandas(), around=True)
    except (OSError, KeyError, ValueError, pa.ArrowException):
        return place_keys(pd.DataFrame())


def what_is_new(source: Source) -> str:
    """How many users and places are new to a checkpoint of another dataset; empty for others."""
    if not source.is_elsewhere or source.checkpoint_folder is None:
        return ""
    checkpoint = _checkpoint_in(source.checkpoint_folder)
    return "" if checkpoint is None else _match(source.without_checkpoint, checkpoint)[0]


def unfitting_checkpoint(source: Source, settings: AppSettings) -> str | None:
    """Why a checkpoint does not fit this dataset; None if all fit.

    It is the one given on the command line or, if the dataset has no model, one of an earlier preparation of it.
    """
    here = _dataset_in(source.dataset_folder)
    offered = {dataset.dataset_hash for dataset in _datasets(settings)}
    checkpoints = list(_checkpoints(settings))
    has_none = all(checkpoint.trained_on.hash != source.dataset_hash for checkpoint in checkpoints)
    for checkpoint in checkpoints:
        is_given = checkpoint.folder == settings.checkpoint and source.dataset_folder == settings.data
        is_earlier = has_none and here is not None and checkpoint.trained_on.name == here.name
        is_asked = checkpoint.trained_on.hash not in offered and (is_given or is_earlier)
        if here is not None and is_asked and (refusal := _match(here, checkpoint)[1]):
            return refusal
    return None


@lru_cache(maxsize=1024)
def _match(dataset: Source, checkpoint: _FoundCheckpoint) -> tuple[str, str]:
    """What of the dataset is new to the checkpoint, or why it does not open; nothing where it was trained on it."""
    if dataset.dataset_hash == checkpoint.trained_on.hash:
        return "", ""
    try:
        match = match_dataset(checkpoint.folder, checkpoint.trained_on, read_names(dataset.dataset_folder))
    except RecapError as error:
        return "", str(error)
    return ("" if match is None else match.line), ""


def linked_source(sources: list[Source], link: Mapping[str, str]) -> Source | None:
    """The source that a link means, or else one of the same dataset, or None.

    Args:
        link: its fields ``source`` (a token), ``dataset`` and ``checkpoint`` (beginnings of hashes), if given.
    """
    token = link.get("source", "")[:TOKEN_LENGTH]

    def fits(source: Source) -> bool:
        differing = compare_hashes(link, source.dataset_hash, source.checkpoint_hash).differing
        return not differing and (source.token == token or not token)

    exact = [source for source in sources if fits(source)]
    if exact or not link.get("dataset"):
        return exact[0] if exact else None
    of_dataset = {"dataset": link["dataset"]}
    same = [s for s in sources if not compare_hashes(of_dataset, s.dataset_hash, s.checkpoint_hash).differing]
    return same[0] if same else None


def dataset_source(folder: Path) -> Source | None:
    """The dataset in a folder with `pretrained`, or without a model where the package's file does not fit; or None."""
    dataset = _dataset_in(folder)
    return None if dataset is None else _pretrained(dataset) or dataset


def own_datasets() -> dict[Path, str]:
    """Datasets in the user's folder, and their names."""
    datasets = map(_dataset_in, _subfolders(_home() / "datasets"))
    return {dataset.dataset_folder: dataset.name for dataset in datasets if dataset is not None}


def other_question(sources: list[Source], source: Source) -> Source | None:
    """The same model asked with the time if this one is not, and the other way round; None if it cannot be."""

    def model(one: Source) -> tuple[str, str, Path | None]:
        return one.dataset_hash, one.model, one.checkpoint_folder

    fits = (one for one in sources if model(one) == model(source) and one.given_time != source.given_time)
    return next(fits, None) if source.checkpoint_hash is not None else None


def _trained(dataset: Source, checkpoint: _FoundCheckpoint, given_time: bool) -> Source:
    """A dataset with a checkpoint; of another dataset's, the token names both."""
    is_own = checkpoint.trained_on.hash == dataset.dataset_hash
    own = given_time_key(checkpoint.hash) if given_time else checkpoint.hash
    key = own if is_own else hashlib.sha256(f"{dataset.dataset_hash} {own}".encode()).hexdigest()
    facts: dict[str, Any] = {"model": checkpoint.model, "train": checkpoint.train, "is_elsewhere": not is_own}
    facts |= {"checkpoint_folder": checkpoint.folder, "checkpoint_hash": own, "given_time": given_time}
    made = _with_model(dataset, key, **facts)
    return made if is_own else replace(made, label=one_line(f"{made.label}, trained on {checkpoint.trained_on.name}"))


def _pretrained(dataset: Source, *, given_time: bool = False) -> Source | None:
    """`pretrained` on a dataset; None where the package's file does not fit this version, or cannot read the time."""
    try:
        curves = PretrainedCurves.packaged()
        if given_time and not curves.given_time:
            return None
        key = curves.key(dataset.dataset_hash, given_time=given_time)
    except RecapError:
        return None
    return _with_model(dataset, key, checkpoint_hash=key, model=PRETRAINED, given_time=given_time)


def _with_model(dataset: Source, key: str, **facts: Any) -> Source:
    source = replace(dataset, token=key[:TOKEN_LENGTH], **facts)
    return replace(source, label=one_line(f"{dataset.name} · {source.model_label}"))


def _bundles(settings: AppSettings) -> list[Path]:
    return [folder for folder in _subfolders(settings.bundles) if (folder / "dataset").is_dir()]


def _datasets(settings: AppSettings) -> Iterator[Source]:
    folders = [settings.data] if settings.data else []
    folders += [bundle / "dataset" for bundle in _bundles(settings)]
    folders += _subfolders(_home() / "datasets")
    yield from filter(None, map(_dataset_in, folders))


def _dataset_in(folder: Path) -> Source | None:
    manifest = _read_json(folder / DATASET_MANIFEST)
    if not manifest or not isinstance(manifest.get("dataset_hash"), str):
        return None
    name, key = str(manifest.get("name") or folder.name), manifest["dataset_hash"]
    return Source(
        label=one_line(f"{name} · no model yet"),
        name=name,
        token=key[:TOKEN_LENGTH],
        dataset_folder=folder,
        dataset_hash=key,
        synthetic=manifest.get("synthetic") is True,
        bundle=folder.parent if (folder.parent / "basemap.json").is_file() else None,
    )


def _dataset_of_run(run: Path) -> Source | None:
    spec = _read_json(run / SPEC) if run.parent == _home() / "runs" else None
    return _dataset_in(Path(spec["dataset"])) if spec and isinstance(spec.get("dataset"), str) else None


def _checkpoints(settings: AppSettings) -> Iterator[_FoundCheckpoint]:
    folders = [settings.checkpoint] if settings.checkpoint else []
    for bundle in _bundles(settings):
        inner = [folder for folder in _subfolders(bundle) if (folder / CHECKPOINT_MANIFEST).is_file()]
        folders += sorted(inner, key=lambda folder: (folder.name != "checkpoint", folder.name))
    folders += [*_subfolders(settings.bundles), *_subfolders(_home() / "checkpoints")]
    folders += [folder for run in _subfolders(_home() / "runs") for folder in _subfolders(run / "checkpoints")]
    yield from filter(None, map(_checkpoint_in, folders))


def _checkpoint_in(folder: Path) -> _FoundCheckpoint | None:
    manifest = _read_json(folder / CHECKPOINT_MANIFEST)
    if not manifest or not isinstance(manifest.get("dataset_hash"), str) or not (folder / SUMS).is_file():
        return None
    return _FoundCheckpoint(
        folder=folder,
        hash=hashlib.sha256((folder / SUMS).read_bytes()).hexdigest(),
        trained_on=TrainedOn(
            name=str(manifest.get("dataset_name", "")),
            hash=manifest["dataset_hash"],
            users_hash=str(manifest.get("users_hash", "")),
            published=manifest.get("model", RECAP) != RECAP,
        ),
        model=str(manifest.get("model", RECAP)),
        train=train if isinstance(train := manifest.get("train"), dict) else {},
        can_read_time=isinstance(manifest.get("given_time"), dict),
    )


def _home() -> Path:
    try:
        return user_folder()
    except RecapError:
        return Path("/nonexistent")


def _subfolders(folder: Path) -> list[Path]:
    recover_folders(folder)
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []


def _read_json(path: Path) -> dict[str, Any] | None:
    with suppress(RecapError):
        return read_object(path)
    return None
