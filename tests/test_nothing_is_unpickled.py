"""Files and messages from elsewhere are data, never code: no package of ours can unpickle or run a shell line."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for package in ("recap", "analysis", "app") for path in (ROOT / package).rglob("*.py"))
MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}
CALLS = {"load", "loads"}
FROM = {"torch", "np", "numpy"}
BUILTINS = {"eval", "exec"}
METHODS = {"read_pickle", "to_pickle", "system", "popen"}
OPTIONS = {"allow_pickle", "shell"}


def dangers(source: str) -> Iterator[str]:
    """Imports, calls and options that could run what was only meant to be read, with their line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = {alias.name.split(".")[0] for alias in node.names}
            yield from (f"{node.lineno}: import {name}" for name in names & MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            if node.module.split(".")[0] in MODULES:
                yield f"{node.lineno}: from {node.module}"
            elif node.module.split(".")[0] in FROM:
                yield from (f"{node.lineno}: {alias.name}" for alias in node.names if alias.name in CALLS)
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            owner, _, name = called.rpartition(".")
            loads = name in CALLS and owner in FROM
            pickles_messages = "distributed" in owner and "object" in name
            if called in BUILTINS or name in METHODS or loads or pickles_messages:
                yield f"{node.lineno}: {called}"
            yield from (f"{node.lineno}: {key.arg}=" for key in node.keywords if key.arg in OPTIONS)


def test_no_module_can_unpickle_or_run_a_shell_line() -> None:
    """No pickle in any form, no torch.load or numpy.load, no pickled messages, no shell=True, no eval."""
    found = {str(path.relative_to(ROOT)): list(dangers(path.read_text(encoding="utf-8"))) for path in SOURCES}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from joblib import load",
        "import torch\ntorch.load(path, weights_only=True)",
        "from torch import load",
        "np.load(path)",
        "pd.read_pickle(path)",
        "frame.to_pickle(path)",
        "subprocess.run(text, shell=True)",
        "np.savez(path, allow_pickle=False)",
        "distributed.broadcast_object_list(said, src=0)",
        "eval(text)",
        "os.system(text)",
    ],
)
def test_each_danger_is_seen(line: str) -> None:
    """The check itself goes red for every one of them."""
    assert len(list(dangers(line))) == 1


def test_all_packages_are_looked_at() -> None:
    """The list of files is not empty by mistake."""
    assert {"recap", "analysis", "app"} == {path.relative_to(ROOT).parts[0] for path in SOURCES}
    assert ROOT / "recap" / "checkpoint.py" in SOURCES
