"""The curriculum time machine's memory: each epoch's ranks and score parts of the test cases, and the prior's scalars.

One small Parquet file an epoch (about 40 bytes a case) and one line of scalars; the weights themselves are not kept.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recap import columns as c
from recap.data.dataset import Dataset
from recap.errors import RecapError
from recap.runs.store.run_folder import RunFolder
from recap.storage.atomic import replacing
from recap.storage.parquet import read_validated

if TYPE_CHECKING:
    from recap.training.loop import TrainingLoop
    from recap.training.trainer import Trainer

SNAPSHOTS: Final = "snapshots"
PARTS: Final = ("core", "prior", "correction")
_COLUMNS: Final = [c.CASE, c.SOURCE, c.TARGET, c.RANK, c.SCORE, *(c.part_column(name) for name in PARTS), "top_poi"]


class SnapshotWriter:
    """Writes one snapshot after each epoch."""

    def __init__(self, run: RunFolder, dataset: Dataset) -> None:
        self._folder = run.path / SNAPSHOTS
        self._dataset = dataset
        self._cases: pd.DataFrame | None = None

    def write(self, trainer: "TrainingLoop", epoch: int) -> None:
        """Rank the test cases with the weights of this epoch and keep the target's place and parts.

        Raises:
            OSError: the disk refused.
        """
        from recap.evaluation.cases import describe_cases
        from recap.evaluation.scoring import score_cases
        from recap.training.trainer import Trainer

        if not isinstance(trainer, Trainer):
            return  # refused when the run is submitted
        if self._cases is None:
            self._cases = describe_cases(self._dataset, trainer.graph, c.TEST)
        stage = trainer.stage(epoch)
        records = score_cases(trainer.scorer(epoch), self._cases, trainer.checkins)
        trainer.model.train()
        records["top_poi"] = [int(top[0]) for top in records[c.TOP_POIS]]
        kept = records[_COLUMNS].astype({c.part_column(name): "float32" for name in PARTS} | {c.SCORE: "float32"})
        self._folder.mkdir(exist_ok=True)
        metadata = {"epoch": str(epoch), "stage": stage.model_dump_json(), "scalars": json.dumps(scalars(trainer))}
        table = pa.Table.from_pandas(kept, preserve_index=False).replace_schema_metadata(metadata)
        path = self._folder / f"epoch-{epoch:05d}.parquet"
        with replacing(path) as temporary:
            pq.write_table(table, temporary, compression="zstd")


def scalars(trainer: "Trainer") -> dict[str, float]:
    """The prior's learned numbers and lambda_corr, by name."""
    found: dict[str, float] = {}
    if trainer.model.prior is not None:
        found |= {f"prior.{name}": float(value) for name, value in trainer.model.prior.named_parameters()}
    if trainer.model.calibration is not None:
        found["calibration.scale"] = float(trainer.model.calibration.scale)
    return found


def read_case_history(run: RunFolder, case: int) -> pd.DataFrame:
    """How one test case's rank and score parts changed over training.

    Returns:
        One row for each kept epoch: ``epoch, rank, score, part_core, part_prior, part_correction, top_poi``, and the
        stage's ``graph_weight, prior_on, correction_on, warm_weight``.

    Raises:
        RecapError: the run kept no snapshots, or has no such case.
    """
    files = sorted((run.path / SNAPSHOTS).glob("epoch-*.parquet"))
    if not files:
        raise RecapError(f"run {run.id} kept no snapshots; submit it with --snapshots to replay its training")
    rows: list[dict[str, Any]] = [_read_case(path, case, run) for path in files]
    return pd.DataFrame(rows).sort_values("epoch", ignore_index=True)


def _read_case(path: Path, case: int, run: RunFolder) -> dict[str, Any]:
    table = read_validated(path, filters=[(c.CASE, "==", case)])
    if table.num_rows != 1:
        raise RecapError(f"run {run.id} has no test case {case}")
    metadata = table.schema.metadata or {}
    stage = json.loads(metadata[b"stage"])
    row = {name: values[0] for name, values in table.to_pydict().items()}
    return {
        "epoch": int(metadata[b"epoch"]),
        **{name: row[name] for name in _COLUMNS if name not in (c.CASE, c.SOURCE, c.TARGET)},
        "graph_weight": stage["graph_weight"],
        "prior_on": stage["prior"],
        "correction_on": stage["correction"],
        "warm_weight": stage["warm_weight"],
    }
