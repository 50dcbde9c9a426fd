"""From a request to checked specs: seeds and grids expand into runs."""

import itertools
from pathlib import Path
from typing import Any, Final

from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import ConfigError
from recap.presets import training_preset
from recap.runs.store.files import RunSpec

MAX_RUNS: Final = 1000


def build_specs(
    dataset_folder: Path,
    *,
    preset: str,
    seeds: list[int] | None = None,
    grid: list[str] | None = None,
    overrides: list[str] | None = None,
    **fields: Any,
) -> list[RunSpec]:
    """Check a request and return one spec for each run: of each combination of ``grid`` (`expand_grid`) and each seed,
    or the preset's, with the same overrides (``field=value``) and further fields of `RunSpec`. Raises RecapError: the
    dataset cannot be read, or a name, field or value is refused.
    """
    if len(set(seeds or [])) != len(seeds or []):
        raise ConfigError(f"every seed runs once, got {', '.join(map(str, seeds or []))}")
    dataset = Dataset.load(dataset_folder)
    common = {
        "dataset": str(dataset_folder.absolute()),
        "dataset_hash": dataset.hash,
        "dataset_name": dataset.manifest.name,
        "cases": len(dataset.cases(c.TRAIN)),
        "pois": dataset.num_pois,
        "preset": preset,
        **fields,
    }
    chosen: list[int | None] = [*seeds] if seeds else [None]
    each = itertools.product(expand_grid(grid or []), chosen)
    specs = [_build(common, [*(overrides or []), *combination], seed) for combination, seed in each]
    if len(specs) > MAX_RUNS:
        raise ConfigError(f"a submission may have {MAX_RUNS} runs, this grid and these seeds make {len(specs)}")
    return specs


def expand_grid(grid: list[str]) -> list[list[str]]:
    """Every combination of ``field=value,value,...`` axes as lists of assignments; one empty list for no axes. Raises
    ConfigError: an axis without ``=`` or values, or named twice.

    >>> expand_grid(["a=1,2", "b=x"])
    [['a=1', 'b=x'], ['a=2', 'b=x']]
    """
    axes: dict[str, list[str]] = {}
    for axis in grid:
        field, separator, text = axis.partition("=")
        values = [value.strip() for value in text.split(",")]
        if not separator or not all(values):
            raise ConfigError(f"--grid expects field=value,value,..., got {axis!r}")
        if field.strip() in axes:
            raise ConfigError(f"--grid names {field.strip()!r} twice; put all its values into one")
        if len(set(values)) != len(values):
            raise ConfigError(f"--grid {axis!r} repeats a value; each combination runs once, add seeds to repeat it")
        axes[field.strip()] = values
    pairs = [[f"{field}={value}" for value in values] for field, values in axes.items()]
    return [list(combination) for combination in itertools.product(*pairs)]


def _build(common: dict[str, Any], assignments: list[str], seed: int | None) -> RunSpec:
    in_assignments = [text for text in assignments if text.partition("=")[0].strip() == "seed"]
    if in_assignments and seed is not None:
        raise ConfigError(f"the seed is given twice: --seed {seed} and {in_assignments[-1]}")
    if seed is None:  # the preset's
        seed = training_preset(common["preset"], changes=in_assignments).seed
    others = tuple(text for text in assignments if text not in in_assignments)
    spec = RunSpec.parse({**common, "overrides": others, "seed": seed})
    spec.train_config()
    return spec
