"""Cases somebody wants to find again: a link, what it showed in one line, and a note; no trace is in it."""

import hashlib
from datetime import datetime
from pathlib import Path

from pydantic import Field, ValidationError

from analysis.explain.links import CaseLink
from recap.config import Config
from recap.errors import RecapError
from recap.storage.atomic import write_text
from recap.storage.user_folder import user_folder, user_subfolder

MAX_NOTE = 500


class SavedCase(Config):
    """One saved case."""

    link: CaseLink
    title: str = Field(max_length=300, description="What the case showed, in one line.")
    note: str = Field("", max_length=MAX_NOTE)
    saved: datetime

    @property
    def name(self) -> str:
        """Its file's name, from what the link says: saving the same view again replaces its note."""
        return hashlib.sha256(self.link.query.encode()).hexdigest()[:16]


def save_case(case: SavedCase) -> Path:
    """Write the case into the user's folder, whole or not at all.

    Raises:
        RecapError: the disk refused.
    """
    path = user_subfolder("cases") / f"{case.name}.json"
    write_text(path, case.model_dump_json(indent=1))
    return path


def saved_cases(checkpoint_hash: str) -> list[SavedCase]:
    """The saved cases of a checkpoint, latest first; files that are none are left alone and out."""
    found = []
    try:
        paths = sorted((user_folder() / "cases").glob("*.json"))
    except (OSError, RecapError):
        return []
    for path in paths:
        try:
            case = SavedCase.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, ValidationError):
            continue
        if case.link.checkpoint and checkpoint_hash.startswith(case.link.checkpoint):
            found.append(case)
    return sorted(found, key=lambda case: case.saved, reverse=True)


def forget_case(case: SavedCase) -> None:
    """Remove a saved case; nothing happens where it is gone.

    Raises:
        RecapError: the disk refused.
    """
    path = user_folder() / "cases" / f"{case.name}.json"
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise RecapError(f"removing {path} failed: {error.strerror or error}") from error
