"""`recap doctor`: what is installed, what is missing, and the command that fixes it."""

import contextlib
import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from recap.config import Config
from recap.errors import ConfigError, RecapError
from recap.storage.artifacts import CHECKPOINT_MANIFEST, DATASET_MANIFEST, verify_sums
from recap.storage.installed import bundles_folder
from recap.storage.json_text import read_json
from recap.storage.user_folder import HOME_VARIABLE, user_folder

DISTRIBUTION: Final = "recap-mobility"
ENOUGH_DISK_BYTES: Final = 5 << 30
ENOUGH_MEMORY_BYTES: Final = 4 << 30
REINSTALL: Final = "make setup, or: pip install --editable ."
MOVE_HOME: Final = f"export {HOME_VARIABLE}=/path/to/a/folder/of/yours"
BUNDLES: Final = bundles_folder()


class Check(Config):
    """One checked item."""

    name: str = Field(description="What.")
    status: Literal["ok", "note", "missing"] = Field(
        description="`missing` keeps something from working, `note` does not."
    )
    found: str = Field(description="What is there.")
    # The name of a key in `--json`.
    mend: str = Field("", description="The command or step that helps; empty where nothing is wrong.")


def _judge(name: str, fits: bool, found: str, mend: str, otherwise: Literal["note", "missing"] = "missing") -> Check:
    return Check(name=name, status="ok" if fits else otherwise, found=found, mend="" if fits else mend)


def examine(places: list[Path] | None = None) -> list[Check]:
    """Look at versions, devices, disk, time zones, and at datasets and checkpoints in the usual places.

    Args:
        places: further folders in which to look for datasets and checkpoints.
    """
    checks: list[Check] = []
    looks = [look() for look in (_python, _packages, _processor, _devices, _zones, _home)]
    named = places or []
    for look in (*looks, _named_places(named), _found_folders([BUNDLES, Path.cwd(), *named])):
        try:
            for check in look:
                checks.append(check)  # one by one: what was found before a library failed stays
        except ImportError as error:
            found = f"does not load: {error}"
            checks.append(Check(name=error.name or "library", status="missing", found=found, mend=REINSTALL))
    return checks


def _python() -> Iterator[Check]:
    found = f"{platform.python_version()} on {platform.platform()}"
    fix = "install Python 3.11 or newer, then: make setup PYTHON=python3.11"
    yield _judge("python", sys.version_info >= (3, 11), found, fix)


def _packages() -> Iterator[Check]:
    try:
        required = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        yield Check(name="recap", status="missing", found="not installed", mend=REINSTALL)
        return
    yield Check(name="recap", status="ok", found=importlib.metadata.version(DISTRIBUTION))
    for text in required:
        named = _REQUIREMENT.fullmatch(text)
        if named is None:  # of an extra
            continue
        name, bounds = named.groups()
        fix = f'pip install "{text}"'
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield Check(name=name, status="missing", found="not installed", mend=fix)
            continue
        fits = all((_release(version) >= _release(bound)) == (sign == ">=") for sign, bound in _BOUND.findall(bounds))
        yield _judge(name, fits, version if fits else f"{version}, needs {bounds}", fix)


_REQUIREMENT: Final = re.compile(r"([\w.-]+?)((?:[<>]=?[\d.]+,?)*)")
_BOUND: Final = re.compile(r"(>=|<)([\d.]+)")
"""All that pyproject.toml asks of a version."""


def _release(version: str) -> list[int]:
    """The numbers a version begins with, without zeros at the end: ``2.13.0+cpu`` is 2, 13."""
    numbers = [int(part) for part in re.findall(r"\d+", version.partition("+")[0])]
    while numbers[-1:] == [0]:
        numbers.pop()
    return numbers


def _processor() -> Iterator[Check]:
    import psutil  # here and not above: where it is missing, the doctor must still speak

    memory = psutil.virtual_memory()
    yield Check(name="cpu", status="ok", found=f"{psutil.cpu_count() or 1} logical cores")
    found = f"{_gb(memory.available)} of {_gb(memory.total)} free"
    fix = "close other programs before training; New York needs about 2 GB"
    yield _judge("memory", memory.available >= ENOUGH_MEMORY_BYTES, found, fix, "note")


def _devices() -> Iterator[Check]:
    try:
        import torch
    except (ImportError, OSError) as error:
        found = f"does not load: {error}"
        yield Check(name="torch", status="missing", found=found, mend="make setup, or reinstall torch")
        return
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            device = torch.cuda.get_device_properties(index)
            yield Check(name=f"gpu {index}", status="ok", found=f"{device.name}, {_gb(device.total_memory)}")
    elif torch.backends.mps.is_available():
        yield Check(name="gpu", status="ok", found="Apple Metal (mps)")
    elif shutil.which("nvidia-smi"):
        found = f"an NVIDIA driver, but torch {torch.__version__} sees no GPU"
        yield Check(name="gpu", status="note", found=found, mend="install a torch build for CUDA that fits the driver")
    else:
        yield Check(name="gpu", status="note", found="none: everything runs on the CPU, slower")


def _zones() -> Iterator[Check]:
    try:
        ZoneInfo("America/New_York")
        yield Check(name="time zones", status="ok", found="known")
    except (KeyError, OSError):
        yield Check(name="time zones", status="missing", found="no zone data", mend="pip install tzdata")


def _home() -> Iterator[Check]:
    try:
        home = user_folder()
    except ConfigError as error:
        yield Check(name="user folder", status="missing", found=str(error), mend=MOVE_HOME)
        return
    existing = home
    while not existing.exists():
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
        yield Check(name="user folder", status="ok", found=str(home))
    except OSError as error:
        found = f"{home} cannot be written: {error.strerror}"
        yield Check(name="user folder", status="missing", found=found, mend=MOVE_HOME)
    free = shutil.disk_usage(existing).free
    fix = f"make room, or move the user's folder: export {HOME_VARIABLE}=/path/to/a/folder"
    yield _judge("disk", free >= ENOUGH_DISK_BYTES, f"{_gb(free)} free at {existing}", fix, "note")


def _named_places(places: list[Path]) -> Iterator[Check]:
    for place in places:
        if not place.is_dir():
            yield Check(name="folder", status="note", found=f"{place} is not a folder", mend="name one that exists")


def _found_folders(places: list[Path]) -> Iterator[Check]:
    """Datasets and checkpoints two levels below the places and in the user's folder, each verified by its hashes."""
    roots = list(places)
    with contextlib.suppress(ConfigError):  # reported as the user's folder
        roots += [user_folder() / "datasets", user_folder() / "checkpoints"]
    kinds: tuple[tuple[str, str, str], ...] = (
        ("dataset", DATASET_MANIFEST, "recap prepare FILE --out DIR"),
        ("checkpoint", CHECKPOINT_MANIFEST, "recap train DIR --out CKPT"),
    )
    for kind, manifest, fix in kinds:
        folders = sorted({file.parent.resolve() for root in roots for file in _manifests(root, manifest)})
        for folder in folders:
            yield _verify(kind, folder, manifest)
        if not folders:
            yield Check(name=kind, status="note", found="none in the usual places", mend=fix)


def _manifests(root: Path, manifest: str) -> Iterator[Path]:
    for pattern in (manifest, f"*/{manifest}", f"*/*/{manifest}"):
        try:
            yield from root.glob(pattern)
        except OSError:  # a folder that may not be looked into holds nothing for us
            continue


def _verify(kind: str, folder: Path, manifest: str) -> Check:
    again: Callable[[str], str] = {"dataset": "recap prepare FILE --out {}", "checkpoint": "recap train DIR --out {}"}[
        kind
    ].format
    try:
        verify_sums(folder, [manifest])
        _open(kind, folder)
        values = read_json(folder / manifest)
        name = values.get("name") or values.get("dataset_name") or folder.name
        digest = str(values.get("dataset_hash", ""))[:12]
        return Check(name=kind, status="ok", found=f"{name} ({digest}…) in {folder}")
    except (RecapError, ValueError, AttributeError, OSError, MemoryError) as error:
        return Check(name=kind, status="missing", found=str(error), mend=again(os.fspath(folder)))


def _open(kind: str, folder: Path) -> None:
    """Read it as every command does; here and not above, so that the doctor speaks where a library is missing."""
    if kind == "dataset":
        from recap.data.dataset import Dataset

        Dataset.load(folder)
    else:
        from recap.checkpoint import Checkpoint

        Checkpoint.load(folder)


def _gb(size: int) -> str:
    return f"{size / (1 << 30):.1f} GB"
