"""What a release promises: one version everywhere, a table of formats that is true, a Dockerfile without surprises."""

import re
from pathlib import Path
from typing import Final

import pytest

import recap.checkpoint
import recap.data.dataset
import recap.runs.store.files
from analysis.experiments import results
from analysis.records import imported
from recap.storage.cache_keys import COMPUTED
from tests.release import NEXT_TO_THEM, PACKED, version

ROOT: Final = Path(__file__).parents[1]
DOCKERFILE: Final = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """Name and arguments of every instruction, lines joined."""
    joined = re.sub(r"\\\n\s*", "", "\n".join(line for line in DOCKERFILE.splitlines() if not line.startswith("#")))
    pairs = [line.partition(" ") for line in joined.splitlines() if line]
    return [(name, arguments) for name, _, arguments in pairs]


def test_citation_and_changelog_name_the_version() -> None:
    """CITATION.cff has the project's version; a release has its date there and at the top of the changelog."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    heading = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert f"\nversion: {version()}\n" in citation
    released = re.search(r"^date-released: (\d{4}-\d\d-\d\d)$", citation, re.MULTILINE)
    assert heading == ("Unreleased" if "dev" in version() else f"{version()} ({released and released[1]})")


def test_the_table_of_formats_is_true() -> None:
    """Each row of docs/operations.md has the format that the code writes."""
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    rows = dict(
        re.findall(r"^\| ([^|]+) \| (\d|\d and \d) \|", page.partition("## Which version opens")[2], re.MULTILINE)
    )
    assert rows == {
        "dataset (`dataset.json`)": str(recap.data.dataset.FORMAT_VERSION),
        "checkpoint (`checkpoint.json`)": str(recap.checkpoint.FORMAT_VERSION),
        "kept records, tables and fits": str(COMPUTED),
        "imported predictions": str(imported.FORMAT_VERSION),
        "experiment results": str(results.FORMAT_VERSION),
        "runs (`spec.json`, `state.json`)": str(recap.runs.store.files.FORMAT_VERSION),
    }


def test_the_image_is_pinned_and_not_root() -> None:
    """Base images have an exact version and no registry's host; the last user is a number, not root's."""
    bases = [arguments.split()[0] for name, arguments in instructions() if name == "FROM"]
    assert bases and all(re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", base) for base in bases)
    assert not re.search(r"https?://(?!127\.0\.0\.1:)", DOCKERFILE)
    last = [name for name, _ in instructions()][::-1].index("FROM")
    users = [arguments for name, arguments in instructions()[-last:] if name == "USER"]
    assert users and all(user.isdecimal() and int(user) >= 1000 for user in users)


@pytest.mark.parametrize("name", ["ENTRYPOINT", "HEALTHCHECK"])
def test_the_image_starts_without_a_shell(name: str) -> None:
    """One such instruction, in exec form, with the program of the installed wheel; the app is read-only."""
    (arguments,) = [arguments for found, arguments in instructions() if found == name]
    command = re.search(r"\[.*\]$", arguments)
    assert command is not None and command[0].startswith('["/opt/recap/bin/')
    assert "/_stcore/health" in arguments if name == "HEALTHCHECK" else '"--read-only"' in arguments
    assert {found for found, _ in instructions()} <= {
        *["FROM", "ARG", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE"],
        "HEALTHCHECK",
        "ENTRYPOINT",
    }


def test_the_image_gets_what_the_wheel_is_made_of() -> None:
    """.dockerignore lets in the packages, what the project's file names, and nothing else."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert "*" in lines and let_in == {*PACKED, *NEXT_TO_THEM}
