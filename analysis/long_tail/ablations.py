"""The bundled ablation results as a table: what the model loses without one part (Fig. 6)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from recap.errors import DataError


def ablation_table(content: Mapping[str, Any], metric: str, group: str = "all") -> pd.DataFrame:
    """The drop against the full model, one row per variant, as they are listed in the file.

    Args:
        content: what ``ablations.json`` of a bundle holds.
        metric: one of its metrics.
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
        raise DataError(f"ablations.json holds no results for {metric} over {group} cases ({error!r})") from error
    return pd.DataFrame(rows, columns=["name", "drop", "lower", "upper", "n"])
