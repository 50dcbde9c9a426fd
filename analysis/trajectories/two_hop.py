"""Two-hop paths as a model reads them: a curve those of other users, a graph token all."""

from collections.abc import Sequence

import pandas as pd

from analysis.records.ablations import HOPS_ABLATIONS
from analysis.workspace import Workspace
from recap import columns as c


def two_hops_read(opened: Workspace, case: pd.Series, pois: Sequence[int], hops: str) -> list[pd.DataFrame]:
    """The two-hop paths from a case's source to each place, strongest first.

    Args:
        case: a row of `Workspace.cases` or of records.
        hops: one of `HOPS_ABLATIONS`, the part of the model that reads paths.

    Returns:
        For each place ``middle, count_in, count_out, product`` and ``share`` of the sum of products.
    """
    user, source = int(case[c.USER]), int(case[c.SOURCE])
    if hops != HOPS_ABLATIONS[0]:
        return [opened.graph.two_hop_paths(source, poi) for poi in pois]
    import torch

    from recap.features.others import two_hop_paths

    packed = two_hop_paths(opened.others, torch.tensor([user]), torch.tensor([source]))
    names = ("destination", "middle", "count_in", "count_out", "product")
    table = pd.DataFrame({name: getattr(packed, f"{name}_W").numpy() for name in names})
    table["share"] = table["product"] / table.groupby("destination")["product"].transform("sum")
    table = table.sort_values(["product", "middle"], ascending=[False, True])
    return [table[table["destination"] == poi] for poi in pois]
