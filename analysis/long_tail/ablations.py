"""The bundled ablation results as a table: losses of the model without one part (Fig. 6)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from recap.errors import DataError
from recap.storage.json_text import read_json


def ablation_table(content: Mapping[str, Any], metric: str, group: str = "all") -> pd.DataFrame:
    """The loss of each variant against the full model, in the file's order.

    Args:
        content: of a bundle's ``ablations.json``.
        group: all, head, tail or unseen cases.

    Returns:
        ``name, drop, lower, upper`` (full minus variant, with its paired 95 % interval over users) and ``n``.

    Raises:
        DataError: the content is no ablation file, or lacks the metric or group.
    """
    rows = []
    try:
        for name, variant in content["variants"].items():
            row = next(row for row in variant["against_full"] if (row["metric"], row["group"]) == (metric, group))
            drop, lower, upper = (-float(row[key]) for key in ("difference", "high", "low"))
            rows.append({"name": str(name), "drop": drop, "lower": lower, "upper": upper, "n": int(row["n"])})
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise DataError(f"ablations.json has no results for {metric} over {group} cases ({error!r})") from error
    return pd.DataFrame(rows, columns=["name", "drop", "lower", "upper", "n"])


def shipped_ablations(
    bundle: Path | None, metric: str, group: str = "all", *, checkpoint_hash: str | None = None
) -> pd.DataFrame | None:
    """`ablation_table` of a bundle's file; None if there is no readable one.

    Args:
        checkpoint_hash: of the ablated model; None for any.
    """
    try:
        content = read_json(bundle / "ablations.json") if bundle is not None else {}
        if checkpoint_hash not in (None, content["checkpoint_hash"]):
            return None
        table = ablation_table(content, metric, group)
    except (OSError, ValueError, KeyError, TypeError, DataError):
        return None
    return table if len(table) else None
