"""The bundled ablation results as a table: losses of the model without one part (Fig. 6)."""

from pathlib import Path

import pandas as pd

from recap.storage.json_text import read_json


def shipped_ablations(bundle: Path | None, metric: str, *, checkpoint_hash: str | None) -> pd.DataFrame | None:
    """The loss of each variant against the full model, in the file's order; None without a readable file.

    Args:
        bundle: may have an ``ablations.json``.
        checkpoint_hash: of the ablated model; None for any.

    Returns:
        ``name, drop, lower, upper`` (full minus variant, with its paired 95 % interval over users) and ``n``.
    """
    if bundle is None:
        return None
    rows = []
    try:
        content = read_json(bundle / "ablations.json")
        if checkpoint_hash not in (None, content["checkpoint_hash"]):
            return None
        for name, variant in content["variants"].items():
            row = next(row for row in variant["against_full"] if (row["metric"], row["group"]) == (metric, "all"))
            drop, lower, upper = (-float(row[key]) for key in ("difference", "high", "low"))
            rows.append({"name": str(name), "drop": drop, "lower": lower, "upper": upper, "n": int(row["n"])})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return None
    return pd.DataFrame(rows) if rows else None
