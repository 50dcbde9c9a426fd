"""`recap rebalance`: a trained RECAP's core and revisit prior, recalibrated on validation cases."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.console import JsonFlag, console, print_json
from app.cli.evaluate import metrics_table
from app.cli.options import CheckpointArgument, DataOption


def rebalance(
    checkpoint: CheckpointArgument,
    data: DataOption,
    out: Annotated[Path, typer.Option("--out", help="Folder of the new checkpoint; the old one stays.")],
    as_json: JsonFlag = False,
) -> None:
    """Fit the weight of the core and of the revisit prior again, on validation cases."""
    from recap.checkpoint import Checkpoint
    from recap.data.dataset import Dataset
    from recap.evaluation.metrics import SHOWN_METRICS
    from recap.training.rebalancing import rebalance as fit

    before = Checkpoint.load(checkpoint)
    after = fit(before, Dataset.load(data), out)
    fitted = after.manifest.rebalanced
    assert fitted is not None
    old, new = before.read_summary(), after.read_summary()
    line = {
        "checkpoint": str(out),
        **fitted.model_dump(),
        "val_before": {name: before.manifest.best.val[name] for name in SHOWN_METRICS},
        "val": {name: after.manifest.best.val[name] for name in SHOWN_METRICS},
    }
    if not as_json:
        rows = {"before": old["test"], "rebalanced": new["test"], **new["baselines"]}
        console.print(metrics_table(f"Test, protocol {new['protocol']}", rows))
        console.print(
            f"The core counts {fitted.core_factor:.2f} times as much; mean loss of {fitted.cases:,} validation "
            f"cases ({fitted.protocol}) {fitted.loss_before:.3f} before, {fitted.loss_after:.3f} now."
        )
    print_json(line)
